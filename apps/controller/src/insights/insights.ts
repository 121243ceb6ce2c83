import { overdueMacro } from "@harrier/contracts";
import { type Database, run, runOne } from "@harrier/db";
import { countFleets, dueFleets, findMonthlyCounts, foldMonthlyCounts } from "./insights.sql.ts";

export interface InsightDeps {
  readonly background: Pick<Database, "pool">;
  readonly now: () => number;
}

/** Rows of the outbox at a time: one may tell of thousands of actions. */
const eventsAtOnce = 2_000;
/** Targets, and actions, of the time before the counting at a time. */
const foundAtOnce = 20_000;
const fleetsAtOnce = 50;
const targetsAtOnce = 20_000;

/**
 * One round of what insights need (contract management.md §10.6): events into monthly counts, the past once, and the next targets of the fleets that
 * are due. Answers whether events are left.
 */
export async function keepInsights(deps: InsightDeps): Promise<boolean> {
  const { pool } = deps.background;
  const round = await runOne(pool, foldMonthlyCounts, [eventsAtOnce]);
  await findPast(deps);
  if (round?.due === true) await countDueFleets(deps);
  return round?.folded === eventsAtOnce;
}

/** Databases whose past has been read, so that a process does not ask again. */
const known = new WeakSet<object>();

async function findPast({ background: { pool } }: InsightDeps): Promise<void> {
  if (known.has(pool)) return;
  const found = await runOne(pool, findMonthlyCounts, [foundAtOnce]);
  if (found?.more === false) known.add(pool);
}

/** Counts the fleets that are due, as far as one step goes. */
export async function countDueFleets({ background: { pool }, now }: InsightDeps): Promise<void> {
  const due = await run(pool, dueFleets, [fleetsAtOnce]);
  if (due.length === 0) return;
  const overdue = due.map((times) => new Date(overdueMacro(times, now()).OVERDUE_TS));
  await run(pool, countFleets, [due.map(({ tenantId }) => tenantId), overdue, targetsAtOnce]);
}
