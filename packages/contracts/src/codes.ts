/** These numbers are stored and published for the states of targets and actions. The order of each list gives the numbers, so it must not change. */

export const actionStatusNames = [
  "FINISHED",
  "ERROR",
  "WARNING",
  "RUNNING",
  "CANCELED",
  "CANCELING",
  "RETRIEVED",
  "DOWNLOAD",
  "SCHEDULED",
  "CANCEL_REJECTED",
  "DOWNLOADED",
  "WAIT_FOR_CONFIRMATION",
] as const;
export type ActionStatusName = (typeof actionStatusNames)[number];

/** The status of an action and of a history entry (contract rollouts.md §5). */
export const actionStatus = {
  FINISHED: 0,
  ERROR: 1,
  WARNING: 2,
  RUNNING: 3,
  CANCELED: 4,
  CANCELING: 5,
  RETRIEVED: 6,
  DOWNLOAD: 7,
  SCHEDULED: 8,
  CANCEL_REJECTED: 9,
  DOWNLOADED: 10,
  WAIT_FOR_CONFIRMATION: 11,
} as const satisfies Record<ActionStatusName, number>;
export type ActionStatus = (typeof actionStatus)[ActionStatusName];

export const updateStatusNames = ["unknown", "registered", "pending", "in_sync", "error"] as const;
export type UpdateStatusName = (typeof updateStatusNames)[number];

/** The update status of a target (contract management.md §4.6). */
export const updateStatus = { unknown: 0, registered: 1, pending: 2, in_sync: 3, error: 4 } as const satisfies Record<
  UpdateStatusName,
  number
>;
export type UpdateStatus = (typeof updateStatus)[UpdateStatusName];

export const forceTypeNames = ["soft", "forced", "timeforced", "downloadonly"] as const;
export type ForceTypeName = (typeof forceTypeNames)[number];

/** The force type says how urgently an action is offered to the device (spec 001 §2.5). */
export const forceType = { soft: 0, forced: 1, timeforced: 2, downloadonly: 3 } as const satisfies Record<ForceTypeName, number>;
export type ForceType = (typeof forceType)[ForceTypeName];

export const bucketNames = ["scheduled", "running", "finished", "error", "cancelled"] as const;
export type BucketName = (typeof bucketNames)[number];

/** The progress of a rollout is counted in these buckets; `notstarted` is the remainder (contract rollouts.md §4.10). */
export const bucket = { scheduled: 0, running: 1, finished: 2, error: 3, cancelled: 4 } as const satisfies Record<BucketName, number>;
export type Bucket = (typeof bucket)[BucketName];

export const rolloutStatusNames = [
  "creating",
  "ready",
  "waiting_for_approval",
  "approval_denied",
  "starting",
  "running",
  "paused",
  "stopping",
  "stopped",
  "finished",
  "deleting",
  "deleted",
] as const;
export type RolloutStatusName = (typeof rolloutStatusNames)[number];

export const rolloutGroupStatusNames = ["creating", "ready", "scheduled", "running", "finished", "error"] as const;
export type RolloutGroupStatusName = (typeof rolloutGroupStatusNames)[number];

/** How an action counts beside its status; `plain` is what the status says (contract beyond.md §1.3). */
export const tallyNames = ["plain", "proving", "void", "silent", "retrying"] as const;
export type TallyName = (typeof tallyNames)[number];
export const tally = { plain: 0, proving: 1, void: 2, silent: 3, retrying: 4 } as const satisfies Record<TallyName, number>;
export type Tally = (typeof tally)[TallyName];

/** The buckets of actions that count otherwise than their status says; totals show all three as running. */
export const tallyBucket = { proving: 5, silent: 6, retrying: 7 } as const;

/** What is awaited of a watched action, from 1 (contract beyond.md §1.3). */
export const watchStages = ["notFetched", "downloading", "installing", "rebooting", "observing", "watched", "retryWait"] as const;
export type WatchStage = (typeof watchStages)[number];

/** The code of a stage in the database. */
export function watchStageCode(stage: WatchStage): number {
  return watchStages.indexOf(stage) + 1;
}

/** How a proof ended; the order gives the tens of `actions.outcome`. `timeout` and `quota` are reasons without a proof. */
export const proofEnds = ["proving", "proven", "unproven", "refuted", "void", "timeout", "quota"] as const;
export type ProofEnd = (typeof proofEnds)[number];

/** By what it ended; the order gives the ones of `actions.outcome`. */
export const proofSources = ["none", "attributes", "runningVersion", "alive", "person"] as const;
export type ProofSource = (typeof proofSources)[number];

/** Returns `actions.outcome` of an end. */
export function outcomeCode(end: ProofEnd, by: ProofSource): number {
  return proofEnds.indexOf(end) * 10 + proofSources.indexOf(by);
}

/** Reads `actions.outcome`; undefined if there is none. */
export function outcomeOf(code: number | null): { end: ProofEnd; by: ProofSource } | undefined {
  if (code === null) return undefined;
  return { end: proofEnds[Math.floor(code / 10)] ?? "proving", by: proofSources[code % 10] ?? "none" };
}
