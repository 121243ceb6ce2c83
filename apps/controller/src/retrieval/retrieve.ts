import { type Database, runOne } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import { type Device, notFound, storableId } from "../device.ts";
import type { LimitsOf } from "../domain/quotas.ts";
import { type Resource, resources } from "../domain/visibility.ts";
import { callRetrieve, type RetrievedRow } from "./retrieve.sql.ts";

export interface RetrieveDeps {
  db: Database;
  limits: LimitsOf;
}

export interface RetrieveRequest {
  device: Device;
  resource: Resource;
  actionId: number;
  /** How many messages of the history; negative: all, as far as the limit goes (contract device.md §4.4). */
  history?: number;
}

export type Retrieved = Omit<RetrievedRow, "outcome">;

const mostMessages = 100;

/**
 * What a device sees of one of its actions, and the entry that its look leaves behind (RETRIEVED, or CANCELING where the last maintenance
 * window has passed): one round trip.
 * 404 with a body for what is unknown or another device's, without one where the action is in no state to be seen (contract device.md §4.2).
 */
export async function retrieve(deps: RetrieveDeps, request: RetrieveRequest): Promise<Retrieved> {
  const { device, resource, actionId, history = 0 } = request;
  const row = await runOne(deps.db.pool, callRetrieve, [
    device.tenantId,
    device.controllerId,
    storableId(actionId),
    resources.indexOf(resource),
    history < 0 ? mostMessages : Math.min(history, mostMessages),
    deps.limits(device.tenantId).STATUS_ENTRIES_PER_ACTION_MAX_COUNT,
    device.tenant,
    device.traceparent,
  ]);
  if (row === undefined || row.outcome === "stateNotFound") throw new HarrierError("stateNotFound");
  if (row.outcome !== "ok") throw notFound(row.outcome, device, actionId);
  return row;
}
