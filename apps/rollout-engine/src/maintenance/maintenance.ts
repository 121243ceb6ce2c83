import { type Database, ensurePartitions, runOne } from "@harrier/db";
import { eventsSentUntil } from "./maintenance.sql.ts";

/** Creates partitions of the outbox ahead, and drops them when their time is over and the relay has sent their events. */
export async function makePartitions({ pool }: Pick<Database, "pool">, eventDays: number): Promise<void> {
  const mayDrop = async ({ until }: { until: Date }) => (await runOne(pool, eventsSentUntil, [until]))?.sent ?? false;
  await ensurePartitions({
    pool,
    schema: "rollout_engine",
    tables: [{ name: "outbox", every: "day", ahead: 2, keep: eventDays, mayDrop }],
  });
}
