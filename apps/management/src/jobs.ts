import { type Audit, auditJobs } from "@harrier/audit";
import { type Database, runOne } from "@harrier/db";
import { type Relay, relayJob } from "@harrier/events";
import { every, type Job, leased, type NodeStatus, nodeStatusJob } from "@harrier/jobs";
import type { Changes } from "./events/changes.ts";
import type { PrincipalFeed } from "./identity/principal-feed.ts";
import type { InvalidationWorker } from "./invalidation/invalidation-worker.ts";
import { makePartitions } from "./maintenance/maintenance.ts";
import { createPublications, type PublicationDeps } from "./messaging/publish-events.ts";
import type { SigningKeys } from "./oauth-tokens/signing-keys.ts";
import { releaseDue } from "./operations/release-worker.ts";
import { walkTargetMetadata } from "./quotas/metadata-walk.sql.ts";
import { cleanUpSessions } from "./sessions/sessions.ts";
import { changeDueTargets } from "./target-changes/target-change-worker.ts";
import { deleteDueTargets } from "./target-deletion/target-deletion-worker.ts";
import type { DeletionWorker } from "./tenants/deletion-worker.ts";
import { createDeliveries, type DeliveryDeps } from "./webhooks/deliver.ts";

interface Deps {
  readonly audit: Audit;
  /** These connections are for work that nobody waits for. */
  readonly background: Database;
  /** Events are kept for so many days. */
  readonly eventDays: number;
  readonly releases: Parameters<typeof releaseDue>[0];
  readonly deletions: DeletionWorker;
  readonly invalidations: InvalidationWorker;
  readonly targetChanges: Parameters<typeof changeDueTargets>[0];
  readonly targetDeletions: Parameters<typeof deleteDueTargets>[0];
  readonly signingKeys: SigningKeys;
  readonly feed: PrincipalFeed;
  readonly changes: Changes;
  readonly relay: Relay;
  readonly deliveries: DeliveryDeps;
  readonly publications: PublicationDeps;
  readonly nodeStatus: NodeStatus;
}

export type JobName = keyof typeof jobs;

/** So many rows are an index range that is read in some milliseconds. */
const metadataEntries = 5_000;

/**
 * These are all background jobs of management. The keys and the feed are started before any request is served; the feed ends before the
 * gRPC server.
 */
