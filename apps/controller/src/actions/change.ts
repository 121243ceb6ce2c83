import { type Database, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import type { CallContext, CancelActionRequest, ForceActionRequest } from "@harrier/rpc";
import { storableId } from "../device.ts";
import { scopeOf } from "../targets/targets.ts";
import { actionAsRead } from "./as-read.ts";
import { type ChangeOutcome, forceAction as switchToForced, cancelAction as writeCancel } from "./change.sql.ts";

interface Deps {
  db: Database;
  fault: (name: string) => unknown;
}

type Nothing = Record<string, never>;

/** Cancels one action: by asking the device, or, once that has been done, without it (contract rollouts.md §6). */
export async function cancelAction(deps: Deps, request: CancelActionRequest, ctx: CallContext): Promise<Nothing> {
  const { tenantId, tenant, subject } = ctx.principal;
  const scope = scopeOf(ctx, "UPDATE_TARGET");
  const { controllerId, force } = request;
  const id = storableId(request.actionId);
  const row = await runOne(deps.db.pool, writeCancel, [tenantId, tenant, controllerId, id, force, scope, subject, ctx.traceparent ?? null]);
  await deps.fault("controller.cancel.after-commit");
  return check(row?.outcome, request);
}

/** Switches one action to forced (spec 001 §4.2). */
export async function forceAction(deps: Deps, request: ForceActionRequest, ctx: CallContext): Promise<Nothing> {
  const { tenantId, tenant, subject } = ctx.principal;
  const scope = scopeOf(ctx, "UPDATE_TARGET");
  const id = storableId(request.actionId);
  const values = [tenantId, tenant, request.controllerId, id, scope, subject, ctx.traceparent ?? null] as const;
  const row = await actionAsRead(deps, { request, ctx }, (db) => runOne(db, switchToForced, [...values]));
  return check(row?.outcome, request);
}

function check(outcome: ChangeOutcome | undefined, request: { controllerId: string; actionId: number }): Nothing {
  switch (outcome) {
    case "ok":
      return {};
    case "targetNotFound":
      throw entityNotFound("Target", request.controllerId);
    case "actionNotFound":
      throw entityNotFound("Action", request.actionId);
    case "foreign":
      throw new HarrierError("stateNotFound");
    case "notCancelable":
      throw new HarrierError("actionNotCancelable", "Only active actions that are not being canceled can be canceled.");
    case "notForceQuitable":
      throw new HarrierError("actionNotForceQuitable", "Only actions that are being canceled can be quit by force.");
    default:
      throw new HarrierError("internal");
  }
}
