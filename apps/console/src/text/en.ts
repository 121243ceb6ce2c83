// Every word of the console, by the part that shows it. A second language is a second folder with the same names.
export { copying, dialogs, grids, nav, shell, states } from "./en/common.ts";
export { device } from "./en/device.ts";
export { devices, filters } from "./en/devices.ts";
export { login } from "./en/login.ts";
export { approvals, common, savedFilters } from "./en/manage.ts";
export { actions, audit, me, overview } from "./en/overview.ts";
export { reasonText, rollout, rollouts, wizard } from "./en/rollouts.ts";
export { sets, software, uploads } from "./en/software.ts";
export { buckets, jumping, statusWords } from "./en/status.ts";
