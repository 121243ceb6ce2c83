import { type Database, inTransaction, run, runCount, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import { withRetries } from "@harrier/query";
import type { ReserveSetResponse } from "@harrier/rpc";
import { explainIncomplete } from "../distribution-sets/explain-incomplete.ts";
import { lockModulesOfSet, takeSetWithModules } from "../distribution-sets/lock-set.ts";
import { endReservations, lockReservedSet, type ReservedRow, reserveSets } from "./reserve-set.sql.ts";

interface Deps {
  db: Database;
}

export interface SetUser {
  tenantId: number;
  subject: string;
}

/**
 * Checks whether a set may be assigned now, and reserves it: invalid, incomplete and deleted sets are refused (contract management.md §5.3,
 * check 6), the others are locked at their first use where the tenant wants that (§5.2). It is idempotent and costs one round trip, apart
 * from the lock.
 */
export async function reserve(deps: Deps, user: SetUser, setId: number): Promise<ReserveSetResponse> {
  const [set] = await reserveAll(deps, user, [setId]);
  return set as ReserveSetResponse;
}

/**
 * Reserves several sets, all or none, and answers in the order given. One statement counts the reservations. Sets that are used for the
 * first time are locked after it, in the order given and each in a transaction of its own, so that a locked set stays locked when a later
 * one fails.
 */
export async function reserveAll(deps: Deps, user: SetUser, setIds: readonly number[]): Promise<ReserveSetResponse[]> {
  const sets = await withRetries(() => take(deps, user, setIds));
  try {
    const reserved: ReserveSetResponse[] = [];
    for (const set of sets) {
      const { id, name, version, typeId, migrationStep } = set;
      const revision = set.locksOnUse && !set.locked ? await lockOnUse(deps, user, set) : set.revision;
      reserved.push({ id, name, version, typeId, migrationStep, revision });
    }
    return reserved;
  } catch (error) {
    // All of the sets are counted by now. A reservation that cannot be ended expires, and the first error is the one to report.
    await endUse(deps, user, setIds).catch(() => undefined);
    throw error;
  }
}

async function take(deps: Deps, user: SetUser, setIds: readonly number[]): Promise<ReservedRow[]> {
  const rows = await run(deps.db.pool, reserveSets, [user.tenantId, setIds]);
  try {
    const sets: ReservedRow[] = [];
    for (const id of setIds) {
      sets.push(await explainIncomplete(deps.db.pool, { tenantId: user.tenantId, id }, async () => reservedOf(rows, id)));
    }
    return sets;
  } catch (error) {
    // One set is refused, so none of the others is reserved either.
    const counted = rows.filter((row) => row.counted).map(({ id }) => id);
    if (counted.length > 0) await endUse(deps, user, counted);
    throw error;
  }
}

function reservedOf(rows: readonly ReservedRow[], setId: number): ReservedRow {
  const set = rows.find(({ id }) => id === setId);
  if (set === undefined) throw entityNotFound("DistributionSet", setId);
  checkAssignable(set);
  // The set was invalidated, emptied or deleted while this waited for its row, so the row that was read is out of date.
  if (set.counted && set.unchanged) return set;
  throw new HarrierError("concurrentModification");
}

/** Throws what is wrong with a set; the order of these errors is part of the contract (management.md §5.3). */
export function checkAssignable(set: Pick<ReservedRow, "valid" | "complete" | "deleted">): void {
  if (!set.valid) throw new HarrierError("setInvalid");
  if (!set.complete) throw new HarrierError("setIncomplete");
  if (set.deleted) throw new HarrierError("deleted", "The distribution set is deleted.");
}

/** Ends the reservations that `reserve` made, once it is certain that they lead to no further action. */
export async function endUse(deps: Deps, user: SetUser, setIds: readonly number[]): Promise<void> {
  await runCount(deps.db.pool, endReservations, [user.tenantId, setIds]);
}

async function lockOnUse(deps: Deps, user: SetUser, { id }: ReservedRow): Promise<number> {
  return withRetries(() =>
    inTransaction(deps.db.pool, async (tx) => {
      const { set, moduleIds } = await takeSetWithModules(tx, user.tenantId, id);
      // Another request may have emptied or invalidated the set since the check.
      checkAssignable(set);
      await lockModulesOfSet(tx, user, moduleIds);
      const locked = await runOne(tx, lockReservedSet, [user.tenantId, id]);
      return locked?.revision ?? set.revision;
    }),
  );
}
