import { type Database, ensurePartitions, runOne } from "@harrier/db";
import { eventsSentUntil } from "./maintenance.sql.ts";

/**
 * Creates the partitions of the next days and drops those that are over: events only when the relay has sent them. A command is repeated within
 * seconds, and a change of credentials is read within one second.
 */
export async function makePartitions({ pool }: Pick<Database, "pool">, eventDays: number): Promise<void> {
  const mayDrop = async ({ until }: { until: Date }) => (await runOne(pool, eventsSentUntil, [until]))?.sent ?? false;
  await ensurePartitions({
    pool,
    schema: "management",
    tables: [
      { name: "commands", every: "day", ahead: 3, keep: 7 },
      { name: "credential_changes", every: "day", ahead: 3, keep: 7 },
      { name: "webhook_deliveries", every: "day", ahead: 3, keep: 7 },
      { name: "outbox", every: "day", ahead: 3, keep: eventDays, mayDrop },
    ],
  });
}
