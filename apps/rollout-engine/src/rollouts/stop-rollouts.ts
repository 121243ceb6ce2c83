import { type Database, runOne } from "@harrier/db";
import type { CallContext, StopRolloutsOfSetRequest, StopRolloutsOfSetResponse } from "@harrier/rpc";
import { stopNextOfSet } from "./stop-rollouts.sql.ts";

interface Deps {
  db: Pick<Database, "pool">;
  /** Wakes the engine of this process; other processes see the change at their next poll. */
  wake: () => void;
}

/** One statement locks so many rows; the caller repeats the request until none is left. */
const chunkSize = 200;

/**
 * Stops the rollouts of a set that has become invalid (contract rollouts.md §4.9). The engine ends each of them; the answer says how many have not
 * ended yet. It is idempotent.
 */
export async function stopRolloutsOfSet(
  deps: Deps,
  { setId, keepRunning, initiator }: StopRolloutsOfSetRequest,
  { principal, traceparent }: Pick<CallContext, "principal" | "traceparent">,
): Promise<StopRolloutsOfSetResponse> {
  const { tenantId, tenant } = principal;
  const row = await runOne(deps.db.pool, stopNextOfSet, [tenantId, tenant, setId, keepRunning, chunkSize, initiator, traceparent ?? null]);
  if (row === undefined) throw new Error("a count without a row");
  if (row.stopped > 0) deps.wake();
  return { stopping: row.stopping };
}
