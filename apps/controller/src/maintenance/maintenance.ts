import { type Database, ensurePartitions, run, runOne } from "@harrier/db";
import { type CleanupDeps, cleanUp } from "../cleanup/cleanup.ts";
import { alone } from "./alone.ts";
import { deltasFoldedUntil, eventsSentUntil, refreshStatistics, sweepImports, sweepTags, walkTargetUsage } from "./maintenance.sql.ts";

interface Deps extends CleanupDeps {
  db: Database;
  log: { warn(fields: object, message: string): void };
}

const everyMs = 3_600_000;
/** Bulk commands look for themselves; this is for everything that comes one at a time, polls and reports above all. */
const statisticsEveryMs = 5_000;
/** What a deleted tag leaves behind shows nowhere: it may take its time, and is taken in pieces that hold nobody up. */
const tagsEveryMs = 10_000;
const tagLinksAtOnce = 10_000;
/** Together the pace of the walk: what targets use of their quotas may be as old as their number in milliseconds. */
const usageEveryMs = 1_000;
const usageTargets = 1_000;
const cleanupEveryMs = 1_000;

/**
 * Partitions of the append-only tables: made ahead, dropped when their time is over, but events only when the relay has passed and
 * deltas only when they are folded. History stays: it is what the API shows of an action as long as the action is there.
 */
async function maintain({ db }: Pick<Deps, "db">): Promise<void> {
  const sent = async ({ until }: { until: Date }) => (await runOne(db.pool, eventsSentUntil, [until]))?.sent ?? false;
  const folded = async ({ until }: { until: Date }) => (await runOne(db.pool, deltasFoldedUntil, [until]))?.folded ?? false;
  await ensurePartitions({
    pool: db.pool,
    schema: "controller",
    tables: [
      { name: "action_history", every: "month", ahead: 2 },
      { name: "group_deltas", every: "day", ahead: 2, keep: 2, mayDrop: folded },
      { name: "outbox", every: "day", ahead: 2, keep: 2, mayDrop: sent },
      { name: "commands", every: "day", ahead: 2, keep: 2 },
      { name: "credential_changes", every: "day", ahead: 2, keep: 2 },
    ],
  });
}

/** Partitions once before the service starts, then every hour; statistics every few seconds. */
export async function startMaintenance(deps: Deps): Promise<() => void> {
  await maintain(deps);
  const repeat = (ms: number, work: () => Promise<unknown>, failure: string) => setInterval(alone(deps, work, failure), ms);
  const timers = [
    repeat(everyMs, () => maintain(deps), "partitions could not be maintained"),
    repeat(statisticsEveryMs, () => run(deps.db.pool, refreshStatistics, []), "statistics could not be refreshed"),
    repeat(tagsEveryMs, () => runOne(deps.db.pool, sweepTags, [tagLinksAtOnce]), "links to deleted tags could not be swept"),
    repeat(tagsEveryMs, () => runOne(deps.db.pool, sweepImports, [tagLinksAtOnce]), "imports that were left behind could not be swept"),
    repeat(usageEveryMs, () => run(deps.db.pool, walkTargetUsage, [usageTargets]), "what targets use could not be looked at"),
    repeat(cleanupEveryMs, () => cleanUp(deps), "expired actions could not be cleaned up"),
  ];
  return () => {
    for (const timer of timers) clearInterval(timer);
  };
}
