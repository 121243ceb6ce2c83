import type { DistributionSetTypeCreate, TypeUpdate } from "@harrier/contracts";
import { type Database, type IdBlocks, inTransaction, run, runCount, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import { type IfMatch, requireRevision, unmatched } from "@harrier/query";
import type { Actor } from "@harrier/rpc";
import { takeIds } from "../lists/ids.ts";
import { tooManyOwned } from "../quotas/limits.ts";
import type { TypeRow } from "../rows/type.ts";
import {
  deleteSetType,
  findSetTypes,
  insertSetTypes,
  lockSetType,
  readSetTypeUse,
  type SetTypeProblem,
  softDeleteSetType,
  updateSetType,
} from "./set-types.sql.ts";

export interface SetTypeDeps {
  db: Database;
  ids: Pick<IdBlocks, "next" | "take">;
}

export const setTypeNotFound = (id: number) => entityNotFound("DistributionSetType", id);

/** Returns one type of sets; soft-deleted ones can still be read (contract management.md §5.1). */
export async function getSetType(deps: Pick<SetTypeDeps, "db">, tenantId: number, id: number): Promise<TypeRow> {
  const row = await runOne(deps.db.pool, findSetTypes, [tenantId, [id]]);
  if (row === undefined) throw setTypeNotFound(id);
  return row;
}

/** Creates all types with their module types, or none (spec 001 §4.4). */
export async function createSetTypes(deps: SetTypeDeps, actor: Actor, types: readonly DistributionSetTypeCreate[]): Promise<TypeRow[]> {
  if (types.length === 0) return [];
  const ids = await takeIds(deps.ids, actor.tenantId, "set-type", types.length);
  const rows = types.map(({ mandatorymodules, optionalmodules, ...type }, n) => ({
    ...type,
    id: ids[n],
    mandatory: (mandatorymodules ?? []).map((module) => module.id),
    optional: (optionalmodules ?? []).map((module) => module.id),
  }));
  const { tenantId, subject } = actor;
  const problem = await runOne(deps.db.pool, insertSetTypes, [tenantId, JSON.stringify(rows), subject]);
  if (problem !== undefined) throw toError(problem);
  return run(deps.db.pool, findSetTypes, [actor.tenantId, ids]);
}

function toError({ problem, subject, max }: SetTypeProblem): HarrierError {
  switch (problem) {
    case "module-type-unknown":
      return entityNotFound("SoftwareModuleType", Number(subject));
    case "module-type-deleted":
      return new HarrierError("constraintViolation", `The software module type ${subject} is deleted.`);
    case "too-many":
      return tooManyOwned("SOFTWARE_MODULE_TYPES_PER_DISTRIBUTION_SET_TYPE_MAX_COUNT", max, { id: "<new>", added: Number(subject) });
  }
}

/** Changes description and colour, even of a type in use (contract management.md §4.5). */
export async function changeSetType(
  deps: Pick<SetTypeDeps, "db">,
  actor: Actor,
  { id, change, ifMatch }: { id: number; change: TypeUpdate; ifMatch?: IfMatch },
): Promise<TypeRow> {
  const { description = null, colour = null } = change;
  const { tenantId, subject } = actor;
  const row = await runOne(deps.db.pool, updateSetType, [tenantId, id, description, colour, subject, ifMatch ?? null]);
  if (row === undefined) throw await unmatched(ifMatch, setTypeNotFound(id), () => runOne(deps.db.pool, findSetTypes, [tenantId, [id]]));
  return row;
}

/**
 * Deletes a type; the deletion is a soft one while a set is of it. The default type of sets cannot be deleted (contract management.md §4.5,
 * §5.1).
 */
export async function removeSetType(
  deps: Pick<SetTypeDeps, "db">,
  { tenantId, subject }: Actor,
  { id, ifMatch }: { id: number; ifMatch?: IfMatch },
): Promise<void> {
  await inTransaction(deps.db.pool, async (tx) => {
    const type = await runOne(tx, lockSetType, [tenantId, id]);
    if (type === undefined) throw setTypeNotFound(id);
    requireRevision(ifMatch, type);
    if (type.deleted) return;
    const use = await runOne(tx, readSetTypeUse, [tenantId, id]);
    // Every other broken reference is answered in the same way (contract management.md §2.2).
    if (use?.isDefault) throw new HarrierError("entityAlreadyExists", `The distribution set type ${id} is the tenant's default.`);
    if (use?.used) await runCount(tx, softDeleteSetType, [tenantId, id, subject]);
    else await runCount(tx, deleteSetType, [tenantId, id]);
  });
}
