import { type Database, run, runOne } from "@harrier/db";
import { entityNotFound } from "@harrier/errors";
import { setsWithTag, tagSets, tagsOfSet, untagSets } from "./tagged-sets.sql.ts";
import type { TagRow } from "./tags.sql.ts";

/** Lists the tags of a set by name (contract management.md §4.9). */
export async function listTagsOfSet(deps: { db: Database }, { tenantId, setId }: { tenantId: number; setId: number }): Promise<TagRow[]> {
  const rows = await run(deps.db.pool, tagsOfSet, [tenantId, setId]);
  if (rows.length === 0) throw entityNotFound("DistributionSet", setId);
  return rows.filter((row) => row.id !== null);
}

/** Gives a tag to sets or takes it from them, all or none (contract management.md §4.9); it can be repeated. */
export async function changeTagOfSets(
  deps: { db: Database },
  request: { tag: { tenantId: number; id: number }; setIds: readonly number[]; assign: boolean },
): Promise<void> {
  const { tag, setIds, assign } = request;
  const row = await runOne(deps.db.pool, assign ? tagSets : untagSets, [tag.tenantId, tag.id, setIds]);
  if (!row?.known) throw entityNotFound("DistributionSetTag", tag.id);
  if (row.missing !== null) throw entityNotFound("DistributionSet", row.missing);
}

/**
 * Takes a tag from sets if all of them have it, or else gives it to those that lack it (contract management.md §4.12); with an unknown set
 * nothing changes.
 */
export async function toggleTagOfSets(
  deps: { db: Database },
  { tag, setIds }: { tag: { tenantId: number; id: number }; setIds: readonly number[] },
): Promise<{ assigned: number[]; unassigned: number[] }> {
  const having = (await run(deps.db.pool, setsWithTag, [tag.tenantId, tag.id, setIds])).filter(({ tagged }) => tagged);
  const had = new Set(having.map(({ id }) => id));
  const all = [...new Set(setIds)];
  const assign = all.some((id) => !had.has(id));
  // All sets are passed on, so that one that does not exist is found.
  await changeTagOfSets(deps, { tag, setIds: all, assign });
  return assign ? { assigned: all.filter((id) => !had.has(id)), unassigned: [] } : { assigned: [], unassigned: all };
}
