import type { MaintenanceWindow } from "@harrier/contracts";
import { statement } from "@harrier/db";

export interface RetrievedRow {
  /** `busy` is the answer only of a call for several actions: this one has had no effect, and has to be retrieved alone. */
  outcome: "ok" | "targetNotFound" | "actionNotFound" | "foreignAction" | "stateNotFound" | "busy";
  setId: number;
  /** It is null if the set was deleted. */
  setRevision: number | null;
  status: number;
  forceType: number;
  forceTimeMs: number | null;
  /** The action's maintenance window, if it has one. */
  maintenance: MaintenanceWindow | null;
  messages: string[] | null;
}

const members = `outcome, set_id as "setId", set_revision as "setRevision", status, force_type as "forceType", force_time_ms as "forceTimeMs",
          maintenance, messages`;

/** Records a device's retrieval of one of its actions, by the SQL function that the visibility table generates (functions/retrieve.sql). */
export const callRetrieveAction = statement<
  [
    tenantId: number,
    controllerId: string,
    actionId: number,
    resource: number,
    history: number,
    maxEntries: number,
    tenant: string,
    traceparent: string | null,
  ],
  RetrievedRow
>("controller.retrieve_action", `select ${members} from retrieve_action($1, $2, $3, $4::smallint, $5, $6, $7, $8, true)`);

/** Records several retrievals in one transaction; `place` counts from 1. */
export const callRetrieveActions = statement<
  [
    tenantIds: readonly number[],
    controllerIds: readonly string[],
    actionIds: readonly number[],
    resources: readonly number[],
    history: readonly number[],
    maxEntries: readonly number[],
    tenants: readonly string[],
    traceparents: readonly (string | null)[],
  ],
  RetrievedRow & { place: number }
>("controller.retrieve_actions", `select place, ${members} from retrieve_actions($1, $2, $3, $4::smallint[], $5, $6, $7, $8)`);
