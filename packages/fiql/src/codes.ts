// The literals of enum fields and the codes that the published views contain. The codes themselves are part of the views' contract; they are repeated
// here, because a query language must not depend on the API's schemas.

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

/** What is awaited of a watched action, and how a proof stands (contract beyond.md §1.3). */
export const watchStageCodes = {
  notfetched: 1,
  downloading: 2,
  installing: 3,
  rebooting: 4,
  observing: 5,
  watched: 6,
  retrywait: 7,
} as const;
export const proofCodes = { proving: 0, proven: 1, unproven: 2, refuted: 3, void: 4 } as const;

/** The states of an auto-assignment are stored as text. */
export const autoAssignmentStatusCodes = {
  waiting_for_approval: "waiting_for_approval",
  approval_denied: "approval_denied",
  ready: "ready",
  paused: "paused",
  running: "running",
} as const;

/** How an auto-assignment assigns, by the codes of actions. */
export const autoAssignmentTypeCodes = { soft: 0, forced: 1, downloadonly: 3 } as const;

/** Rollouts store their status as text. */
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
