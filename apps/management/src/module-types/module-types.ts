import type { SoftwareModuleTypeCreate, SoftwareModuleTypeUpdate } from "@harrier/contracts";
import { type Database, type IdBlocks, inTransaction, run, runCount, runOne } from "@harrier/db";
import { entityNotFound } from "@harrier/errors";
import { type IfMatch, requireRevision, unmatched } from "@harrier/query";
import type { Actor } from "@harrier/rpc";
import { takeIds } from "../lists/ids.ts";
import type { ModuleTypeRow } from "../rows/type.ts";
import {
  deleteModuleType,
  findModuleType,
  insertModuleTypes,
  lockModuleType,
  readModuleTypeUse,
  softDeleteModuleType,
  updateModuleType,
} from "./module-types.sql.ts";

export interface ModuleTypeDeps {
  db: Database;
  ids: Pick<IdBlocks, "next" | "take">;
}

const notFound = (id: number) => entityNotFound("SoftwareModuleType", id);

/** Returns one type of modules; soft-deleted ones can still be read (contract management.md §5.1). */
export async function getModuleType(deps: Pick<ModuleTypeDeps, "db">, tenantId: number, id: number): Promise<ModuleTypeRow> {
  const row = await runOne(deps.db.pool, findModuleType, [tenantId, id]);
  if (row === undefined) throw notFound(id);
  return row;
}

/** Creates all types or none (spec 001 §4.4). */
export async function createModuleTypes(
  deps: ModuleTypeDeps,
  actor: Actor,
  types: readonly SoftwareModuleTypeCreate[],
): Promise<ModuleTypeRow[]> {
  if (types.length === 0) return [];
  const ids = await takeIds(deps.ids, actor.tenantId, "module-type", types.length);
  const rows = types.map((type, n) => ({ ...type, id: ids[n] }));
  return run(deps.db.pool, insertModuleTypes, [actor.tenantId, JSON.stringify(rows), actor.subject]);
}

/**
 * Changes description, colour and how many artifacts a module needs, even of a type in use (contract management.md §4.4). Sets that lack
 * artifacts because of this cannot be assigned any more; existing assignments go on.
 */
export async function changeModuleType(
  deps: Pick<ModuleTypeDeps, "db">,
  actor: Actor,
  { id, change, ifMatch }: { id: number; change: SoftwareModuleTypeUpdate; ifMatch?: IfMatch },
): Promise<ModuleTypeRow> {
  const { description = null, colour = null, minArtifacts = null } = change;
  const { tenantId, subject } = actor;
  const row = await runOne(deps.db.pool, updateModuleType, [tenantId, id, description, colour, minArtifacts, subject, ifMatch ?? null]);
  if (row === undefined) throw await unmatched(ifMatch, notFound(id), () => runOne(deps.db.pool, findModuleType, [tenantId, id]));
  return row;
}

/** Deletes a type; the deletion is a soft one while a module is of it or a set type lists it (contract management.md §5.1). */
export async function removeModuleType(
  deps: Pick<ModuleTypeDeps, "db">,
  { tenantId, subject }: Actor,
  { id, ifMatch }: { id: number; ifMatch?: IfMatch },
): Promise<void> {
  await inTransaction(deps.db.pool, async (tx) => {
    const type = await runOne(tx, lockModuleType, [tenantId, id]);
    if (type === undefined) throw notFound(id);
    requireRevision(ifMatch, type);
    if (type.deleted) return;
    const use = await runOne(tx, readModuleTypeUse, [tenantId, id]);
    if (use?.used) await runCount(tx, softDeleteModuleType, [tenantId, id, subject]);
    else await runCount(tx, deleteModuleType, [tenantId, id]);
  });
}
