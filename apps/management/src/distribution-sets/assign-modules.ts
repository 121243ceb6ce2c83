import type { Surface } from "@harrier/contracts";
import { type Database, inTransaction, type Queryable, run, runCount, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import { withConflicts } from "@harrier/query";
import type { Actor } from "@harrier/rpc";
import { checkOwned } from "../quotas/limits.ts";
import { readSetUse } from "./distribution-sets.sql.ts";
import { takeSet } from "./lock-set.ts";
import { planModules, shareModules, unlinkModule, writeModules } from "./set-modules.sql.ts";

/**
 * Adds modules to a set (spec 001 §4.1). A module that the set has already stays; of too many modules of one type the newest remain. The
 * modules of a set that any action refers to cannot change (403, which is checked before the lock: 423).
 */
export async function assignModules(
  deps: { db: Database },
  actor: Actor,
  { id, modules, surface }: { id: number; modules: number[]; surface?: Surface },
): Promise<void> {
  const { tenantId } = actor;
  await withConflicts(() =>
    inTransaction(deps.db.pool, async (tx) => {
      const found = new Set((await run(tx, shareModules, [tenantId, modules])).map((row) => row.id));
      await takeForModules(tx, tenantId, { id, surface });
      const missing = modules.find((module) => !found.has(module));
      if (missing !== undefined) throw entityNotFound("SoftwareModule", missing);
      const plan = await runOne(tx, planModules, [tenantId, id, modules]);
      if (plan?.unsupported) {
        throw new HarrierError("modulesUnsupported", `The type of the software module ${plan.unsupported} is not in the type of the set.`);
      }
      if (plan) {
        const { size, added, max } = plan;
        checkOwned("SOFTWARE_MODULES_PER_DISTRIBUTION_SET_MAX_COUNT", max, { id, held: size - added, added });
      }
      await runCount(tx, writeModules, [tenantId, id, modules, actor.subject]);
    }),
  );
}

/** Removes a module from a set; it is no error that the set does not have it (contract management.md §4.1). */
export async function removeModuleOfSet(
  deps: { db: Database },
  { tenantId, subject }: Actor,
  { id, moduleId, surface }: { id: number; moduleId: number; surface?: Surface },
): Promise<void> {
  await inTransaction(deps.db.pool, async (tx) => {
    await takeForModules(tx, tenantId, { id, surface });
    const removed = await runOne(tx, unlinkModule, [tenantId, id, moduleId, subject]);
    if (!removed?.known) throw entityNotFound("SoftwareModule", moduleId);
  });
}

/**
 * Locks a set whose modules may change; the order of these errors is part of the contract (management.md §4.1). hawkBit 1.x checks the lock
 * alone, which an assigned set has unless a user has removed it, so that in its dialect the lock is checked first.
 */
async function takeForModules(
  tx: Queryable,
  tenantId: number,
  { id, surface }: { id: number; surface: Surface | undefined },
): Promise<void> {
  const set = await takeSet(tx, tenantId, id);
  if (set.deleted) throw new HarrierError("deleted", "The distribution set is deleted.");
  if (!set.valid) throw new HarrierError("setInvalid");
  const locked = new HarrierError("locked", `The distribution set ${id} is locked.`);
  if (set.locked && surface === "rest") throw locked;
  if ((await runOne(tx, readSetUse, [tenantId, id]))?.inActions) throw new HarrierError("entityReadOnly");
  if (set.locked) throw locked;
}
