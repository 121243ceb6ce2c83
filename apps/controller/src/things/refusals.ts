import { type Database, run } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import type { RecordRefusalsRequest } from "@harrier/rpc";
import { addRefusals } from "./refusals.sql.ts";

/** A call has at most so many, of all tenants. */
const maxRefusals = 5_000;
const maxReason = 300;

/** Counts messages that were refused, and keeps the last reason of each kind, for the status of messaging (contract management.md §10.5). */
export async function recordRefusals(
  { db }: { db: Pick<Database, "pool"> },
  { refusals }: RecordRefusalsRequest,
): Promise<Record<string, never>> {
  if (refusals.length > maxRefusals) throw new HarrierError("constraintViolation", `There are more than ${maxRefusals} refusals.`);
  if (refusals.length === 0) return {};
  await run(db.pool, addRefusals, [
    refusals.map(({ tenantId }) => tenantId),
    refusals.map(({ kind }) => kind),
    refusals.map(({ count }) => count),
    refusals.map(({ lastAt }) => new Date(lastAt)),
    refusals.map(({ lastReason }) => lastReason.slice(0, maxReason)),
  ]);
  return {};
}
