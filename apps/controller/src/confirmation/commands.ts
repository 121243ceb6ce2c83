import { type Database, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import type { ActivateAutoConfirmRequest, CallContext, ConfirmActionRequest, DeactivateAutoConfirmRequest } from "@harrier/rpc";
import { actionAsRead } from "../actions/as-read.ts";
import { storableId } from "../device.ts";
import type { ConfirmationOutcome } from "../domain/confirmation.ts";
import type { LimitsOf, MessageCount } from "../domain/quotas.ts";
import { scopeOf } from "../targets/targets.ts";
import { callActivateAutoConfirm, callConfirmAction, callDeactivateAutoConfirm } from "./confirmation.sql.ts";
import { confirmationMessages } from "./messages.ts";
import { stateError } from "./state-error.ts";

interface Deps {
  db: Database;
}

type Nothing = Record<string, never>;

/**
 * Records an administrator's answer in place of the device (contract rollouts.md §6): the rules and the messages are those of the device's answer.
 */
export async function confirmAction(deps: Deps & { limits: LimitsOf }, request: ConfirmActionRequest, ctx: CallContext): Promise<Nothing> {
  const { principal } = ctx;
  const { confirmed, code = null, details } = request;
  const messages = confirmationMessages({ answer: confirmed ? "confirmed" : "denied", code, details });
  const limits = deps.limits(principal.tenantId);
  const values = [
    principal.tenantId,
    principal.tenant,
    request.controllerId,
    storableId(request.actionId),
    confirmed,
    code,
    messages,
    limits.STATUS_ENTRIES_PER_ACTION_MAX_COUNT,
    limits.MESSAGES_PER_STATUS_MAX_COUNT,
    principal.subject,
    scopeOf(ctx, "UPDATE_TARGET"),
    ctx.traceparent ?? null,
  ] as const;
  const row = await actionAsRead(deps, { request, ctx }, (db) => runOne(db, callConfirmAction, [...values]));
  if (row?.outcome === "ok") return {};
  throw errorOf(row?.outcome, request, { messages: messages.length, limits });
}

function errorOf(outcome: ConfirmationOutcome | undefined, request: ConfirmActionRequest, sent: MessageCount): HarrierError {
  switch (outcome) {
    case "targetNotFound":
      return entityNotFound("Target", request.controllerId);
    case "actionNotFound":
      return entityNotFound("Action", request.actionId);
    case "foreignAction": // The answer has no body, like every action under another target's path (contract management.md §2.3).
      return new HarrierError("stateNotFound");
    case "ok":
    case undefined:
      return new HarrierError("internal");
    default:
      return stateError(outcome, request.actionId, sent);
  }
}

/** Activates auto-confirmation of a target in the name of a user (contract management.md §5.9). */
export async function activateAutoConfirm(deps: Deps, request: ActivateAutoConfirmRequest, ctx: CallContext): Promise<Nothing> {
  const { tenantId, tenant, subject } = ctx.principal;
  const { controllerId, initiator = null, remark = null } = request;
  const scope = scopeOf(ctx, "UPDATE_TARGET");
  const values = [tenantId, tenant, controllerId, initiator, remark, subject, scope, ctx.traceparent ?? null] as const;
  const row = await runOne(deps.db.pool, callActivateAutoConfirm, [...values]);
  if (row?.outcome === "alreadyActive") {
    throw new HarrierError("autoConfAlreadyActive", `Auto confirmation is already active for device ${controllerId}`);
  }
  return found(row?.outcome, controllerId);
}

/** Deactivates it; a repetition is no error (contract management.md §4.6). */
export async function deactivateAutoConfirm(deps: Deps, request: DeactivateAutoConfirmRequest, ctx: CallContext): Promise<Nothing> {
  const { controllerId } = request;
  const row = await runOne(deps.db.pool, callDeactivateAutoConfirm, [ctx.principal.tenantId, controllerId, scopeOf(ctx, "UPDATE_TARGET")]);
  return found(row?.outcome, controllerId);
}

function found(outcome: "ok" | "targetNotFound" | undefined, controllerId: string): Nothing {
  if (outcome === "ok") return {};
  throw entityNotFound("Target", controllerId);
}
