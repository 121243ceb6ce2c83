import { randomBytes } from "node:crypto";
import {
  type Database,
  digest,
  duplicateOf,
  type IdBlocks,
  inTransaction,
  type Queryable,
  run,
  runCount,
  runOne,
  type SecretBox,
} from "@harrier/db";
import { entityNotFound, HarrierError, lacksPermission } from "@harrier/errors";
import type {
  CallContext,
  CreateTargetsRequest,
  CreateTargetsResponse,
  DeleteTargetsByIdRequest,
  DeleteTargetsByIdResponse,
  DeleteTargetsRequest,
  DeleteTargetsResponse,
  ReadSecurityTokensRequest,
  ReadSecurityTokensResponse,
  UpdateTargetRequest,
} from "@harrier/rpc";
import { tooManyTargets } from "../domain/quota-exceeded.ts";
import type { LimitsOf } from "../domain/quotas.ts";
import {
  declineAttributes,
  createTargets as insertTargets,
  lockTarget,
  type NewTargets,
  readTokens,
  readTokensById,
  deleteTargets as removeTargets,
  deleteTargetsById as removeTargetsById,
  updateTarget as writeTarget,
} from "./targets.sql.ts";

export interface TargetDeps {
  db: Database;
  ids: Pick<IdBlocks, "take">;
  secrets: SecretBox;
  limits: LimitsOf;
  fault: (name: string) => unknown;
}

/** Returns the target types to which a caller's permission is restricted; null means not restricted (spec 001 §5). */
export function scopeOf(ctx: Pick<CallContext, "principal">, permission: string): number[] | null {
  const scope = ctx.principal.targetTypeScopes?.[permission];
  return scope === undefined ? null : [...scope];
}

export const newToken = (): string => randomBytes(16).toString("hex");

/** Creates all targets or none, in one statement (contract management.md §4.6). A repeated command gets the first one's targets and their tokens. */
export async function createTargets(deps: TargetDeps, request: CreateTargetsRequest, ctx: CallContext): Promise<CreateTargetsResponse> {
  const { principal } = ctx;
  const items = request.targets;
  if (items.length === 0) return { targets: [] };
  const scope = scopeOf(ctx, "CREATE_TARGET");
  if (scope !== null && items.some((i) => i.targetTypeId === undefined || !scope.includes(i.targetTypeId))) {
    throw lacksPermission(["CREATE_TARGET"], "restricted");
  }
  const max = deps.limits(principal.tenantId).TARGETS_MAX_COUNT;
  const tokens = items.map((i) => i.securityToken ?? newToken());
  const values: NewTargets = [
    principal.tenantId,
    principal.tenant,
    ctx.commandId ?? "",
    await deps.ids.take(principal.tenantId, "target", items.length),
    items.map((i) => i.controllerId),
    items.map((i) => i.name),
    items.map((i) => i.description ?? null),
    items.map((i) => i.address ?? null),
    tokens.map((t) => digest(t)),
    tokens.map((t) => deps.secrets.seal(t)),
    items.map((i) => i.targetTypeId ?? null),
    principal.subject,
    ctx.traceparent ?? null,
    max,
    items.map((i) => i.group || null),
  ];
  const silent = new Set(items.filter((i) => i.requestAttributes === false).map((i) => i.controllerId));
  const row = await insert(deps, values, [...silent]).catch(rethrowDuplicate);
  await deps.fault("controller.create-targets.after-commit");
  const answer = row?.answer;
  if (answer?.outcome === "typeNotFound") throw entityNotFound("TargetType", answer.type);
  if (answer?.outcome === "quota") throw tooManyTargets(principal.tenant, items.length, max);
  const rows = await run(deps.db.pool, readTokensById, [principal.tenantId, answer?.ids ?? []]);
  return { targets: rows.map((r) => ({ id: r.id, controllerId: r.controllerId, securityToken: deps.secrets.open(r.cipher) })) };
}

/**
 * Targets whose attributes are not requested are updated in the transaction that creates them, so that their first poll already shows it;
 * others need no transaction.
 */
async function insert(deps: TargetDeps, values: NewTargets, silent: string[]) {
  if (silent.length === 0) return runOne(deps.db.pool, insertTargets, values);
  return inTransaction(deps.db.pool, async (tx) => {
    const row = await runOne(tx, insertTargets, values);
    if (row?.answer.outcome === "ok") await runCount(tx, declineAttributes, [values[0], silent, row.answer.ids ?? []]);
    return row;
  });
}

export function rethrowDuplicate(error: unknown): never {
  const { code, constraint } = error as { code?: string; constraint?: string };
  if (code === "23505" && constraint === "targets_controller_id") {
    const duplicate = duplicateOf(error);
    throw new HarrierError("entityAlreadyExists", "A target with the given controllerId already exists.", {
      info: duplicate && { duplicate },
      cause: error,
    });
  }
  throw error;
}

