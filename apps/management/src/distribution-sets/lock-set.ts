import { type Queryable, run, runCount, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import { lockSet, type SetState } from "./distribution-sets.sql.ts";
import { lockModules, modulesAreStill, takeModulesOfSet } from "./set-modules.sql.ts";

/** Locks a set until the end of the transaction, or throws that it does not exist. */
export async function takeSet(tx: Queryable, tenantId: number, id: number): Promise<SetState> {
  const set = await runOne(tx, lockSet, [tenantId, id]);
  if (set === undefined) throw entityNotFound("DistributionSet", id);
  return set;
}

/**
 * Locks a set together with its modules, modules first (the lock order of the migration). Modules may change until the set is locked, so
 * the list is compared again then; in that rare case the whole transaction has to be repeated (`withRetries`).
 */
export async function takeSetWithModules(tx: Queryable, tenantId: number, id: number): Promise<{ set: SetState; moduleIds: number[] }> {
  const moduleIds = (await run(tx, takeModulesOfSet, [tenantId, id])).map((row) => row.id);
  const set = await takeSet(tx, tenantId, id);
  const check = await runOne(tx, modulesAreStill, [tenantId, id, moduleIds]);
  if (!check?.same) throw new HarrierError("concurrentModification");
  return { set, moduleIds };
}

/** Locks the modules of a locked set (contract management.md §5.2). */
export async function lockModulesOfSet(
  tx: Queryable,
  { tenantId, subject }: { tenantId: number; subject: string },
  ids: number[],
): Promise<void> {
  await runCount(tx, lockModules, [tenantId, ids, subject]);
}
