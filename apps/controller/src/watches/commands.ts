import { type Database, type IdBlocks, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import type { CallContext, ProveActionRequest, RetryActionRequest, RetryActionResponse } from "@harrier/rpc";
import { storableId } from "../device.ts";
import { tooManyActions } from "../domain/quota-exceeded.ts";
import type { LimitsOf } from "../domain/quotas.ts";
import { scopeOf } from "../targets/targets.ts";
import { type ProveOutcome, proveAction as prove, type RetryOutcome, retryAction as retry } from "./settle.sql.ts";

interface Deps {
  db: Database;
  ids: Pick<IdBlocks, "take">;
  limits: LimitsOf;
  fault: (name: string) => unknown;
}

/** A person decides about a claim, or about a proven update that is still watched (contract beyond.md §1.4); otherwise 409 actionNotProving. */
export async function proveAction(
  deps: Pick<Deps, "db" | "fault">,
  request: ProveActionRequest,
  ctx: CallContext,
): Promise<Record<string, never>> {
  const { tenantId, tenant, subject } = ctx.principal;
  const { controllerId, proven, remark } = request;
  const id = storableId(request.actionId);
  const scope = scopeOf(ctx, "UPDATE_TARGET");
  const row = await runOne(deps.db.pool, prove, [
    tenantId,
    tenant,
    controllerId,
    id,
    proven,
    remark,
    scope,
    subject,
    ctx.traceparent ?? null,
  ]);
  await deps.fault("controller.prove.after-commit");
  if (row?.outcome === "ok") return {};
  throw errorOf(row?.outcome, request);
}

/**
 * Tries a failed action again at once (contract beyond.md §3), also in a paused rollout; one that has a successor, or cannot be tried now, is 409
 * actionNotRetryable, which says why.
 */
export async function retryAction(deps: Deps, request: RetryActionRequest, ctx: CallContext): Promise<RetryActionResponse> {
  const { tenantId, tenant, subject } = ctx.principal;
  const max = deps.limits(tenantId).ACTIONS_PER_TARGET_MAX_COUNT;
  const id = storableId(request.actionId);
  const scope = scopeOf(ctx, "UPDATE_TARGET");
  const attempt = async (newId: number | null) => {
    const args = [tenantId, tenant, request.controllerId, id, newId, max, scope, subject, ctx.traceparent ?? null] as const;
    return (await runOne(deps.db.pool, retry, [...args]))?.outcome;
  };
  const allowed = await attempt(null);
  if (allowed !== "ready") throw errorOf(allowed, request);
  const newId = await deps.ids.take(tenantId, "action", 1);
  const outcome = await attempt(newId);
  await deps.fault("controller.retry.after-commit");
  if (outcome === "ok") return { actionId: newId };
  if (outcome === "tooManyActions") throw tooManyActions(request.controllerId, max);
  throw errorOf(outcome, request);
}

const notRetryable = {
  notRetryable: "Only a failed action without a successor can be tried again.",
  stopped: "The rollout of the action is stopped or deleted.",
  set: "The distribution set of the action is no longer valid.",
  other: "The target has another action under way, or another distribution set is assigned to it.",
};

function errorOf(outcome: ProveOutcome | RetryOutcome | undefined, request: { controllerId: string; actionId: number }): HarrierError {
  switch (outcome) {
    case "targetNotFound":
      return entityNotFound("Target", request.controllerId);
    case "actionNotFound":
      return entityNotFound("Action", request.actionId);
    case "foreign":
      return new HarrierError("stateNotFound");
    case "notProving":
      return new HarrierError("actionNotProving", "Nothing is awaited of this action that a person could decide.");
    case "notRetryable":
    case "stopped":
    case "set":
    case "other":
      return new HarrierError("actionNotRetryable", notRetryable[outcome]);
    default:
      return new HarrierError("internal");
  }
}
