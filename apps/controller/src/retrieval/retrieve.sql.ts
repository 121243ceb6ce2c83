import type { MaintenanceWindow } from "@harrier/contracts";
import { statement } from "@harrier/db";

export interface RetrievedRow {
  outcome: "ok" | "targetNotFound" | "actionNotFound" | "foreignAction" | "stateNotFound";
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

/** Records a device's retrieval of one of its actions, by the SQL function that the visibility table generates (functions/retrieve.sql). */
export const callRetrieve = statement<
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
>(
  "controller.retrieve",
  `select outcome, set_id as "setId", set_revision as "setRevision", status, force_type as "forceType", force_time_ms as "forceTimeMs", maintenance,
          messages
     from retrieve($1, $2, $3, $4::smallint, $5, $6, $7, $8)`,
);
