import type { DistributionSetInvalidation } from "@harrier/contracts";
import { type Database, inTransaction, run, runOne } from "@harrier/db";
import { HarrierError, lacksPermission } from "@harrier/errors";
import { scopeOf } from "@harrier/query";
import type { Identity } from "@harrier/rpc";
import type { FaultPoint } from "@harrier/service";
import { explainIncomplete } from "../distribution-sets/explain-incomplete.ts";
import { takeSet } from "../distribution-sets/lock-set.ts";
import { beginInvalidation, type Invalidation, invalidate } from "./invalidation.sql.ts";
import { leaseSeconds } from "./invalidation-worker.ts";

export interface InvalidationDeps {
  db: Pick<Database, "pool">;
  invalidations: { carryOut(invalidation: Invalidation, untilMs: number): Promise<boolean> };
  /** The rest is carried out in the background. */
  wakeInvalidations: () => void;
  fault: (point: FaultPoint) => void | Promise<void>;
  now: () => number;
}

/** Most invalidations are finished within this time, when the caller is answered; the others go on in the background. */
const firstRoundMs = 3_000;

/**
 * Makes a set invalid for good (spec 001 §3; contract management.md §5.2, rollouts.md §4.9): from the commit on it is neither assigned nor
 * given by a filter. A durable operation ends its rollouts and actions; it begins here and is finished even if this process dies.
 */
export async function invalidateSet(
  deps: InvalidationDeps,
  identity: Identity,
  { id, requested }: { id: number; requested: DistributionSetInvalidation },
): Promise<void> {
  const { tenantId, tenant, subject } = identity;
  const { actionCancelationType: cancel, cancelRollouts } = requested;
  const stopRollouts = cancelRollouts || cancel !== "none";
  checkReach(identity, stopRollouts);
  const begun = await explainIncomplete(deps.db.pool, { tenantId, id }, () =>
    inTransaction(deps.db.pool, async (tx) => {
      const set = await takeSet(tx, tenantId, id);
      if (set.deleted) throw new HarrierError("deleted", "The distribution set is deleted.");
      if (!set.valid) throw new HarrierError("setInvalid");
      if (!set.complete) throw new HarrierError("setIncomplete");
      await run(tx, invalidate, [tenantId, id, subject]);
      if (!stopRollouts) return undefined;
      return runOne(tx, beginInvalidation, [tenantId, id, tenant, cancel, stopRollouts, leaseSeconds, subject]);
    }),
  );
  await deps.fault("management.invalidate-set.after-commit");
  if (begun !== undefined && !(await deps.invalidations.carryOut(begun, deps.now() + firstRoundMs))) deps.wakeInvalidations();
}

/**
 * Refuses a user who is restricted to target types, because the end of rollouts and actions concerns all targets. The route's permissions
 * are enough (spec 001 §4.1).
 */
function checkReach(identity: Identity, stopRollouts: boolean): void {
  if (stopRollouts && scopeOf(identity, "UPDATE_TARGET") !== null) throw lacksPermission(["UPDATE_TARGET"], "restricted");
}
