import type { DistributionSetCreate, DistributionSetUpdate } from "@harrier/contracts";
import { type Database, type IdBlocks, inTransaction, type Queryable, run, runCount, runOne } from "@harrier/db";
import { entityNotFound, HarrierError, setIncomplete } from "@harrier/errors";
import { type IfMatch, requireRevision, withConflicts, withRetries } from "@harrier/query";
import type { Actor } from "@harrier/rpc";
import type { FaultPoint } from "@harrier/service";
import { takeIds } from "../lists/ids.ts";
import type { SetRow } from "../rows/set.ts";
import { insertSets, type SetProblem } from "./create-sets.sql.ts";
import { deleteSet, findSets, readSetUse, type SetState, softDeleteSet, updateSet } from "./distribution-sets.sql.ts";
import { explainIncomplete } from "./explain-incomplete.ts";
import { lockModulesOfSet, takeSet, takeSetWithModules } from "./lock-set.ts";

export interface SetDeps {
  db: Database;
  ids: Pick<IdBlocks, "next" | "take">;
  fault: (point: FaultPoint) => void | Promise<void>;
}

/** Returns one set; soft-deleted ones can still be read (contract management.md §4.1). */
export async function getSet(deps: Pick<SetDeps, "db">, tenantId: number, id: number): Promise<SetRow> {
  const row = await runOne(deps.db.pool, findSets, [tenantId, [id]]);
  if (row === undefined) throw entityNotFound("DistributionSet", id);
  return row;
}

/** Returns those of the given sets that exist, by id. */
export async function getSets(deps: Pick<SetDeps, "db">, tenantId: number, ids: number[]): Promise<SetRow[]> {
  return ids.length === 0 ? [] : run(deps.db.pool, findSets, [tenantId, ids]);
}

/** Creates all sets with their modules, or none (spec 001 §4.1). One statement stores them, one reads them back. */
export async function createSets(deps: SetDeps, actor: Actor, sets: readonly DistributionSetCreate[]): Promise<SetRow[]> {
  if (sets.length === 0) return [];
  const ids = await takeIds(deps.ids, actor.tenantId, "set", sets.length);
  const rows = sets.map(({ modules, requiredMigrationStep, ...set }, n) => ({
    ...set,
    id: ids[n],
    migrationStep: requiredMigrationStep,
    modules: modules.map((module) => module.id),
  }));
  await withRetries(async () => {
    const problem = await runOne(deps.db.pool, insertSets, [actor.tenantId, JSON.stringify(rows), actor.subject]);
    if (problem) throw toError(problem);
  });
  await deps.fault("management.create-set.after-commit");
  return run(deps.db.pool, findSets, [actor.tenantId, ids]);
}

function toError({ problem, subject, ...gaps }: SetProblem): HarrierError {
  switch (problem) {
    case "type-unknown":
      return entityNotFound("DistributionSetType", subject);
    case "type-deleted":
      return new HarrierError("constraintViolation", `The distribution set type '${subject}' is deleted.`);
    case "type-changed":
      return new HarrierError("concurrentModification");
    case "module-unknown":
      return entityNotFound("SoftwareModule", Number(subject));
    case "module-unsupported":
      return new HarrierError(
        "modulesUnsupported",
        `The type of the software module ${subject} is not in the type of the distribution set.`,
      );
    case "incomplete":
      return setIncomplete(gaps, `The distribution set '${subject}' is incomplete and cannot be locked.`);
  }
}

/** Changes a set; absent members stay (contract management.md §4.1, §5.2). Locking it locks its modules too. */
export async function changeSet(
  deps: Pick<SetDeps, "db">,
  actor: Actor,
  { id, change, ifMatch }: { id: number; change: DistributionSetUpdate; ifMatch?: IfMatch },
): Promise<SetRow> {
  const { tenantId } = actor;
  await explainIncomplete(deps.db.pool, { tenantId, id }, () =>
    withRetries(() => inTransaction(deps.db.pool, (tx) => writeChange(tx, actor, { id, change, ifMatch }))),
  );
  return getSet(deps, tenantId, id);
}

async function writeChange(
  tx: Queryable,
  actor: Actor,
  { id, change, ifMatch }: { id: number; change: DistributionSetUpdate; ifMatch: IfMatch },
): Promise<void> {
  const { tenantId } = actor;
  const { set, moduleIds } =
    change.locked === true ? await takeSetWithModules(tx, tenantId, id) : { set: await takeSet(tx, tenantId, id), moduleIds: [] };
  checkSetChange(set, change);
  requireRevision(ifMatch, set);
  const flagMoves = change.requiredMigrationStep !== undefined && change.requiredMigrationStep !== set.migrationStep;
  if (flagMoves && (await runOne(tx, readSetUse, [tenantId, id]))?.inActions) {
    throw new HarrierError("entityReadOnly", `The distribution set ${id} is assigned: its migration flag is fixed.`);
  }
  const { name = null, version = null, description = null, locked = null, requiredMigrationStep = null } = change;
  await runCount(tx, updateSet, [tenantId, id, name, version, description, locked, requiredMigrationStep, actor.subject]);
  if (moduleIds.length > 0) await lockModulesOfSet(tx, actor, moduleIds);
}

/** Checks whether a set may be changed, and whether the requested values are allowed. */
export function checkSetChange(set: SetState, change: DistributionSetUpdate): void {
  if (set.deleted) throw new HarrierError("deleted", "The distribution set is deleted.");
  if (!set.valid) throw new HarrierError("setInvalid");
  if (change.locked === true && !set.complete) throw new HarrierError("setIncomplete");
}

/**
 * Deletes a set. The deletion is a soft one while an action or a rollout refers to the set (contract management.md §5.1), or while an
 * assignment is on its way to controller, whose actions must find their set.
 */
export async function removeSet(
  deps: Pick<SetDeps, "db">,
  actor: Actor,
  { id, ifMatch }: { id: number; ifMatch?: IfMatch },
): Promise<void> {
  await withConflicts(() =>
    inTransaction(deps.db.pool, async (tx) => {
      const set = await takeSet(tx, actor.tenantId, id);
      requireRevision(ifMatch, set);
      if (set.deleted) return;
      const use = await runOne(tx, readSetUse, [actor.tenantId, id]);
      const referenced = use === undefined || use.inActions || use.inRollouts || use.reserved;
      if (referenced) await runCount(tx, softDeleteSet, [actor.tenantId, id, actor.subject]);
      else await runCount(tx, deleteSet, [actor.tenantId, id]);
    }),
  );
}
