import { type Database, ensurePartitions, runOne } from "@harrier/db";
import { eventsSentUntil } from "./maintenance.sql.ts";

interface Deps {
  db: Database;
  log: { warn(fields: object, message: string): void };
}

const everyMs = 3_600_000;

/** Partitions of the append-only tables: made ahead, dropped when their time is over and, for events, when the relay has passed. */
async function maintain({ db }: Deps): Promise<void> {
  const mayDrop = async ({ until }: { until: Date }) => (await runOne(db.pool, eventsSentUntil, [until]))?.sent ?? false;
  await ensurePartitions({
    pool: db.pool,
    schema: "rollout_engine",
    tables: [
      { name: "outbox", every: "day", ahead: 2, keep: 2, mayDrop },
      { name: "commands", every: "day", ahead: 2, keep: 2 },
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
