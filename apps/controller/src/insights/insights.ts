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
 * are due. Answers true if events are left, and false if there was nothing to do.
 */
export async function keepInsights(deps: InsightDeps): Promise<boolean | undefined> {
  const { pool } = deps.background;
  const round = await runOne(pool, foldMonthlyCounts, [eventsAtOnce]);
  const searched = await findPast(deps);
  if (round?.due === true) await countDueFleets(deps);
  if (round?.folded === eventsAtOnce) return true;
  return round?.folded === 0 && !round.due && !searched ? false : undefined;
}

/** Databases whose past has been read, so that a process does not ask again. */
const known = new WeakSet<object>();

/** Reads the next part of the past; answers false once all of it has been read. */
async function findPast({ background: { pool } }: InsightDeps): Promise<boolean> {
  if (known.has(pool)) return false;
  const found = await runOne(pool, findMonthlyCounts, [foundAtOnce]);
  if (found?.more === false) known.add(pool);
  return true;
}

/** Counts the fleets that are due, as far as one step goes. */
export async function countDueFleets({ background: { pool }, now }: InsightDeps): Promise<void> {
  const due = await run(pool, dueFleets, [fleetsAtOnce]);
  if (due.length === 0) return;
  const overdue = due.map((times) => new Date(overdueMacro(times, now()).OVERDUE_TS));
  await run(pool, countFleets, [due.map(({ tenantId }) => tenantId), overdue, targetsAtOnce]);
}
