// Every word of the console, by the part that shows it. A second language is a second folder with the same names.

export { clients, keys, secrets, sessions, webhooks } from "./en/access.ts";
export { approvals } from "./en/approvals.ts";
export { audit, auditNouns, auditVerbs } from "./en/audit.ts";
export { commands } from "./en/commands.ts";
export { copying, dialogs, grids, nav, shell, states } from "./en/common.ts";
export { connect } from "./en/connect.ts";
export { device } from "./en/device.ts";
export { devices, filters } from "./en/devices.ts";
export { filterBuilder } from "./en/filter-builder.ts";
export { filterMenu } from "./en/filter-menu.ts";
export { importing } from "./en/importing.ts";
export { login } from "./en/login.ts";
export { common, savedFilters } from "./en/manage.ts";
export { actions, me, overview } from "./en/overview.ts";
export { reports } from "./en/reports.ts";
export { exceededText, reasonText, rollout, rollouts, wizard } from "./en/rollouts.ts";
export { quotaTitles, settingTitles } from "./en/setting-titles.ts";
export { kinds, people, quotas, settings } from "./en/settings.ts";
export { comparison, sets, software, softwareNotes, uploads } from "./en/software.ts";
export { buckets, jumping, statusWords } from "./en/status.ts";
export { system } from "./en/system.ts";
export { unsaved } from "./en/unsaved.ts";
