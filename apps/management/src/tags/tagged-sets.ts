import { type Database, runOne } from "@harrier/db";
import { entityNotFound } from "@harrier/errors";
import { tagSets, untagSets } from "./tagged-sets.sql.ts";

/** Gives a tag to sets or takes it from them, all or none (contract management.md §4.9); repeating it is fine. */
export async function changeTagOfSets(
  deps: { db: Database },
  request: { tag: { tenantId: number; id: number }; setIds: readonly number[]; assign: boolean },
): Promise<void> {
  const { tag, setIds, assign } = request;
  const row = await runOne(deps.db.pool, assign ? tagSets : untagSets, [tag.tenantId, tag.id, setIds]);
  if (!row?.known) throw entityNotFound("DistributionSetTag", tag.id);
  if (row.missing !== null) throw entityNotFound("DistributionSet", row.missing);
}
