import { type ActionStatusName, actionStatus, type Execution, type FinishedResult as Result } from "@harrier/contracts";

/**
 * What a device may report, and what follows: the state machine of contract device.md §7, §11, as data.
 * Read by `decideReport` (decide-report.ts) and by the generator of the SQL function (report-function.sql.ts);
 * nothing else in this app decides about a report.
 */

/** Deployment feedback (E3) or cancellation feedback (E5). The place in the list is the code that SQL knows. */
export const channels = ["deployment", "cancel"] as const;
export type Channel = (typeof channels)[number];

/** `status.execution` and `status.result.finished` as the contract lists them; their places are the codes that SQL knows. */
export { type Execution, executions, type FinishedResult as Result, finishedResults as results } from "@harrier/contracts";

/** What a report comes to. The order is the code that SQL returns. */
export const outcomes = [
  "ok",
  "targetNotFound",
  "actionNotFound",
  "foreignAction",
  "stateNotFound",
  "closed",
  "notCanceling",
  "tooManyEntries",
  "tooManyMessages",
] as const;
export type Outcome = (typeof outcomes)[number];

/** A condition on the action, first match decides; `proceed` goes on to the rules, `ignore` answers ok and changes nothing. */
export interface Gate {
  readonly status?: readonly ActionStatusName[];
  readonly active?: boolean;
  readonly verdict: Outcome | "ignore" | "proceed";
}

/** Contract device.md §7.2 and §7.3, "Gate". */
export const gates: Record<Channel, readonly Gate[]> = {
  deployment: [
    { status: ["WAIT_FOR_CONFIRMATION"], verdict: "stateNotFound" },
    { active: false, verdict: "closed" },
    { verdict: "proceed" }, // CANCELING too: the device may carry on and finish
  ],
  cancel: [
    { status: ["CANCELED"], verdict: "ignore" }, // late or doubled: 200 without effect (contract device.md §7.3, not hawkBit's revival)
    { status: ["CANCELING"], verdict: "proceed" },
    { verdict: "notCanceling" },
  ],
};

/** What becomes of the target when the action changes. */
export interface TargetEffect {
  readonly assigned: "keep" | "none" | "ownSetIfDownloadOnly" | "nextOpenOrInstalled" | "nextOpenOrOwnSet" | "nextOpenOrKeep";
  readonly installed: "keep" | "ownSet";
  readonly updateStatus: "keep" | "error" | "inSync" | "inSyncIfAssignedIsInstalled" | "inSyncIfNothingOpen" | "pendingWhileOpen";
  readonly requestAttributes: "keep" | "ask";
}

/** Contract device.md §7.2, §7.3, columns "updateStatus" and "assigned / installed". */
export const targetEffects = {
  none: { assigned: "keep", installed: "keep", updateStatus: "keep", requestAttributes: "keep" },
  installed: {
    assigned: "ownSetIfDownloadOnly",
    installed: "ownSet",
    updateStatus: "inSyncIfAssignedIsInstalled",
    requestAttributes: "ask",
  },
  failed: { assigned: "none", installed: "keep", updateStatus: "error", requestAttributes: "keep" },
  downloaded: { assigned: "keep", installed: "keep", updateStatus: "inSync", requestAttributes: "ask" },
  cancelled: { assigned: "nextOpenOrInstalled", installed: "keep", updateStatus: "inSyncIfNothingOpen", requestAttributes: "keep" },
} as const satisfies Record<string, TargetEffect>;
export type TargetEffectName = keyof typeof targetEffects;

/**
 * The same where actions stand beside each other (`multi.assignments.enabled`, contract rollouts.md §6.9): they are done in the order of their
 * weight, not in that of their assignment. So whoever is done first does not speak for the target, which stays pending while anything is open.
 */
export const effectsBesideOthers = {
  installed: { assigned: "nextOpenOrOwnSet", installed: "ownSet", updateStatus: "pendingWhileOpen", requestAttributes: "ask" },
  downloaded: { assigned: "nextOpenOrKeep", installed: "keep", updateStatus: "pendingWhileOpen", requestAttributes: "ask" },
} as const satisfies Partial<Record<TargetEffectName, TargetEffect>>;

/** What the end of an action does to its target. */
export function effectOf(name: TargetEffectName, besideOthers: boolean): TargetEffect {
  const beside: Partial<Record<TargetEffectName, TargetEffect>> = effectsBesideOthers;
  return (besideOthers ? beside[name] : undefined) ?? targetEffects[name];
}

export interface Rule {
  readonly channel: Channel;
  readonly executions: readonly Execution[];
  /** Absent: any. */
  readonly results?: readonly Result[];
  /** Only for actions that ask for the download alone. */
  readonly downloadOnly?: true;
  /** Status of the history entry. */
  readonly entry: ActionStatusName;
  /** Status of the action; `runUnlessCanceling`: RUNNING, but never out of CANCELING (contract device.md §7.2). */
  readonly next: ActionStatusName | "keep" | "runUnlessCanceling";
  readonly effect: TargetEffectName;
  /** Exempt from the quota of entries, so that an action can always be brought to its end (contract device.md §8). */
  readonly entriesFree?: true;
  /** Exempt from the quota of messages per entry (contract device.md §8). */
  readonly messagesFree?: true;
  /** The server's own words around the device's: always first, always last, or alone when the device said nothing. */
  readonly texts: { readonly first?: string; readonly last?: string; readonly otherwise?: string };
}

