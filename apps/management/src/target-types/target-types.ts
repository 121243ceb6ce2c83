import type { TargetTypeCreate, TargetTypeUpdate } from "@harrier/contracts";
import { type Database, type IdBlocks, inTransaction, run, runOne } from "@harrier/db";
import { entityNotFound, HarrierError, lacksPermission } from "@harrier/errors";
import { type IfMatch, isInScope, scopeOf, unmatched } from "@harrier/query";
import type { Actor, Identity } from "@harrier/rpc";
import { takeIds } from "../lists/ids.ts";
import { tooManyOwned } from "../quotas/limits.ts";
import type { TargetTypeRow, TypeRow } from "../rows/type.ts";
import {
  addCompatible,
  deleteTargetType,
  findTargetTypes,
  insertTargetTypes,
  lockTargetType,
  readCompatible,
  removeCompatible,
  type TargetTypeProblem,
  updateTargetType,
} from "./target-types.sql.ts";

export interface TargetTypeDeps {
  db: Database;
  ids: Pick<IdBlocks, "next" | "take">;
}

const notFound = (id: number) => entityNotFound("TargetType", id);

/**
 * Returns the id of a type that a permission of the caller covers: for a user who is limited to some types the others do not exist
 * (spec 001 §2.8).
 */
export function reachable(identity: Identity, permission: string, id: number): number {
  if (!isInScope(scopeOf(identity, permission), id)) throw notFound(id);
  return id;
}

/** Refuses users who are restricted to some types: a new type would not be one of them. */
export function checkMayCreate(identity: Identity): void {
  if (scopeOf(identity, "CREATE_TARGET") !== null) throw lacksPermission(["CREATE_TARGET"], "restricted");
}

/** Returns one type of targets (spec 001 §4.5). */
export async function getTargetType(deps: Pick<TargetTypeDeps, "db">, tenantId: number, id: number): Promise<TargetTypeRow> {
  const row = await runOne(deps.db.pool, findTargetTypes, [tenantId, [id]]);
  if (row === undefined) throw notFound(id);
  return row;
}

/** This is the maximum length of a key; a key that is derived from the name has it too (contract management.md §1.6). */
const maxKeyLength = 64;

/** Returns key and name of a new type: where one is missing, it is the same as the other (contract management.md §4.7). */
export function keyAndName({ key, name }: { key?: string | undefined; name?: string | undefined }): { key: string; name: string } {
  const [madeKey, madeName] = [key ?? name, name ?? key];
  if (madeKey === undefined || madeName === undefined) throw new HarrierError("targetTypeKeyOrNameRequired");
  if (madeKey.length > maxKeyLength) {
    throw new HarrierError("constraintViolation", `A name of more than ${maxKeyLength} characters cannot be the key too: give one.`);
  }
  return { key: madeKey, name: madeName };
}

/** Creates all types or none (spec 001 §4.5). */
export async function createTargetTypes(deps: TargetTypeDeps, actor: Actor, types: readonly TargetTypeCreate[]): Promise<TargetTypeRow[]> {
  if (types.length === 0) return [];
  const named = types.map((type) => ({ ...type, ...keyAndName(type) }));
  const ids = await takeIds(deps.ids, actor.tenantId, "target-type", types.length);
  const rows = named.map(({ compatibledistributionsettypes, ...type }, n) => ({
    ...type,
    id: ids[n],
    compatible: (compatibledistributionsettypes ?? []).map((setType) => setType.id),
  }));
  const { tenantId, subject } = actor;
  const problem = await runOne(deps.db.pool, insertTargetTypes, [tenantId, JSON.stringify(rows), subject]);
  if (problem !== undefined) throw toError(problem, "<new>");
  return run(deps.db.pool, findTargetTypes, [actor.tenantId, ids]);
}

function toError({ problem, subject, max }: TargetTypeProblem, id: number | string): HarrierError {
  switch (problem) {
    case "set-type-unknown":
      return entityNotFound("DistributionSetType", Number(subject));
    case "set-type-deleted":
      return new HarrierError("constraintViolation", `The distribution set type ${subject} is deleted.`);
    case "too-many":
      return tooManyOwned("DISTRIBUTION_SET_TYPES_PER_TARGET_TYPE_MAX_COUNT", max, { id, added: Number(subject) });
  }
}

/** Changes a type; its key stays (contract management.md §4.7). */
export async function changeTargetType(
  deps: Pick<TargetTypeDeps, "db">,
  actor: Actor,
  { id, change, ifMatch }: { id: number; change: TargetTypeUpdate; ifMatch?: IfMatch },
): Promise<TargetTypeRow> {
  const { name = null, description = null, colour = null, evidence } = change;
  const rules = evidence === undefined ? null : JSON.stringify(evidence);
  const values = [actor.tenantId, id, name, description, colour, actor.subject, rules, ifMatch ?? null] as const;
  const row = await runOne(deps.db.pool, updateTargetType, [...values]);
  if (row === undefined) throw await missed(deps, { tenantId: actor.tenantId, id, ifMatch });
  return row;
}

/** Deletes a type; this is refused while a target is of it (contract management.md §5.1). */
export async function removeTargetType(
  deps: Pick<TargetTypeDeps, "db">,
  tenantId: number,
  { id, ifMatch }: { id: number; ifMatch?: IfMatch },
): Promise<void> {
  const row = await runOne(deps.db.pool, deleteTargetType, [tenantId, id, ifMatch ?? null]);
  if (row === undefined) throw await missed(deps, { tenantId, id, ifMatch });
  if (!row.deleted) throw new HarrierError("targetTypeUsed");
}

const missed = ({ db }: Pick<TargetTypeDeps, "db">, { tenantId, id, ifMatch }: { tenantId: number; id: number; ifMatch: IfMatch }) =>
  unmatched(ifMatch, notFound(id), () => runOne(db.pool, findTargetTypes, [tenantId, [id]]));

/** Lists all set types that targets of the type may get; if there is none, its targets get nothing (contract management.md §5.3). */
export async function compatibleSetTypes(deps: Pick<TargetTypeDeps, "db">, tenantId: number, id: number): Promise<TypeRow[]> {
  const rows = await run(deps.db.pool, readCompatible, [tenantId, id]);
  if (rows.length === 0) throw notFound(id);
  return rows.filter((row): row is TypeRow => row.id !== null);
}

/** Adds all of these set types or none (spec 001 §4.5). */
export async function addCompatibleSetTypes(
  deps: Pick<TargetTypeDeps, "db">,
  { tenantId, subject }: Actor,
  { id, setTypes }: { id: number; setTypes: number[] },
): Promise<void> {
  await inTransaction(deps.db.pool, async (tx) => {
    if ((await runOne(tx, lockTargetType, [tenantId, id])) === undefined) throw notFound(id);
    const problem = await runOne(tx, addCompatible, [tenantId, id, setTypes, subject]);
    if (problem !== undefined) throw toError(problem, id);
  });
}

/** Removes a set type from those that targets of the type may get; running actions go on. */
export async function removeCompatibleSetType(
  deps: Pick<TargetTypeDeps, "db">,
  { tenantId, subject }: Actor,
  { id, setTypeId }: { id: number; setTypeId: number },
): Promise<void> {
  await inTransaction(deps.db.pool, async (tx) => {
    if ((await runOne(tx, lockTargetType, [tenantId, id])) === undefined) throw notFound(id);
    const removed = await runOne(tx, removeCompatible, [tenantId, id, setTypeId, subject]);
    if (!removed?.known) throw entityNotFound("DistributionSetType", setTypeId);
  });
}
