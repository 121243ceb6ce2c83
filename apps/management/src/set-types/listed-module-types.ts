import { type Database, inTransaction, type Queryable, run, runCount, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import type { Actor } from "@harrier/rpc";
import { checkOwned } from "../quotas/limits.ts";
import type { ModuleTypeRow } from "../rows/type.ts";
import {
  findListedModuleType,
  type ListedModuleType,
  type ListingState,
  listModuleType,
  readListedModuleTypes,
  readListing,
  unlistModuleType,
} from "./listed-module-types.sql.ts";
import { lockSetType, readSetTypeUse } from "./set-types.sql.ts";
import { setTypeNotFound } from "./set-types.ts";

interface Deps {
  db: Database;
}

/** This is a module type in one of the two lists of a set type. */
export interface Listing {
  setTypeId: number;
  moduleTypeId: number;
  mandatory: boolean;
}

const isListed = (row: ListedModuleType): row is ModuleTypeRow => row.id !== null;
const moduleTypeNotFound = (id: number) => entityNotFound("SoftwareModuleType", id);

/** Returns one whole list of a set type (contract management.md §4.5: the list is not paged). */
export async function listedModuleTypes(deps: Deps, tenantId: number, list: Omit<Listing, "moduleTypeId">): Promise<ModuleTypeRow[]> {
  const rows = await run(deps.db.pool, readListedModuleTypes, [tenantId, list.setTypeId, list.mandatory]);
  if (rows.length === 0) throw setTypeNotFound(list.setTypeId);
  return rows.filter(isListed);
}

/** Returns one module type of a list; one that is in the other list is unknown here (contract management.md §4.5). */
export async function listedModuleType(deps: Deps, tenantId: number, listing: Listing): Promise<ModuleTypeRow> {
  const { setTypeId, moduleTypeId, mandatory } = listing;
  const row = await runOne(deps.db.pool, findListedModuleType, [tenantId, setTypeId, mandatory, moduleTypeId]);
  if (row === undefined) throw setTypeNotFound(setTypeId);
  if (!isListed(row)) throw moduleTypeNotFound(moduleTypeId);
  return row;
}

/** Adds a module type to a list, or moves it there from the other list (spec 001 §4.4). */
export async function addModuleType(deps: Deps, { tenantId, subject }: Actor, listing: Listing): Promise<void> {
  const { setTypeId, moduleTypeId, mandatory } = listing;
  await inTransaction(deps.db.pool, async (tx) => {
    const state = await takeForChange(tx, tenantId, listing);
    if (state.deleted) throw new HarrierError("constraintViolation", `The software module type ${moduleTypeId} is deleted.`);
    const { held, listed, max } = state;
    checkOwned("SOFTWARE_MODULE_TYPES_PER_DISTRIBUTION_SET_TYPE_MAX_COUNT", max, { id: setTypeId, held, added: listed ? 0 : 1 });
    await runCount(tx, listModuleType, [tenantId, setTypeId, moduleTypeId, subject, mandatory]);
  });
}

/** Removes a module type from the list that has it; it is no error that neither has it (contract management.md §4.5). */
export async function removeListedModuleType(deps: Deps, actor: Actor, listing: Omit<Listing, "mandatory">): Promise<void> {
  const { tenantId, subject } = actor;
  await inTransaction(deps.db.pool, async (tx) => {
    await takeForChange(tx, tenantId, listing);
    await runCount(tx, unlistModuleType, [tenantId, listing.setTypeId, listing.moduleTypeId, subject]);
  });
}

/**
 * Refuses to change a set type that any set is of, deleted ones included: what makes a set complete must not change while the set exists
 * (spec 001 §4.4).
 */
async function takeForChange(
  tx: Queryable,
  tenantId: number,
  { setTypeId, moduleTypeId }: Omit<Listing, "mandatory">,
): Promise<ListingState & { deleted: boolean }> {
  const type = await runOne(tx, lockSetType, [tenantId, setTypeId]);
  if (type === undefined) throw setTypeNotFound(setTypeId);
  const use = await runOne(tx, readSetTypeUse, [tenantId, setTypeId]);
  if (use?.used) throw new HarrierError("entityReadOnly", `The distribution set type ${setTypeId} is in use: its lists are fixed.`);
  const state = await runOne(tx, readListing, [tenantId, setTypeId, moduleTypeId]);
  if (state === undefined || state.deleted === null) throw moduleTypeNotFound(moduleTypeId);
  return { ...state, deleted: state.deleted };
}
