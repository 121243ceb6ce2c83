export const statusWords: Readonly<Record<"rollout" | "target" | "action", Readonly<Record<string, string>>>> = {
  rollout: {
    creating: "Creating",
    ready: "Ready",
    waiting_for_approval: "Waits for approval",
    approval_denied: "Denied",
    starting: "Starting",
    running: "Running",
    paused: "Paused",
    stopping: "Stopping",
    stopped: "Stopped",
    finished: "Finished",
    finished_failed: "Finished, too many failed",
    deleting: "Deleting",
    deleted: "Deleted",
    scheduled: "Scheduled",
    error: "Failed",
  },
  target: { unknown: "Unknown", registered: "Registered", pending: "Update open", in_sync: "In sync", error: "Failed" },
  action: {
    finished: "Installed",
    error: "Failed",
    warning: "Warning",
    running: "In progress",
    canceled: "Cancelled",
    canceling: "Cancelling",
    retrieved: "Fetched by the device",
    download: "Downloading",
    downloaded: "Downloaded",
    scheduled: "Scheduled",
    cancel_rejected: "Cancellation refused",
    wait_for_confirmation: "Waits for confirmation",
  },
};

export const buckets = {
  finished: "installed",
  error: "failed",
  running: "in progress",
  scheduled: "scheduled",
  notstarted: "not started",
  cancelled: "cancelled",
  none: "no devices",
};

/** What stands in the search and in the list of keys, which are loaded when they are opened. */
export const jumping = {
  keyNames: {
    filter: "Filter",
    palette: "Search or jump",
    devices: "Devices",
    rollouts: "Rollouts",
    software: "Software",
    overview: "Overview",
    rows: "Next and previous row",
    open: "Open the row",
    choose: "Choose the row",
    help: "These keys",
    close: "Close",
  },
  kinds: {
    targets: "Devices",
    distributionSets: "Distribution sets",
    softwareModules: "Software modules",
    rollouts: "Rollouts",
  } as Readonly<Record<string, string>>,
};
