import { HarrierError } from "@harrier/errors";
import { type Device, notFound, storableId } from "../device.ts";
import type { LimitsOf } from "../domain/quotas.ts";
import { type Resource, resources } from "../domain/visibility.ts";
import type { RecordRetrieval } from "./record-retrieval.ts";
import type { RetrievedRow } from "./retrieve.sql.ts";

export interface RetrieveDeps {
  /** `createRetrievalRecorder` of retrieval/record-retrieval.ts. */
  recordRetrieval: RecordRetrieval;
  limits: LimitsOf;
}

export interface RetrieveRequest {
  device: Device;
  resource: Resource;
  actionId: number;
  /** The number of messages of the history; negative means all, up to the limit (contract device.md §4.4). */
  history?: number;
}

export type Retrieved = Omit<RetrievedRow, "outcome">;

const maxMessages = 100;

/**
 * Reads what a device sees of one of its actions, and records this retrieval in the history (RETRIEVED, or CANCELING where the last maintenance
 * window has passed): one round trip, shared with others under load, and one more if it has to wait for the lock of its target. It is 404 with a
 * body for an unknown or another device's action, and without one where the action's state does not show it (contract device.md §4.2).
 */
export async function retrieve(deps: RetrieveDeps, request: RetrieveRequest): Promise<Retrieved> {
  const { device, resource, actionId, history = 0 } = request;
  const row = await deps.recordRetrieval({
    tenantId: device.tenantId,
    controllerId: device.controllerId,
    actionId: storableId(actionId),
    resource: resources.indexOf(resource),
    history: history < 0 ? maxMessages : Math.min(history, maxMessages),
    maxEntries: deps.limits(device.tenantId).STATUS_ENTRIES_PER_ACTION_MAX_COUNT,
    tenant: device.tenant,
    traceparent: device.traceparent,
  });
  if (row === undefined || row.outcome === "stateNotFound" || row.outcome === "busy") throw new HarrierError("stateNotFound");
  if (row.outcome !== "ok") throw notFound(row.outcome, device, actionId);
  return row;
}
