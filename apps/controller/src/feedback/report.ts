import type { Feedback } from "@harrier/contracts";
import { type Database, runOne } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import type { FaultPoint } from "@harrier/service";
import { type Device, notFound, storableId } from "../device.ts";
import { tooManyEntries, tooManyMessages } from "../domain/quota-exceeded.ts";
import type { LimitsOf, Said } from "../domain/quotas.ts";
import { type Channel, channels, executions, type Outcome, results } from "../domain/transitions.ts";
import { messagesOf, mostMessages } from "./messages.ts";
import { callReport } from "./report.sql.ts";

export interface ReportDeps {
  db: Database;
  now: () => number;
  limits: LimitsOf;
  /** Where tests kill the process. */
  fault(name: FaultPoint): void | Promise<void>;
}

export interface ReportRequest {
  device: Device;
  channel: Channel;
  actionId: number;
  feedback: Feedback;
}

/** A device's report on a deployment or a cancellation (spec 000 §2.5): one round trip, and all of it or nothing. */
export async function report(deps: ReportDeps, request: ReportRequest): Promise<void> {
  const { device, channel, actionId, feedback } = request;
  const said = {
    channel,
    execution: feedback.execution,
    result: feedback.finished,
    code: feedback.code ?? null,
    details: feedback.details,
  };
  const messages = messagesOf(said);
  const limits = deps.limits(device.tenantId);
  const row = await runOne(deps.db.pool, callReport, [
    device.tenantId,
    device.controllerId,
    storableId(actionId),
    channels.indexOf(channel),
    executions.indexOf(said.execution),
    results.indexOf(said.result),
    said.code,
    messages,
    occurredAt(feedback.timestamp, deps.now()),
    limits.STATUS_ENTRIES_PER_ACTION_MAX_COUNT,
    mostMessages(said.details, limits.MESSAGES_PER_STATUS_MAX_COUNT),
    device.tenant,
    device.traceparent,
  ]);
  await deps.fault("controller.report.after-commit");
  const outcome = row?.outcome ?? "targetNotFound";
  if (outcome !== "ok") throw refusal(outcome, request, { messages: messages.length, limits });
}

const lastStorableMs = Date.UTC(9999, 11, 31);

/** The device's own time of the change (spec 000 §2.5 `timestamp`); one that no calendar holds is no time. */
function occurredAt(timestamp: number | undefined, now: number): number {
  return timestamp !== undefined && timestamp >= 0 && timestamp <= lastStorableMs ? timestamp : now;
}

function refusal(outcome: Exclude<Outcome, "ok">, { device, actionId }: ReportRequest, said: Said): HarrierError {
  switch (outcome) {
    case "stateNotFound":
      return new HarrierError("stateNotFound");
    case "closed":
      return new HarrierError("actionClosed");
    case "notCanceling":
      return new HarrierError("actionNotCancelable", "The action is not in canceling state.");
    case "tooManyEntries":
      return tooManyEntries(actionId, said.limits.STATUS_ENTRIES_PER_ACTION_MAX_COUNT);
    case "tooManyMessages":
      return tooManyMessages(said.messages, said.limits.MESSAGES_PER_STATUS_MAX_COUNT);
    default:
      return notFound(outcome, device, actionId);
  }
}
