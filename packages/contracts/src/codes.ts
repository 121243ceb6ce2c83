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
