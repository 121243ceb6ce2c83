import { actionStatusNames } from "./codes.ts";
import type { SettingName } from "./tenant-settings.ts";

/** How a text is written: a duration `HH:MM:SS`, a polling time with its overrides, names of statuses, links of artifacts, a URL, or rules of evidence. */
export const settingFormats = ["duration", "pollingTime", "statusList", "artifactLinks", "url", "reference", "evidence"] as const;

/** What a screen of settings says about one, and what a value of it must be (contract management.md §8.1). */
export interface SettingDescription {
  /** What the setting does, in a sentence. */
  readonly text: string;
  readonly format?: (typeof settingFormats)[number];
  /** The lowest and the highest value: a whole number, or a duration for a text that holds durations. */
  readonly minimum?: number | string;
  readonly maximum?: number | string;
  /** The words of which a text may consist. */
  readonly words?: readonly string[];
  /** It says why only the default is allowed. */
  readonly fixed?: string;
  /** Once it is turned on it stays so. */
  readonly oneWay?: true;
  /** Whoever does not hold this permission does not see the value. */
  readonly readPermission?: string;
}

/** A setting's text has at most so many characters (contract management.md §1.6). */
export const maxSettingLength = 512;

/** These are the limits of polling times, as hawkBit ships them. */
const pollingLimits = { minimum: "00:00:30", maximum: "23:59:59" } as const;
const statuses = { format: "statusList", words: actionStatusNames } as const;

export const settingDescriptions: { readonly [K in SettingName]: SettingDescription } = {
  "authentication.header.enabled": { text: "Devices sign in with a certificate, by the headers of a trusted proxy or at the TLS port" },
  "authentication.header.authority": { text: "Which issuers of certificates count: their hashes, with commas between them" },
  "authentication.targettoken.enabled": { text: "Devices sign in with the security token of their target" },
  "authentication.gatewaytoken.enabled": { text: "Gateways sign in for any device with the gateway token" },
  "authentication.gatewaytoken.key": {
    text: "The gateway token; a new one has 16 characters or more",
    readPermission: "READ_GATEWAY_SECURITY_TOKEN",
  },
  "anonymous.download.enabled": { text: "Artifacts can be downloaded without a credential" },
  pollingTime: {
    text: "How often devices poll, and for which targets another time holds: `00:05:00~10%, group==lab -> 00:01:00`",
    format: "pollingTime",
    ...pollingLimits,
  },
  pollingOverdueTime: { text: "How long after the expected poll a device counts as overdue", format: "duration", ...pollingLimits },
  minPollingTime: { text: "The least time between polls; no device is told to sleep less", format: "duration", ...pollingLimits },
  maintenanceWindowPollCount: {
    text: "Into how many polls the time until a maintenance window is divided, where devices would otherwise poll less often",
    minimum: 1,
  },
  "rollout.approval.enabled": { text: "Rollouts need an approval before they can be started" },
  "repository.actions.autoclose.enabled": { text: "A newer assignment ends the open actions of a target without asking the device" },
  "multi.assignments.enabled": { text: "A target may have several open actions at a time", oneWay: true },
  "batch.assignments.enabled": { text: "Devices that speak DMF are told of assignments in batches: one message for many of a backend" },
  "user.confirmation.flow.enabled": { text: "Actions wait for a confirmation by the device or a user" },
  "implicit.lock.enabled": { text: "Distribution sets and their software modules are locked when they are first used" },
  "artifact.links": { text: "The links of downloads in place of those of the installation; empty for those", format: "artifactLinks" },
  "artifact.links.host": { text: "The host of downloads in place of that of the installation; empty for that", format: "url" },
  "artifact.links.presigned": {
    text: "Devices are sent to the bucket for the bytes of a file, by a link that is good for a short time, where the installation has such links",
  },
  "action.cleanup.enabled": { text: "Closed actions are deleted by age" },
  "action.cleanup.actionExpiry": {
    text: "The age at which closed actions are deleted, in milliseconds since their last change",
    minimum: 0,
  },
  "action.cleanup.actionStatus": {
    text: "Which closed actions are deleted by age: names of statuses with commas between them",
    ...statuses,
  },
  "action.cleanup.auto.expiry": { text: "The same age by the name that hawkBit 1.x gives it; -1 for never", minimum: -1 },
  "action.cleanup.auto.status": { text: "The same statuses by the name that hawkBit 1.x gives them", ...statuses },
  "action.cleanup.onQuotaHit.percent": {
    text: "What share of the quota of actions of a target, in percent, its oldest closed actions make room for when an assignment would exceed it; 0 and 100 for none",
    minimum: 0,
    maximum: 100,
  },
  "action.delete.allowed.statuses": {
    text: "Which closed actions users may delete: names of statuses with commas between them",
    ...statuses,
  },
  "safety.default": {
    text: "The name of the safety policy of rollouts and auto-assignments that send none; empty for none, and then nothing is watched",
  },
  "evidence.default": {
    text: `What targets without a type show when they run a distribution set, as a JSON list of rules with attribute, equals (such as \${set.version}) and match; empty for none`,
    format: "evidence",
  },
  "auto.assignment.approval.enabled": { text: "Auto-assignments need an approval before they assign" },
};
