export { backOff } from "./back-off.ts";
export { ChangeFeed } from "./change-feed.ts";
export { batched, every, type Job, leased, led, part, type RunningJob } from "./job.ts";
export type { JobState } from "./job-states.ts";
export { createJob, createJobs, type Jobs } from "./jobs.ts";
export { type LeaseOptions, Leases } from "./leases.ts";
export { type NodeStatus, nodeStatusEveryMs, nodeStatusJob } from "./node-status.ts";
export type { Observer } from "./observer.ts";
export { pause, within } from "./pause.ts";
