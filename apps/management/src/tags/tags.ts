import type { TagCreate, TagUpdate } from "@harrier/contracts";
import { type Database, type IdBlocks, run, runOne } from "@harrier/db";
import { entityNotFound, type HarrierError } from "@harrier/errors";
import { type IfMatch, unmatched } from "@harrier/query";
import type { Actor } from "@harrier/rpc";
import { takeIds } from "../lists/ids.ts";
import { type TagRow, type TagTable, tagStatements } from "./tags.sql.ts";

export interface TagDeps {
  db: Database;
  ids: Pick<IdBlocks, "next" | "take">;
}

const entityOf = { target_tags: "TargetTag", distribution_set_tags: "DistributionSetTag" } as const;

/** Returns one tag (spec 001 §4.5). */
export async function getTag(
  deps: Pick<TagDeps, "db">,
  table: TagTable,
  { tenantId, id }: { tenantId: number; id: number },
): Promise<TagRow> {
  const row = await runOne(deps.db.pool, tagStatements[table].find, [tenantId, id]);
  if (row === undefined) throw entityNotFound(entityOf[table], id);
  return row;
}

/** Creates all tags or none (contract management.md §4.8). */
export async function createTags(
  deps: TagDeps,
  table: TagTable,
  { actor, tags }: { actor: Actor; tags: readonly TagCreate[] },
): Promise<TagRow[]> {
  if (tags.length === 0) return [];
  const ids = await takeIds(deps.ids, actor.tenantId, table, tags.length);
  const rows = tags.map((tag, n) => ({ ...tag, id: ids[n] }));
  return run(deps.db.pool, tagStatements[table].insert, [actor.tenantId, JSON.stringify(rows), actor.subject]);
}

/** Changes the members that are given. */
export async function changeTag(
  deps: Pick<TagDeps, "db">,
  table: TagTable,
  { actor, id, change, ifMatch }: { actor: Actor; id: number; change: TagUpdate; ifMatch?: IfMatch },
): Promise<TagRow> {
  const { name = null, description = null, colour = null } = change;
  const { tenantId, subject } = actor;
  const row = await runOne(deps.db.pool, tagStatements[table].update, [tenantId, id, name, description, colour, subject, ifMatch ?? null]);
  if (row === undefined) throw await missed(deps, table, { tenantId, id, ifMatch });
  return row;
}

/** Deletes a tag; the targets or sets that had it stay (contract management.md §5.1). */
export async function removeTag(
  deps: Pick<TagDeps, "db">,
  table: TagTable,
  { tenantId, id, ifMatch }: { tenantId: number; id: number; ifMatch?: IfMatch },
): Promise<void> {
  const row = await runOne(deps.db.pool, tagStatements[table].delete, [tenantId, id, ifMatch ?? null]);
  if (row === undefined) throw await missed(deps, table, { tenantId, id, ifMatch });
}

function missed(
  { db }: Pick<TagDeps, "db">,
  table: TagTable,
  { tenantId, id, ifMatch }: { tenantId: number; id: number; ifMatch: IfMatch },
): Promise<HarrierError> {
  return unmatched(ifMatch, entityNotFound(entityOf[table], id), () => runOne(db.pool, tagStatements[table].find, [tenantId, id]));
}
