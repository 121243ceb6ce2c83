import { type Database, run, runOne, withLeadership } from "@harrier/db";
import { type Relay, relayJob } from "@harrier/events";
import { every, type Job, led, type NodeStatus, nodeStatusJob } from "@harrier/jobs";
import { type CleanupDeps, cleanUp } from "./cleanup/cleanup.ts";
import type { CredentialFeed } from "./identity/credential-feed.ts";
import { keepInsights } from "./insights/insights.ts";
import {
  coarsenProgress,
  refreshStatistics,
  sweepImports,
  sweepRollouts,
  sweepTags,
  walkTargetUsage,
} from "./maintenance/maintenance.sql.ts";
import { makePartitions } from "./maintenance/maintenance.ts";
import type { LastPolls } from "./poll/last-polls.ts";
import { foldDeltas } from "./progress/fold.sql.ts";
import type { TenantSettingsCache } from "./settings/tenant-settings.ts";
import { type SettleDeps, settle } from "./watches/settle.ts";

interface Deps {
  /** These connections are for work that no caller waits for. */
  readonly background: Database;
  /** Events are kept for so many days. */
  readonly eventDays: number;
  readonly cleanup: CleanupDeps;
  readonly feed: CredentialFeed;
  readonly relay: Relay;
  readonly settings: TenantSettingsCache;
  readonly lastPolls: LastPolls;
  readonly settle: SettleDeps;
  readonly nodeStatus: NodeStatus;
}

type OnDatabase = Pick<Deps, "background">;

/** Rows that nobody sees any more (links of deleted tags, lines of imports) are deleted later, in chunks that delay nothing else. */
const rowsAtOnce = 10_000;
/** This number and the period decide the pace of the scan: recorded use of quotas may be as old as twice the number of targets in milliseconds. */
const usageTargets = 1_000;
const deltasAtOnce = 10_000;

/** Maintenance starts with the process, and the process does not wait for it at its end: the next round of any replica does what was cut off. */
const maintenance = { runs: "every replica", later: true, steady: true, stopLimitMs: 0 } as const;

/** These jobs read views of other services, and begin when those are there. */
const overViews = { ...maintenance, group: "views" } as const;

/**
 * All background jobs of controller. The feed ends before the gRPC server, because its streams last as long as it does; settings and last polls
 * end after them.
 */
