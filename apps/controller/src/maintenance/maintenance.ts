import { type Database, ensurePartitions, runOne } from "@harrier/db";
import { eventsFoldedUntil } from "../insights/insights.sql.ts";
import { messagesSentUntil } from "../things/outgoing.sql.ts";
import { deltasFoldedUntil, eventsSentUntil } from "./maintenance.sql.ts";

/**
 * Creates partitions of the append-only tables ahead and drops them when their time is over: events only when the relay has sent
 * them and they are in the monthly counts, deltas only when they are folded. History stays, because the API shows it as long as its action exists.
 */
export async function makePartitions({ pool }: Pick<Database, "pool">, eventDays: number): Promise<void> {
  const sent = async ({ until }: { until: Date }) =>
    ((await runOne(pool, eventsSentUntil, [until]))?.sent ?? false) &&
    ((await runOne(pool, eventsFoldedUntil, [until]))?.folded ?? false) &&
    ((await runOne(pool, messagesSentUntil, [until]))?.sent ?? false);
  const folded = async ({ until }: { until: Date }) => (await runOne(pool, deltasFoldedUntil, [until]))?.folded ?? false;
  await ensurePartitions({
    pool,
    schema: "controller",
    tables: [
      { name: "action_history", every: "month", ahead: 2 },
      { name: "group_deltas", every: "day", ahead: 2, keep: 2, mayDrop: folded },
      { name: "outbox", every: "day", ahead: 2, keep: eventDays, mayDrop: sent },
      { name: "commands", every: "day", ahead: 2, keep: 2 },
      { name: "credential_changes", every: "day", ahead: 2, keep: 2 },
    ],
  });
}
