import { type Database, runOne } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import type { CallContext, CancelSetChunkRequest, CancelSetChunkResponse, StopChunkRequest, StopChunkResponse } from "@harrier/rpc";
import { createChunkSize } from "./chunk-size.ts";
import { cancelSetChunk as cancel, stopChunk as stop } from "./ends.sql.ts";

interface Deps {
  db: Database;
  fault: (name: string) => unknown;
  now: () => number;
}

type Sized = Deps & { size: ReturnType<typeof createChunkSize> };

/** Ends the actions of rollouts and of sets: each call does the next part and returns where it ended. A repeated call finds nothing left to do. */
export function createEnds(deps: Deps) {
  const stopSize = createChunkSize(3_000);
  const cancelSize = createChunkSize(3_000);
  return {
    stopChunk: (request: StopChunkRequest, ctx: CallContext) => stopNext({ ...deps, size: stopSize }, request, ctx),
    cancelSetChunk: (request: CancelSetChunkRequest, ctx: CallContext) => cancelNext({ ...deps, size: cancelSize }, request, ctx),
  };
}

/** Ends the next actions of a rollout (contract rollouts.md §4.1, STOPPING; by force: DELETING). Its fence must be closed before. */
async function stopNext(deps: Sized, request: StopChunkRequest, ctx: CallContext): Promise<StopChunkResponse> {
  const { tenantId, tenant } = ctx.principal;
  const { rolloutId, cursor, keepRunning, force, initiator } = request;
  const limit = deps.size.next();
  const began = deps.now();
  const traceparent = ctx.traceparent ?? null;
  const row = await runOne(deps.db.pool, stop, [tenantId, tenant, rolloutId, cursor, limit, !keepRunning, force, initiator, traceparent]);
  if (row === undefined) throw new HarrierError("internal");
  if (row.fenced) throw new HarrierError("fenced", "the rollout's fence is still open");
  deps.size.took(row.removed + row.canceled, deps.now() - began);
  await deps.fault("controller.stop-chunk.after-commit");
  return { cursor: row.cursor, done: row.done, removed: row.removed, canceled: row.canceled };
}

/** Cancels the next open actions of a set (contract rollouts.md §4.9). */
async function cancelNext(deps: Sized, request: CancelSetChunkRequest, ctx: CallContext): Promise<CancelSetChunkResponse> {
  const { tenantId, tenant } = ctx.principal;
  const { setId, cursor, force, initiator } = request;
  const limit = deps.size.next();
  const began = deps.now();
  const row = await runOne(deps.db.pool, cancel, [tenantId, tenant, setId, cursor, limit, force, initiator, ctx.traceparent ?? null]);
  if (row === undefined) throw new HarrierError("internal");
  deps.size.took(row.canceled, deps.now() - began);
  await deps.fault("controller.cancel-set-chunk.after-commit");
  return row;
}
