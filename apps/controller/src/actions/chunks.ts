import { forceType } from "@harrier/contracts";
import { type Database, type IdBlocks, runCount, runOne } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import type {
  CallContext,
  CloseFenceRequest,
  OpenFenceRequest,
  ScheduleChunkRequest,
  ScheduleChunkResponse,
  StartChunkRequest,
  StartChunkResponse,
} from "@harrier/rpc";
import { createChunkSize } from "./chunk-size.ts";
import { countMembers, joinChunk as join, scheduleChunk as schedule, setFence, startChunk as start } from "./chunks.sql.ts";
import { forceTimeOf, forceTypeOf } from "./force.ts";
import { policiesOf } from "./policies.ts";
import { windowValues } from "./windows.ts";

interface Deps {
  db: Database;
  ids: Pick<IdBlocks, "take">;
  fault: (name: string) => unknown;
  now: () => number;
}

type Nothing = Record<string, never>;

/** Carries out the chunks of rollouts: each call does the next part of a group and returns where it ended (architecture §2). */
export function createChunks(deps: Deps) {
  const scheduleSize = createChunkSize(4_000);
  const startSize = createChunkSize(3_000);
  return {
    scheduleChunk: (request: ScheduleChunkRequest, ctx: CallContext) => scheduleNext({ ...deps, size: scheduleSize }, request, ctx),
    startChunk: (request: StartChunkRequest, ctx: CallContext) => startNext({ ...deps, size: startSize }, request, ctx),
    openFence: (request: OpenFenceRequest, ctx: CallContext) => moveFence(deps, { ...request, open: true }, ctx),
    closeFence: (request: CloseFenceRequest, ctx: CallContext) => moveFence(deps, { ...request, open: false }, ctx),
  };
}

type Sized = Deps & { size: ReturnType<typeof createChunkSize> };

/** Creates SCHEDULED actions for the next members of a group; idempotent by (rollout, target). Joining members yield to newer rollouts. */
async function scheduleNext(deps: Sized, request: ScheduleChunkRequest, ctx: CallContext): Promise<ScheduleChunkResponse> {
  const set = setOf(request);
  const { tenantId, tenant } = ctx.principal;
  const limit = deps.size.next();
  // It takes no more ids than members: a tenant has 2^31 of them, and most groups are smaller than a chunk.
  const members = await runOne(deps.db.pool, countMembers, [tenantId, request.rolloutId, request.groupId, request.cursor, limit]);
  const firstId = await deps.ids.take(tenantId, "action", members?.n ?? 0);
  await deps.fault("controller.schedule-chunk.before-commit");
  const began = deps.now();
  const row = await runOne(deps.db.pool, request.joining ? join : schedule, [
    tenantId,
    tenant,
    request.rolloutId,
    request.groupId,
    request.epoch,
    request.cursor,
    limit,
    firstId,
    set.id,
    set.name,
    set.version,
    set.migrationStep,
    forceType[forceTypeOf(request.forceType)],
    forceTimeOf(request.forceType, request.forceTime),
    request.weight,
    ...windowValues(request.maintenanceWindow, began),
    request.initiator,
    ctx.traceparent ?? null,
  ]);
  const { cursor, done, created } = unfenced(row);
  deps.size.took(created, deps.now() - began);
  await deps.fault("controller.schedule-chunk.after-commit");
  return { cursor, done, created };
}

/** Starts the next SCHEDULED actions of a group; those that have started already are skipped. */
async function startNext(deps: Sized, request: StartChunkRequest, ctx: CallContext): Promise<StartChunkResponse> {
  const set = setOf(request);
  const { tenantId, tenant } = ctx.principal;
  await deps.fault("controller.start-chunk.before-commit");
  const began = deps.now();
  const row = await runOne(deps.db.pool, start, [
    tenantId,
    tenant,
    request.rolloutId,
    request.groupId,
    request.epoch,
    request.cursor,
    deps.size.next(),
    set.id,
    set.name,
    set.version,
    request.confirmationRequired ?? true,
    request.initiator,
    `Initiated by Rollout Group '${request.groupName}' [Rollout ${request.rolloutName}:${request.rolloutId}]`,
    ctx.traceparent ?? null,
    ...policiesOf(request),
  ]);
  const { cursor, done, started, skipped } = unfenced(row);
  deps.size.took(started + skipped, deps.now() - began);
  await deps.fault("controller.start-chunk.after-commit");
  return { cursor, done, started, skipped };
}

async function moveFence(deps: Deps, fence: { rolloutId: number; epoch: number; open: boolean }, ctx: CallContext): Promise<Nothing> {
  await runCount(deps.db.pool, setFence, [ctx.principal.tenantId, fence.rolloutId, fence.epoch, fence.open]);
  return {};
}

function setOf(request: ScheduleChunkRequest | StartChunkRequest) {
  if (request.set === null) throw new HarrierError("internal", "a chunk without a set");
  return request.set;
}

function unfenced<Row extends { fenced: boolean }>(row: Row | undefined): Row {
  if (row === undefined) throw new HarrierError("internal");
  if (row.fenced) throw new HarrierError("fenced", "the rollout's fence is closed or belongs to another epoch");
  return row;
}
