// Literals of enum fields and the codes the published views hold for them. The codes themselves are part of the views' contract;
// they stand here again because a query language must not depend on the API's schemas.

export const updateStatusCodes = { unknown: 0, registered: 1, pending: 2, in_sync: 3, error: 4 } as const;

export const actionStatusCodes = {
  finished: 0,
  error: 1,
  warning: 2,
  running: 3,
  canceled: 4,
  canceling: 5,
  retrieved: 6,
  download: 7,
  scheduled: 8,
  cancel_rejected: 9,
  downloaded: 10,
  wait_for_confirmation: 11,
} as const;

/** States of an auto-assignment, kept as text. */
export const autoAssignmentStatusCodes = {
  waiting_for_approval: "waiting_for_approval",
  approval_denied: "approval_denied",
  ready: "ready",
  paused: "paused",
  running: "running",
} as const;

/** How an auto-assignment assigns, by the codes of actions. */
export const autoAssignmentTypeCodes = { soft: 0, forced: 1, downloadonly: 3 } as const;

/** Rollouts keep their status as text. */
export const rolloutStatusCodes = {
  creating: "creating",
  ready: "ready",
  waiting_for_approval: "waiting_for_approval",
  approval_denied: "approval_denied",
  starting: "starting",
  running: "running",
  paused: "paused",
  finished: "finished",
  stopping: "stopping",
  stopped: "stopped",
  deleting: "deleting",
  deleted: "deleted",
} as const;
