import { type Database, ensurePartitions, runOne } from "@harrier/db";
import { eventsSentUntil } from "./maintenance.sql.ts";

/** Creates partitions of the append-only tables ahead, and drops them when their time is over and, for events, the relay has sent them. */
export async function makePartitions({ pool }: Pick<Database, "pool">, eventDays: number): Promise<void> {
  const mayDrop = async ({ until }: { until: Date }) => (await runOne(pool, eventsSentUntil, [until]))?.sent ?? false;
  await ensurePartitions({
    pool,
    schema: "rollout_engine",
    tables: [
      { name: "outbox", every: "day", ahead: 2, keep: eventDays, mayDrop },
      { name: "commands", every: "day", ahead: 2, keep: 2 },
    ],
  });
}
