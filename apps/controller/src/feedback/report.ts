import type { Feedback } from "@harrier/contracts";
import { HarrierError } from "@harrier/errors";
import type { FaultPoint } from "@harrier/service";
import { type Device, notFound, storableId } from "../device.ts";
import { tooManyEntries, tooManyMessages } from "../domain/quota-exceeded.ts";
import type { LimitsOf, MessageCount } from "../domain/quotas.ts";
import { type Channel, channels, executions, type Outcome, results } from "../domain/transitions.ts";
import { maxMessages, messagesOf } from "./messages.ts";
import type { RecordReport } from "./record-report.ts";

export interface ReportDeps {
  /** `createReportRecorder` of feedback/record-report.ts. */
  recordReport: RecordReport;
  now: () => number;
  limits: LimitsOf;
  /** Tests kill the process at these fault points. */
  fault(name: FaultPoint): void | Promise<void>;
}

export interface ReportRequest {
  device: Device;
  channel: Channel;
  actionId: number;
  feedback: Feedback;
}

/**
 * Records a device's report on a deployment or a cancellation (spec 000 §2.5), all of it or nothing: one round trip, shared with others under load, and
 * one more if its target is locked or unknown.
 */
export async function report(deps: ReportDeps, request: ReportRequest): Promise<void> {
  const { device, channel, actionId, feedback } = request;
  const sent = {
    channel,
    execution: feedback.execution,
    result: feedback.finished,
    code: feedback.code ?? null,
    details: feedback.details,
  };
  const messages = messagesOf(sent);
  const limits = deps.limits(device.tenantId);
  const outcome = await deps.recordReport({
    tenantId: device.tenantId,
    controllerId: device.controllerId,
    actionId: storableId(actionId),
    channel: channels.indexOf(channel),
    execution: executions.indexOf(sent.execution),
    result: results.indexOf(sent.result),
    code: sent.code,
    messages,
    occurredAtMs: occurredAt(feedback.timestamp, deps.now()),
    maxEntries: limits.STATUS_ENTRIES_PER_ACTION_MAX_COUNT,
    maxMessages: maxMessages(sent.details, limits.MESSAGES_PER_STATUS_MAX_COUNT),
    tenant: device.tenant,
    traceparent: device.traceparent,
  });
  await deps.fault("controller.report.after-commit");
  if (outcome !== "ok") throw errorOf(outcome, request, { messages: messages.length, limits });
}

const lastStorableMs = Date.UTC(9999, 11, 31);

/** Returns the device's own time of the change (spec 000 §2.5 `timestamp`); one outside the range of dates is ignored. */
function occurredAt(timestamp: number | undefined, now: number): number {
  return timestamp !== undefined && timestamp >= 0 && timestamp <= lastStorableMs ? timestamp : now;
}

function errorOf(outcome: Exclude<Outcome, "ok">, { device, actionId }: ReportRequest, sent: MessageCount): HarrierError {
  switch (outcome) {
    case "stateNotFound":
      return new HarrierError("stateNotFound");
    case "closed":
      return new HarrierError("actionClosed");
    case "notCanceling":
      return new HarrierError("actionNotCancelable", "The action is not in canceling state.");
    case "tooManyEntries":
      return tooManyEntries(actionId, sent.limits.STATUS_ENTRIES_PER_ACTION_MAX_COUNT);
    case "tooManyMessages":
      return tooManyMessages(sent.messages, sent.limits.MESSAGES_PER_STATUS_MAX_COUNT);
    default:
      return notFound(outcome, device, actionId);
  }
}
