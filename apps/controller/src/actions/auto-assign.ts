import { forceType } from "@harrier/contracts";
import { runOne } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import type { AutoAssignChunkRequest, AutoAssignChunkResponse, CallContext } from "@harrier/rpc";
import { evictForCandidates } from "../cleanup/cleanup.sql.ts";
import { evictionPercent } from "../cleanup/rules.ts";
import type { AssignDeps } from "./assign.ts";
import { autoAssignChunk as assign, countCandidates } from "./auto-assign.sql.ts";
import { createChunkSize } from "./chunk-size.ts";
import { forceTypeOf } from "./force.ts";
import { policiesOf } from "./policies.ts";
import { windowValues } from "./windows.ts";

/** Carries out the chunks of auto-assignments (contract management.md §5.8); like those of rollouts, each returns where it ended. */
export function createAutoAssign(deps: AssignDeps) {
  const size = createChunkSize(2_000);
  return {
    autoAssignChunk: (request: AutoAssignChunkRequest, ctx: CallContext) => assignNext({ ...deps, size }, request, ctx),
  };
}

type Sized = AssignDeps & { size: ReturnType<typeof createChunkSize> };

/** Assigns the filter's set to the next candidates that never had it. A target with too many actions is skipped. */
async function assignNext(deps: Sized, request: AutoAssignChunkRequest, ctx: CallContext): Promise<AutoAssignChunkResponse> {
  const { set, filterId, epoch, pass, cursor } = request;
  if (set === null) throw new HarrierError("internal", "a chunk without a set");
  const { tenantId, tenant } = ctx.principal;
  const limit = deps.size.next();
  const candidates = await runOne(deps.db.pool, countCandidates, [tenantId, filterId, pass, cursor, limit]);
  if (!candidates?.n) return { cursor, done: true, created: 0 };
  const max = deps.limits(tenantId).ACTIONS_PER_TARGET_MAX_COUNT;
  const percent = max > 0 ? evictionPercent(deps.settings.get(tenantId)) : 0;
  if (percent > 0) await runOne(deps.db.pool, evictForCandidates, [tenantId, filterId, pass, cursor, limit, max, percent]);
  const firstId = await deps.ids.take(tenantId, "action", candidates.n);
  const began = deps.now();
  const row = await runOne(deps.db.pool, assign, [
    tenantId,
    tenant,
    filterId,
    epoch,
    pass,
    cursor,
    limit,
    firstId,
    set.id,
    set.name,
    set.version,
    set.typeId,
    set.migrationStep,
    forceType[forceTypeOf(request.forceType)],
    request.weight,
    ...windowValues(request.maintenanceWindow, began),
    request.confirmationRequired ?? true,
    max,
    request.initiator,
    `Auto assignment: ${request.filterName}`,
    ctx.traceparent ?? null,
    ...policiesOf(request),
  ]);
  if (row === undefined) throw new HarrierError("internal");
  if (row.fenced) throw new HarrierError("fenced", "the filter assigns this set no more");
  deps.size.took(row.created, deps.now() - began);
  await deps.fault("controller.auto-assign-chunk.after-commit");
  return { cursor: row.cursor, done: row.done, created: row.created };
}
