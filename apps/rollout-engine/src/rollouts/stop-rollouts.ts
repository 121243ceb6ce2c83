import { type Database, runOne } from "@harrier/db";
import type { CallContext, StopRolloutsOfSetRequest, StopRolloutsOfSetResponse } from "@harrier/rpc";
import { stopNextOfSet } from "./stop-rollouts.sql.ts";

interface Deps {
  db: Pick<Database, "pool">;
  /** Wakes the engine of this process; others see the change at their next look. */
  nudge: () => void;
}

/** Their rows stay locked for one statement; who asks asks again until none is left. */
const atOnce = 200;

/**
 * Stops the rollouts of a set that has become invalid (contract rollouts.md §4.9). Each is taken to its end by the engine; the answer says
 * how many have not come there. Idempotent.
 */
export async function stopRolloutsOfSet(
  deps: Deps,
  { setId, keepRunning, initiator }: StopRolloutsOfSetRequest,
  { principal, traceparent }: Pick<CallContext, "principal" | "traceparent">,
): Promise<StopRolloutsOfSetResponse> {
  const { tenantId, tenant } = principal;
  const row = await runOne(deps.db.pool, stopNextOfSet, [tenantId, tenant, setId, keepRunning, atOnce, initiator, traceparent ?? null]);
  if (row === undefined) throw new Error("a count without a row");
  if (row.stopped > 0) deps.nudge();
  return { stopping: row.stopping };
}
