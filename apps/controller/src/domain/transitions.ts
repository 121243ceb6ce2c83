import { type ActionStatusName, actionStatus, type Execution, type FinishedResult as Result } from "@harrier/contracts";

/**
 * These tables are the state machine of contract device.md §7, §11: what a device may report, and what follows. They are read by `decideReport`
 * (decide-report.ts) and by the generator of the SQL function (report-function.sql.ts). Nothing else in this app decides about a report on
 * an action without a safety policy. For one with a policy `watch_report` (functions/watches.sql) decides too: it may replace the effect of the rule, and
 * says how the action counts.
 */

/** Deployment feedback (E3) or cancellation feedback (E5). SQL uses the place in the list as the code. */
export const channels = ["deployment", "cancel"] as const;
export type Channel = (typeof channels)[number];

/** `status.execution` and `status.result.finished` as the contract lists them; SQL uses their places as codes. */
export { type Execution, executions, type FinishedResult as Result, finishedResults as results } from "@harrier/contracts";

/** What a report comes to: what the SQL function `report` returns. */
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

/** A condition on the action; the first match decides. `proceed` continues with the rules, `ignore` answers ok and changes nothing. */
export interface Gate {
  readonly status?: readonly ActionStatusName[];
  readonly active?: boolean;
  readonly verdict: Outcome | "ignore" | "proceed";
}

/** These are the gates of contract device.md §7.2 and §7.3, "Gate". */
export const gates: Record<Channel, readonly Gate[]> = {
  deployment: [
    { status: ["WAIT_FOR_CONFIRMATION"], verdict: "stateNotFound" },
    { active: false, verdict: "closed" },
    { verdict: "proceed" }, // CANCELING is included: the device may continue and finish
  ],
  cancel: [
    { status: ["CANCELED"], verdict: "ignore" }, // a late or repeated report gets 200 without effect (contract device.md §7.3, not hawkBit's revival)
    { status: ["CANCELING"], verdict: "proceed" },
    { verdict: "notCanceling" },
  ],
};

/** Says how the target changes with the action. */
export interface TargetEffect {
  readonly assigned:
    | "keep"
    | "none"
    | "noneIfOwnSet"
    | "ownSetIfDownloadOnly"
    | "nextOpenOrInstalled"
    | "nextOpenOrOwnSet"
    | "nextOpenOrKeep";
  readonly installed: "keep" | "ownSet";
  readonly updateStatus:
    | "keep"
    | "error"
    | "errorIfNothingElse"
    | "inSync"
    | "inSyncIfAssignedIsInstalled"
    | "inSyncIfNothingOpen"
    | "pendingWhileOpen";
  readonly requestAttributes: "keep" | "ask";
}

/** These are the columns "updateStatus" and "assigned / installed" of contract device.md §7.2, §7.3. */
export const targetEffects = {
  none: { assigned: "keep", installed: "keep", updateStatus: "keep", requestAttributes: "keep" },
  installed: {
    assigned: "ownSetIfDownloadOnly",
    installed: "ownSet",
    updateStatus: "inSyncIfAssignedIsInstalled",
    requestAttributes: "ask",
  },
  /**
   * A success that must be proven: the device is asked what it shows, and nothing else moves (contract beyond.md §1.3). No rule below names it:
   * `watch_report` puts it in the place of `installed` where the policy asks for a proof.
   */
  claimed: { assigned: "keep", installed: "keep", updateStatus: "keep", requestAttributes: "ask" },
  /**
   * A claim or an action that the server ended: a newer assignment stays. No report has this effect: it is that of the verdicts `refute`, `expire` and
   * `giveUp` (`watch_ending` of functions/watch-ends.sql).
   */
  refuted: { assigned: "noneIfOwnSet", installed: "keep", updateStatus: "errorIfNothingElse", requestAttributes: "keep" },
  failed: { assigned: "none", installed: "keep", updateStatus: "error", requestAttributes: "keep" },
  downloaded: { assigned: "keep", installed: "keep", updateStatus: "inSync", requestAttributes: "ask" },
  cancelled: { assigned: "nextOpenOrInstalled", installed: "keep", updateStatus: "inSyncIfNothingOpen", requestAttributes: "keep" },
} as const satisfies Record<string, TargetEffect>;
export type TargetEffectName = keyof typeof targetEffects;

/**
 * These effects apply to multi-assignment (`multi.assignments.enabled`, contract rollouts.md §6.9): actions are done in the order of their weight,
 * not in that of their assignment. So the first one that ends does not decide the state of the target, which stays pending while any is open.
 */
export const effectsWithMultiAssignment = {
  installed: { assigned: "nextOpenOrOwnSet", installed: "ownSet", updateStatus: "pendingWhileOpen", requestAttributes: "ask" },
  downloaded: { assigned: "nextOpenOrKeep", installed: "keep", updateStatus: "pendingWhileOpen", requestAttributes: "ask" },
} as const satisfies Partial<Record<TargetEffectName, TargetEffect>>;

/** Returns what the end of an action does to its target. */
export function effectOf(name: TargetEffectName, multiAssignment: boolean): TargetEffect {
  const beside: Partial<Record<TargetEffectName, TargetEffect>> = effectsWithMultiAssignment;
  return (multiAssignment ? beside[name] : undefined) ?? targetEffects[name];
}

export interface Rule {
  readonly channel: Channel;
  readonly executions: readonly Execution[];
  /** The results to which the rule applies; absent means any. */
  readonly results?: readonly Result[];
  /** The rule applies only to downloadonly actions. */
  readonly downloadOnly?: true;
  /** The status of the history entry. */
  readonly entry: ActionStatusName;
  /** The status of the action; `runUnlessCanceling` is RUNNING, but never leaves CANCELING (contract device.md §7.2). */
  readonly next: ActionStatusName | "keep" | "runUnlessCanceling";
  readonly effect: TargetEffectName;
  /** The entry is exempt from the quota of entries, so that an action can always be ended (contract device.md §8). */
  readonly entriesFree?: true;
  /** The entry is exempt from the quota of messages per entry (contract device.md §8). */
  readonly messagesFree?: true;
  /** The server's messages around the device's: always first, always last, or alone when the device sent none. */
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

/** The first match decides. Together the rows are total: see `ruleOf`. */
export const rules: readonly Rule[] = [
  // By contract device.md §7.2, D1, closed ends it whatever the result; success and failure end it also while under way.
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
    executions: ["canceled"], // this does not cancel, because there is no cancellation to answer
    entry: "CANCELED",
    next: "keep",
    effect: "none",
    texts: { otherwise: "Target confirmed cancellation.." }, // hawkBit has always sent it with two dots
  },
  {
    ...deployment,
    executions: ["rejected"],
    entry: "WARNING",
    next: "keep",
    effect: "none",
    texts: { otherwise: "Target REJECTED update." },
  },
  // By contract device.md §7.3, D2, `execution` decides here, not `finished`.
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
    entry: "ERROR", // the device rejects the cancellation; the update goes on
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

/** These statuses end an action: a change to one of them makes it inactive. */
export const endStatuses = ["FINISHED", "ERROR", "CANCELED", "DOWNLOADED"] as const satisfies readonly ActionStatusName[];

export function endsAction(status: number): boolean {
  return endStatuses.some((name) => actionStatus[name] === status);
}

/** Returns the one rule of a report. */
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
