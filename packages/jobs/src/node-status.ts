import { every } from "./job.ts";

/** Tells the installation that this process is there and how its jobs are. */
export interface NodeStatus {
  record(): Promise<unknown>;
  /** The process ends in order: it is no longer part of the installation. */
  leave(): Promise<unknown>;
}

/** A process is taken for gone when it has not been heard of for three periods. */
export const nodeStatusEveryMs = 30_000;

/** Every service has this job in its list (contract console.md §3). */
export const nodeStatusJob = every<{ readonly nodeStatus: NodeStatus }>({
  does: "Records that this process is there and how its jobs are, for the status of the system.",
  runs: "every replica",
  everyMs: nodeStatusEveryMs,
  // a gateway may be there before management is
  retryMs: 1_000,
  graceMs: 60_000,
  lastRound: true,
  work: async ({ nodeStatus }, signal) => void (await (signal.aborted ? nodeStatus.leave() : nodeStatus.record())),
  failure: "the state of this process could not be recorded",
  recovered: "the state of this process is recorded again",
});