/** Changes the members that are given; every gateway evicts a changed token (architecture §2). */
export async function updateTarget(deps: TargetDeps, request: UpdateTargetRequest, ctx: CallContext): Promise<Record<string, never>> {
  const { principal } = ctx;
  const token = request.securityToken;
  const scope = scopeOf(ctx, "UPDATE_TARGET");
  // A target must not be moved out of the types that the caller may touch, no more than created there.
  if (scope !== null && request.targetTypeId !== undefined && !scope.includes(request.targetTypeId)) {
    throw lacksPermission(["UPDATE_TARGET"], "restricted");
  }
  const write = (db: Queryable) =>
    runOne(db, writeTarget, [
      principal.tenantId,
      request.controllerId,
      request.name ?? null,
      request.description ?? null,
      request.address ?? null,
      token === undefined ? null : digest(token),
      token === undefined ? null : deps.secrets.seal(token),
      request.requestAttributes ?? null,
      request.targetTypeId ?? null,
      scope,
      principal.subject,
      request.group ?? null,
    ]);
  const row = await asRead(deps, { ...request, scope, ctx }, write);
  if (row?.outcome === "targetNotFound") throw entityNotFound("Target", request.controllerId);
  if (row?.outcome === "typeNotFound") throw entityNotFound("TargetType", request.targetTypeId);
  return {};
}

/** Deletes targets with everything they own; unknown ones and those out of the caller's scope are not counted. */
export async function deleteTargets(deps: TargetDeps, request: DeleteTargetsRequest, ctx: CallContext): Promise<DeleteTargetsResponse> {
  const { tenantId, tenant, subject } = ctx.principal;
  const scope = scopeOf(ctx, "DELETE_TARGET");
  const { controllerIds, ifRevisions } = request;
  const remove = (db: Queryable) => runOne(db, removeTargets, [tenantId, tenant, controllerIds, scope, subject, ctx.traceparent ?? null]);
  const row = await asRead(deps, { controllerId: controllerIds[0] ?? "", ifRevisions, scope, ctx }, remove);
  return { deleted: row?.deleted ?? 0 };
}

/**
 * Changes one target. Where the caller demands a revision (ADR 40), the target is locked first and keeps its revision until the change is made.
 * @throws entityChanged
 */
async function asRead<T>(
  { db }: Pick<TargetDeps, "db">,
  demand: { controllerId: string; ifRevisions?: readonly number[] | undefined; scope: number[] | null; ctx: CallContext },
  change: (db: Queryable) => Promise<T>,
): Promise<T> {
  const { controllerId, ifRevisions = [], scope, ctx } = demand;
  if (ifRevisions.length === 0) return change(db.pool);
  return inTransaction(db.pool, async (tx) => {
    const row = await runOne(tx, lockTarget, [ctx.principal.tenantId, controllerId, scope]);
    if (row !== undefined && !ifRevisions.includes(row.revision)) throw new HarrierError("entityChanged");
    return change(tx);
  });
}

/**
 * Deletes targets of a list that was made before (contract extensions.md, delete targets by query): a controllerId of it may be another target's by
 * now, an id never is. It is idempotent; a scope that is given still applies.
 */
export async function deleteTargetsById(
  deps: TargetDeps,
  request: DeleteTargetsByIdRequest,
  ctx: CallContext,
): Promise<DeleteTargetsByIdResponse> {
  const { tenantId, tenant } = ctx.principal;
  const scope = scopeOf(ctx, "DELETE_TARGET");
  const { targetIds, initiator } = request;
  const row = await runOne(deps.db.pool, removeTargetsById, [tenantId, tenant, targetIds, scope, initiator, ctx.traceparent ?? null]);
  await deps.fault("controller.delete-targets.after-commit");
  return { deleted: row?.deleted ?? 0 };
}

/** Reads security tokens in clear text, for callers that have checked READ_TARGET_SECURITY_TOKEN. */
export async function readSecurityTokens(
  deps: TargetDeps,
  request: ReadSecurityTokensRequest,
  ctx: CallContext,
): Promise<ReadSecurityTokensResponse> {
  if (!ctx.principal.permissions.includes("READ_TARGET_SECURITY_TOKEN")) throw lacksPermission(["READ_TARGET_SECURITY_TOKEN"]);
  const scope = scopeOf(ctx, "READ_TARGET_SECURITY_TOKEN");
  const rows = await run(deps.db.pool, readTokens, [ctx.principal.tenantId, request.controllerIds, scope]);
  return { tokens: Object.fromEntries(rows.map((r) => [r.controllerId, deps.secrets.open(r.cipher)])) };
}
