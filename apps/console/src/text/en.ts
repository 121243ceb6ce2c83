// Every word of the console, by the part that shows it. A second language is a second folder with the same names.
export { buckets, copying, dialogs, grids, nav, shell, states, statusWords } from "./en/common.ts";
export { device } from "./en/device.ts";
export { devices, filters } from "./en/devices.ts";
export { login } from "./en/login.ts";
export { reasonText, rollout, rollouts, wizard } from "./en/rollouts.ts";

export { sets } from "./en/software.ts";
