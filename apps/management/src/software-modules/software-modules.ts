import type { SoftwareModuleCreate, SoftwareModuleUpdate } from "@harrier/contracts";
import { type Database, type IdBlocks, inTransaction, run, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import { type IfMatch, requireRevision, unmatched, withConflicts } from "@harrier/query";
import type { Actor } from "@harrier/rpc";
import { takeIds } from "../lists/ids.ts";
import type { ModuleRow } from "../rows/module.ts";
import {
  deleteModule,
  findModules,
  insertModules,
  lockModule,
  readModuleUse,
  softDeleteModule,
  updateModule,
} from "./software-modules.sql.ts";

export interface ModuleDeps {
  db: Database;
  ids: Pick<IdBlocks, "next" | "take">;
}

/** Returns one module; soft-deleted ones can still be read (contract management.md §4.2). */
export async function getModule(deps: Pick<ModuleDeps, "db">, tenantId: number, id: number): Promise<ModuleRow> {
  const row = await runOne(deps.db.pool, findModules, [tenantId, [id]]);
  if (row === undefined) throw entityNotFound("SoftwareModule", id);
  return row;
}

/** Creates all modules or none (spec 001 §4.4). */
export async function createModules(deps: ModuleDeps, actor: Actor, modules: readonly SoftwareModuleCreate[]): Promise<ModuleRow[]> {
  if (modules.length === 0) return [];
  if (modules.some((module) => module.encrypted)) throw new HarrierError("encryptionNotSupported");
  const ids = await takeIds(deps.ids, actor.tenantId, "module", modules.length);
  const rows = modules.map((module, n) => ({ ...module, id: ids[n] }));
  const problem = await withConflicts(() => runOne(deps.db.pool, insertModules, [actor.tenantId, JSON.stringify(rows), actor.subject]));
  if (problem?.problem === "type-unknown") throw entityNotFound("SoftwareModuleType", problem.type);
  if (problem) throw new HarrierError("constraintViolation", `The software module type '${problem.type}' is deleted.`);
  return run(deps.db.pool, findModules, [actor.tenantId, ids]);
}

/** Changes description, vendor and lock, even of a locked module (contract management.md §4.2). */
export async function changeModule(
  deps: Pick<ModuleDeps, "db">,
  { tenantId, subject }: Actor,
  { id, change, ifMatch }: { id: number; change: SoftwareModuleUpdate; ifMatch?: IfMatch },
): Promise<ModuleRow> {
  const { description = null, vendor = null, locked = null } = change;
  const changed = await withConflicts(() =>
    runOne(deps.db.pool, updateModule, [tenantId, id, description, vendor, locked, subject, ifMatch ?? null]),
  );
  if (changed === undefined) {
    const missing = entityNotFound("SoftwareModule", id);
    throw await unmatched(ifMatch, missing, () => runOne(deps.db.pool, findModules, [tenantId, [id]]));
  }
  return getModule(deps, tenantId, id);
}

/**
 * Deletes a module. The deletion is a soft one where any set has the module, and is refused where a locked set does
 * (contract management.md §5.1). The same transaction stores that its artifacts must be released.
 */
export async function removeModule(
  deps: Pick<ModuleDeps, "db">,
  actor: Actor,
  { id, ifMatch }: { id: number; ifMatch?: IfMatch },
): Promise<void> {
  await withConflicts(() =>
    inTransaction(deps.db.pool, async (tx) => {
      const taken = await runOne(tx, lockModule, [actor.tenantId, id]);
      if (taken === undefined) throw entityNotFound("SoftwareModule", id);
      requireRevision(ifMatch, taken);
      if (taken.deleted) return;
      const use = await runOne(tx, readModuleUse, [actor.tenantId, id]);
      if (use?.inLockedSet) throw new HarrierError("locked", `The software module ${id} belongs to a locked distribution set.`);
      if (use?.inSet) await run(tx, softDeleteModule, [actor.tenantId, id, actor.subject]);
      else await run(tx, deleteModule, [actor.tenantId, id]);
    }),
  );
}
