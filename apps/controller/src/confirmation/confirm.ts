import type { ConfirmationFeedback } from "@harrier/contracts";
import { type Database, runOne } from "@harrier/db";
import type { HarrierError } from "@harrier/errors";
import { type Device, notFound, storableId } from "../device.ts";
import { devicePrincipal } from "../domain/codes.ts";
import type { ConfirmationOutcome } from "../domain/confirmation.ts";
import type { LimitsOf, MessageCount } from "../domain/quotas.ts";
import { maxMessages } from "../feedback/messages.ts";
import { callConfirmAction } from "./confirmation.sql.ts";
import { confirmationMessages } from "./messages.ts";
import { stateError } from "./state-error.ts";

export interface ConfirmDeps {
  db: Database;
  limits: LimitsOf;
}

export interface ConfirmRequest {
  device: Device;
  actionId: number;
  feedback: ConfirmationFeedback;
}

/** Records a device's answer to an action that waits for it (contract device.md §5.3, §7.5): one round trip. */
export async function confirm(deps: ConfirmDeps, request: ConfirmRequest): Promise<void> {
  const { device, actionId, feedback } = request;
  const code = feedback.code ?? null;
  const messages = confirmationMessages({ answer: feedback.confirmation, code, details: feedback.details });
  const limits = deps.limits(device.tenantId);
  const row = await runOne(deps.db.pool, callConfirmAction, [
    device.tenantId,
    device.tenant,
    device.controllerId,
    storableId(actionId),
    feedback.confirmation === "confirmed",
    code,
    messages,
    limits.STATUS_ENTRIES_PER_ACTION_MAX_COUNT,
    maxMessages(feedback.details, limits.MESSAGES_PER_STATUS_MAX_COUNT),
    devicePrincipal,
    null,
    device.traceparent,
  ]);
  const outcome = row?.outcome ?? "targetNotFound";
  if (outcome !== "ok") throw errorOf(outcome, request, { messages: messages.length, limits });
}

function errorOf(outcome: Exclude<ConfirmationOutcome, "ok">, { device, actionId }: ConfirmRequest, sent: MessageCount): HarrierError {
  if (outcome === "targetNotFound" || outcome === "actionNotFound" || outcome === "foreignAction")
    return notFound(outcome, device, actionId);
  return stateError(outcome, actionId, sent);
}