export const jobs = {
  "node-status": nodeStatusJob,
  partitions: every<Pick<Deps, "background" | "eventDays">>({
    ...maintenance,
    does: "Makes the partitions of the next days and drops those that are over, sent and folded.",
    everyMs: 60 * 60_000,
    work: ({ background, eventDays }) => makePartitions(background, eventDays),
    failure: "partitions could not be maintained",
  }),
  // Bulk commands refresh statistics themselves; this is for everything that comes one at a time, polls and reports above all.
  statistics: every<OnDatabase>({
    ...maintenance,
    does: "Refreshes the planner's statistics of tables that have changed much.",
    everyMs: 5_000,
    work: ({ background }) => run(background.pool, refreshStatistics, []),
    failure: "statistics could not be refreshed",
  }),
  "deleted-tags": every<OnDatabase>({
    ...maintenance,
    does: "Removes the links of targets to deleted tags.",
    everyMs: 10_000,
    restMs: 60_000,
    work: async ({ background }) => ((await runOne(background.pool, sweepTags, [rowsAtOnce]))?.swept === 0 ? false : undefined),
    failure: "links to deleted tags could not be swept",
  }),
  "deleted-rollouts": every<OnDatabase>({
    ...maintenance,
    does: "Removes failures and series of rollouts that are gone.",
    everyMs: 60_000,
    restMs: 10 * 60_000,
    work: async ({ background }) => ((await runOne(background.pool, sweepRollouts, [rowsAtOnce]))?.swept === 0 ? false : undefined),
    failure: "what is left of deleted rollouts could not be swept",
  }),
  "progress-steps": every<OnDatabase>({
    ...maintenance,
    does: "Makes the series of rollouts coarser: hours after a day, days after thirty.",
    everyMs: 60_000,
    restMs: 10 * 60_000,
    work: async ({ background }) => ((await runOne(background.pool, coarsenProgress, [rowsAtOnce]))?.coarsened === 0 ? false : undefined),
    failure: "series of rollouts could not be made coarser",
  }),
  imports: every<OnDatabase>({
    ...maintenance,
    does: "Removes imports of targets that were left behind.",
    everyMs: 10_000,
    restMs: 60_000,
    work: async ({ background }) => ((await runOne(background.pool, sweepImports, [rowsAtOnce]))?.swept === 0 ? false : undefined),
    failure: "imports that were left behind could not be swept",
  }),
  "target-usage": every<OnDatabase>({
    ...maintenance,
    does: "Counts what the next 1,000 targets use of their quotas.",
    everyMs: 1_000,
    restMs: 15_000,
    work: async ({ background }) => ((await runOne(background.pool, walkTargetUsage, [usageTargets]))?.scanned === 0 ? false : undefined),
    failure: "what targets use could not be looked at",
  }),
  "action-cleanup": every<Pick<Deps, "cleanup">>({
    ...overViews,
    does: "Removes expired closed actions, 2,000 at a time.",
    runs: "lease",
    everyMs: 1_000,
    work: ({ cleanup }) => cleanUp(cleanup),
    failure: "expired actions could not be cleaned up",
  }),
  "watched-actions": every<Pick<Deps, "settle">>({
    ...overViews,
    does: "Settles watched actions whose time is over, 2,000 at a time: proven, failed, silent, given up, or tried again.",
    runs: "lease",
    everyMs: 1_000,
    restMs: 2_000,
    work: ({ settle: deps }) => settle(deps),
    failure: "watched actions could not be settled",
  }),
  insights: every<OnDatabase>({
    ...overViews,
    does: "Adds events up to monthly counts and failures of rollouts, and counts the next 20,000 targets of the fleets that are due.",
    everyMs: 2_000,
    restMs: 8_000,
    work: ({ background }) => keepInsights({ background, now: Date.now }),
    failure: "insights could not be kept",
  }),
  "progress-fold": led<OnDatabase>({
    does: "Adds the deltas of all rollouts up; readers are exact with or without it.",
    everyMs: 2_000,
    // deltas that are not folded yet cost every reader: a rest is short enough that what gathers in it is little
    restMs: 8_000,
    work: async ({ background }) => {
      const folded = (await runOne(background.pool, foldDeltas, [deltasAtOnce]))?.folded ?? 0;
      return folded === 0 ? false : folded === deltasAtOnce || undefined;
    },
    leadership: ({ background }, options) =>
      withLeadership({ session: background.session, key: "controller progress", retryMs: 2_000, ...options }),
    failure: "progress could not be folded",
    everyFailure: true,
  }),
  "outbox-relay": relayJob,
  "tenant-settings": every<Pick<Deps, "settings">>({
    does: "Reads changed settings and quotas of tenants into memory; woken by the credential feed, which sees that they have changed.",
    runs: "every replica",
    group: "settings",
    everyMs: 15_000,
    stopLimitMs: 0,
    work: ({ settings }) => settings.refresh(),
    failure: "tenant settings could not be read",
  }),
  "last-polls": every<Pick<Deps, "lastPolls">>({
    does: "Writes the times of the last polls.",
    runs: "every replica",
    group: "last-polls",
    everyMs: 1_000,
    later: true,
    lastRound: true,
    work: ({ lastPolls }) => lastPolls.flush(),
    backlog: ({ lastPolls }) => lastPolls.size,
    failure: "last polls could not be written; they stay for the next time",
    everyFailure: true,
    fields: ({ lastPolls }) => ({ lastPolls: lastPolls.size }),
  }),
  "credential-feed": every<Pick<Deps, "feed">>({
    does: "Reads the logs of changed credentials and tells the gateways; woken by the first request after a rest.",
    runs: "every replica",
    group: "feed",
    // a withdrawn credential is denied within a second, with time for the way to the gateways
    everyMs: 500,
    // while no gateway follows it and nobody asks anything
    restMs: 10_000,
    work: async ({ feed }) => ((await feed.read()) ? undefined : false),
    onStop: ({ feed }) => feed.close(),
    failure: "the logs of credential changes cannot be read",
  }),
} satisfies Record<string, Job<Deps>>;
