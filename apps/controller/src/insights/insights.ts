import { overdueMacro } from "@harrier/contracts";
import { type Database, run, runOne } from "@harrier/db";
import { countFleets, dueFleets, foldMonthlyCounts } from "./insights.sql.ts";

export interface InsightDeps {
  readonly background: Pick<Database, "pool">;
  readonly now: () => number;
}

/** Rows of the outbox at a time: one may tell of thousands of actions. */
const eventsAtOnce = 2_000;
const fleetsAtOnce = 50;
const targetsAtOnce = 20_000;

/**
 * One round of what insights need (contract management.md §10.6): events into monthly counts, and the next targets of the fleets that are due. Answers
 * true if events are left, and false if there was nothing to do.
 */
export async function keepInsights(deps: InsightDeps): Promise<boolean | undefined> {
  const { pool } = deps.background;
  const round = await runOne(pool, foldMonthlyCounts, [eventsAtOnce]);
  if (round?.due === true) await countDueFleets(deps);
  if (round?.folded === eventsAtOnce) return true;
  return round?.folded === 0 && !round.due ? false : undefined;
}

/** Counts the fleets that are due, as far as one step goes. */
export async function countDueFleets({ background: { pool }, now }: InsightDeps): Promise<void> {
  const due = await run(pool, dueFleets, [fleetsAtOnce]);
  if (due.length === 0) return;
  const overdue = due.map((times) => new Date(overdueMacro(times, now()).OVERDUE_TS));
  await run(pool, countFleets, [due.map(({ tenantId }) => tenantId), overdue, targetsAtOnce]);
}