export const jobs = {
  "node-status": nodeStatusJob,
  "artifact-releases": every<Pick<Deps, "releases">>({
    does: "Gives references of deleted artifacts back to artifact-store until it has acknowledged each; woken by a deletion.",
    runs: "lease",
    everyMs: 2_000,
    restMs: 10_000,
    work: ({ releases }, _signal, pieceFailed) => releaseDue(releases, pieceFailed),
    failure: "artifact references cannot be given back",
    everyFailure: true,
  }),
  "tenant-deletions": every<Pick<Deps, "deletions">>({
    does: "Deletes tenants with all that they have, owner by owner; woken by a deletion.",
    runs: "lease",
    everyMs: 1_000,
    restMs: 10_000,
    work: ({ deletions }, signal, pieceFailed) => deletions.deleteDue(signal, pieceFailed),
    failure: "the deletion of tenants cannot go on",
    everyFailure: true,
  }),
  invalidations: every<Pick<Deps, "invalidations">>({
    does: "Ends the rollouts and actions of invalid sets; woken by an invalidation that goes on.",
    runs: "lease",
    everyMs: 1_000,
    restMs: 10_000,
    work: ({ invalidations }, _signal, pieceFailed) => invalidations.carryOutDue(pieceFailed),
    onStop: ({ invalidations }) => invalidations.stop(),
    failure: "invalidations cannot go on",
    everyFailure: true,
  }),
  "target-deletions": every<Pick<Deps, "targetDeletions">>({
    does: "Deletes the targets of confirmed queries, 500 at a time; woken by a deletion.",
    runs: "lease",
    everyMs: 1_000,
    restMs: 10_000,
    work: ({ targetDeletions }, signal, pieceFailed) => deleteDueTargets(targetDeletions, signal, pieceFailed),
    failure: "deletions of targets cannot go on",
    everyFailure: true,
  }),
  "target-changes": every<Pick<Deps, "targetChanges">>({
    does: "Changes many targets, assigns sets to them or cancels their actions, 500 at a time; woken by a request.",
    runs: "lease",
    everyMs: 1_000,
    restMs: 10_000,
    work: ({ targetChanges }, signal, pieceFailed) => changeDueTargets(targetChanges, signal, pieceFailed),
    failure: "changes of targets cannot go on",
    everyFailure: true,
  }),
  "metadata-usage": every<Pick<Deps, "background">>({
    does: "Counts the next metadata of targets, for what they use of their quota.",
    runs: "every replica",
    everyMs: 1_000,
    restMs: 15_000,
    work: async ({ background }) =>
      (await runOne(background.pool, walkTargetMetadata, [metadataEntries]))?.scanned === 0 ? false : undefined,
    failure: "what targets use of their metadata could not be looked at",
    everyFailure: true,
  }),
  sessions: every<Pick<Deps, "background">>({
    does: "Deletes sessions of users that are over.",
    runs: "every replica",
    everyMs: 60_000,
    restMs: 600_000,
    work: ({ background }) => cleanUpSessions({ db: background.pool }),
    failure: "sessions that are over cannot be deleted",
  }),
  "signing-keys": every<Pick<Deps, "signingKeys">>({
    does: "Reads the keys of the token endpoint, makes the next one and removes those that are over.",
    runs: "every replica",
    group: "signing-keys",
    everyMs: 30_000,
    later: true,
    work: ({ signingKeys }) => signingKeys.refresh(),
    failure: "signing keys cannot be read",
    everyFailure: true,
  }),
  "principal-feed": every<Pick<Deps, "feed">>({
    does: "Reads the log of changes of users, clients and tenants and tells the gateways; woken by a gateway that begins to follow it.",
    runs: "every replica",
    group: "feed",
    // a withdrawn permission ends within a second, with time for the way to the gateways
    everyMs: 500,
    // while no gateway follows it
    restMs: 10_000,
    work: async ({ feed }) => ((await feed.read()) ? undefined : false),
    onStop: ({ feed }) => feed.close(),
    failure: "the log of principal changes cannot be read",
    recovered: "the log of principal changes can be read again",
  }),
  "event-streams": every<Pick<Deps, "changes">>({
    does: "Reads what has changed for the clients that follow it, if there are any; woken by the first one.",
    runs: "every replica",
    // a change is told within a second
    everyMs: 500,
    restMs: 60_000,
    work: ({ changes }) => changes.read(),
    onStop: ({ changes }) => changes.close(),
    failure: "what has changed cannot be read for those who follow it",
  }),
  webhooks: leased<Pick<Deps, "deliveries">>({
    does: "Sends events to webhooks; woken by events, and by changes of webhooks.",
    pollMs: 10_000,
    // it is longer than a page of events and the last answer take
    leaseSeconds: 60,
    slots: 16,
    worker: ({ deliveries }, options) => createDeliveries(deliveries, options),
  }),
  "event-publications": leased<Pick<Deps, "publications">>({
    does: "Publishes events to the virtual hosts of tenants that have enabled SIE; woken by events.",
    pollMs: 10_000,
    // each page renews it, and is read and published in half of that time or not at all
    leaseSeconds: 30,
    slots: 16,
    worker: ({ publications }, options) => createPublications(publications, options),
  }),
  "outbox-relay": relayJob,
  partitions: every<Pick<Deps, "background" | "eventDays">>({
    does: "Makes the partitions of the next days and drops those that are over and, for events, sent.",
    runs: "every replica",
    group: "partitions",
    everyMs: 6 * 60 * 60_000,
    later: true,
    steady: true,
    stopLimitMs: 0,
    work: ({ background, eventDays }) => makePartitions(background, eventDays),
    failure: "partitions cannot be made",
    everyFailure: true,
    level: "error",
  }),
  ...auditJobs,
} satisfies Record<string, Job<Deps>>;
