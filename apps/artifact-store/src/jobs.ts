import { type Audit, auditJobs } from "@harrier/audit";
import { HarrierError, toHarrierError } from "@harrier/errors";
import { every, type Job, type NodeStatus, nodeStatusJob, part } from "@harrier/jobs";
import type { DownloadBuffer } from "./download/download-buffer.ts";
import type { Traffic } from "./traffic/traffic.ts";

interface Deps {
  readonly audit: Audit;
  readonly nodeStatus: NodeStatus;
  readonly janitor: () => Promise<false | undefined>;
  readonly traffic: Traffic;
  readonly downloadBuffer: DownloadBuffer;
}

const code = (error: unknown): string => (error instanceof HarrierError ? error : toHarrierError(error)).code;

/** All background jobs of artifact-store. Those of the group `downloads` stop after the servers, to write what the last downloads add. */
export const jobs = {
  "node-status": nodeStatusJob,
  janitor: every<Pick<Deps, "janitor">>({
    does: "Ends uploads whose process died or that nobody continues, deletes blobs without references and, every ten minutes, objects without a row.",
    runs: "lease",
    everyMs: 5_000,
    restMs: 10_000,
    work: ({ janitor }) => janitor(),
    failure: "a round of the janitor failed",
    everyFailure: true,
    fields: (_, error) => ({ code: code(error) }),
  }),
  "data-traffic": every<Pick<Deps, "traffic">>({
    // a process that dies loses the counts of one period; other replicas see new counts after two
    does: "Writes the bytes sent per tenant and reads the tenants' data volumes and limits; without downloads every 15 s.",
    runs: "every replica",
    group: "downloads",
    everyMs: 500,
    lastRound: true,
    work: ({ traffic }) => traffic.beatUnlessAtRest(),
    backlog: ({ traffic }) => traffic.size,
    failure: "data traffic could not be written or read",
  }),
  "download-buffer": part<Pick<Deps, "downloadBuffer">>({
    does: "Tells controller which downloads begin, in batches.",
    runs: "every replica",
    group: "downloads",
    everyMs: 25,
    start: ({ downloadBuffer }, observer) => downloadBuffer.start(observer),
    stop: ({ downloadBuffer }) => downloadBuffer.stop(),
    backlog: ({ downloadBuffer }) => downloadBuffer.size,
  }),
  ...auditJobs,
} satisfies Record<string, Job<Deps>>;
