import { type Queryable, runOne } from "@harrier/db";
import { entityNotFound, HarrierError, setIncomplete } from "@harrier/errors";
import { readSetGaps } from "./sets.sql.ts";

interface FoundSet {
  valid: boolean;
  complete: boolean;
  deleted: boolean;
}

/**
 * Checks whether a set may be assigned, in the order of an assignment's checks (contract management.md §5.3, check 6).
 * @throws entityNotFound, setInvalid, setIncomplete (with what it lacks: one round trip more), deleted
 */
export async function checkSet<Row extends FoundSet>(
  db: Queryable,
  { tenantId, id }: { tenantId: number; id: number },
  set: Row | undefined,
): Promise<Row> {
  if (set === undefined) throw entityNotFound("DistributionSet", id);
  if (!set.valid) throw new HarrierError("setInvalid");
  if (!set.complete) throw setIncomplete(await runOne(db, readSetGaps, [tenantId, id]));
  if (set.deleted) throw new HarrierError("deleted", "The distribution set is deleted.");
  return set;
}
