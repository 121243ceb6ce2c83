import { statement } from "@harrier/db";

export type ChangeOutcome = "ok" | "targetNotFound" | "actionNotFound" | "foreign" | "notCancelable" | "notForceQuitable";

export const cancelAction = statement<
  [
    tenantId: number,
    tenant: string,
    controllerId: string,
    actionId: number,
    force: boolean,
    scope: number[] | null,
    by: string,
    traceparent: string | null,
  ],
  { outcome: ChangeOutcome }
>("controller.cancel_action", `select cancel_action($1, $2, $3, $4, $5, $6::bigint[], $7, $8) as outcome`);

export const forceAction = statement<
  [
    tenantId: number,
    tenant: string,
    controllerId: string,
    actionId: number,
    scope: number[] | null,
    by: string,
    traceparent: string | null,
  ],
  { outcome: ChangeOutcome }
>("controller.force_action", `select force_action($1, $2, $3, $4, $5::bigint[], $6, $7) as outcome`);
