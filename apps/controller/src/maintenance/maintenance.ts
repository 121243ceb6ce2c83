import { type Database, ensurePartitions, runOne } from "@harrier/db";
import { deltasFoldedUntil, eventsSentUntil } from "./maintenance.sql.ts";

interface Deps {
  db: Database;
  log: { warn(fields: object, message: string): void };
}

const everyMs = 3_600_000;

/**
 * Partitions of the append-only tables: made ahead, dropped when their time is over, but events only when the relay has passed and
 * deltas only when they are folded. History stays: it is what the API shows of an action as long as the action is there.
 */
async function maintain({ db }: Deps): Promise<void> {
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

/** Once before the service starts, then every hour. */
export async function startMaintenance(deps: Deps): Promise<() => void> {
  await maintain(deps);
  const timer = setInterval(() => {
    maintain(deps).catch((error: unknown) => deps.log.warn({ err: error }, "partitions could not be maintained"));
  }, everyMs);
  return () => clearInterval(timer);
}