const underway = ["proceeding", "scheduled", "resumed"] as const;
const closedOk = { otherwise: "Target reported CLOSED with OK!." };
const closedWithError = { otherwise: "Target reported CLOSED with ERROR!." };

const deployment = { channel: "deployment" } as const;
const cancel = { channel: "cancel" } as const;
const finished = { entry: "FINISHED", next: "FINISHED", effect: "installed", entriesFree: true, texts: closedOk } as const;
const failed = { entry: "ERROR", next: "ERROR", effect: "failed", entriesFree: true, texts: closedWithError } as const;

const reportsUnderway = underway.map(
  (execution): Rule => ({
    ...deployment,
    executions: [execution],
    entry: "RUNNING",
    next: "runUnlessCanceling",
    effect: "none",
    texts: { otherwise: `Target reported ${execution.toUpperCase()}.` },
  }),
);

/** First match decides. Together the rows are total: see `ruleOf`. */
export const rules: readonly Rule[] = [
  // contract device.md §7.2, D1: closed ends it whatever the result, success and failure end it also while under way
  { ...deployment, executions: ["closed"], results: ["success", "none"], ...finished },
  { ...deployment, executions: ["closed"], ...failed },
  { ...deployment, executions: underway, results: ["success"], ...finished },
  { ...deployment, executions: underway, results: ["failure"], ...failed },
  ...reportsUnderway,
  {
    ...deployment,
    executions: ["download"],
    entry: "DOWNLOAD",
    next: "keep",
    effect: "none",
    texts: { otherwise: "Target confirmed download start." },
  },
  {
    ...deployment,
    executions: ["downloaded"],
    downloadOnly: true,
    entry: "DOWNLOADED",
    next: "DOWNLOADED",
    effect: "downloaded",
    entriesFree: true,
    texts: { otherwise: "Target confirmed download finished." },
  },
  {
    ...deployment,
    executions: ["downloaded"],
    entry: "DOWNLOADED",
    next: "keep",
    effect: "none",
    texts: { otherwise: "Target confirmed download finished." },
  },
  {
    ...deployment,
    executions: ["canceled"], // does not cancel: that needs a cancellation to answer
    entry: "CANCELED",
    next: "keep",
    effect: "none",
    texts: { otherwise: "Target confirmed cancellation.." }, // two dots, as every hawkBit has sent it
  },
  {
    ...deployment,
    executions: ["rejected"],
    entry: "WARNING",
    next: "keep",
    effect: "none",
    texts: { otherwise: "Target REJECTED update." },
  },
  // contract device.md §7.3, D2: here `execution` decides, not `finished`
  {
    ...cancel,
    executions: ["closed"],
    results: ["success", "none"],
    entry: "CANCELED",
    next: "CANCELED",
    effect: "cancelled",
    entriesFree: true,
    messagesFree: true,
    texts: { first: "Cancellation confirmed.", last: "Cancellation completion is finished successfully." },
  },
  {
    ...cancel,
    executions: ["closed"],
    entry: "ERROR", // of the cancellation; the update goes on
    next: "RUNNING",
    effect: "none",
    entriesFree: true,
    messagesFree: true,
    texts: { first: "Target was not able to complete cancellation." },
  },
  {
    ...cancel,
    executions: ["rejected"],
    entry: "CANCEL_REJECTED",
    next: "RUNNING",
    effect: "none",
    entriesFree: true,
    messagesFree: true,
    texts: { first: "Target rejected the cancellation request." },
  },
  {
    ...cancel,
    executions: ["canceled"],
    entry: "WARNING",
    next: "keep",
    effect: "none",
    texts: { first: "Target reported cancel for a cancel which is not supported by the server." },
  },
  { ...cancel, executions: [...underway, "download", "downloaded"], entry: "RUNNING", next: "keep", effect: "none", texts: {} },
];

/** Statuses that end an action: whatever moves there makes it inactive. */
export const endStatuses = ["FINISHED", "ERROR", "CANCELED", "DOWNLOADED"] as const satisfies readonly ActionStatusName[];

export function endsAction(status: number): boolean {
  return endStatuses.some((name) => actionStatus[name] === status);
}

/** The one rule of a report. */
export function ruleOf(report: { channel: Channel; execution: Execution; result: Result }, downloadOnly: boolean): Rule {
  const rule = rules.find(
    (r) =>
      r.channel === report.channel &&
      r.executions.includes(report.execution) &&
      (r.results?.includes(report.result) ?? true) &&
      (r.downloadOnly === undefined || downloadOnly),
  );
  if (rule === undefined) throw new Error(`no rule for ${report.channel} ${report.execution}/${report.result}`);
  return rule;
}
