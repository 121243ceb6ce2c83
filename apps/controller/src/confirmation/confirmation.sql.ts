import { statement } from "@harrier/db";
import type { ConfirmationOutcome } from "../domain/confirmation.ts";
import { type PollRow, pollMembers, pollTables } from "../poll/poll.sql.ts";
import { confirmationFlow } from "../settings/present-settings.sql.ts";

/** The target types that the caller may touch; null means all. Devices have no such limit. */
type Scope = readonly number[] | null;

/** Activates auto-confirmation and lets every waiting action run (functions/confirmation.sql). */
export const callActivateAutoConfirm = statement<
  [
    tenantId: number,
    tenant: string,
    controllerId: string,
    initiator: string | null,
    remark: string | null,
    by: string,
    scope: Scope,
    traceparent: string | null,
  ],
  { outcome: "ok" | "targetNotFound" | "alreadyActive" }
>("controller.activate_auto_confirm", "select activate_auto_confirm($1, $2, $3, $4, $5, $6, $7, $8) as outcome");

/** Deactivates auto-confirmation; running actions go on. */
export const callDeactivateAutoConfirm = statement<
  [tenantId: number, controllerId: string, scope: Scope],
  { outcome: "ok" | "targetNotFound" }
>("controller.deactivate_auto_confirm", "select deactivate_auto_confirm($1, $2, $3) as outcome");

/**
 * Records one answer to a waiting action, of the device or in its place, by the SQL function that the table of domain/confirmation.ts generates
 * (functions/confirmation.sql). It reads the tenant's present flow, for an administrator who has just switched it.
 */
export const callConfirmAction = statement<
  [
    tenantId: number,
    tenant: string,
    controllerId: string,
    actionId: number,
    confirmed: boolean,
    code: number | null,
    messages: readonly string[],
    maxEntries: number,
    maxMessages: number,
    by: string,
    scope: Scope,
    traceparent: string | null,
  ],
  { outcome: ConfirmationOutcome }
>(
  "controller.confirm_action",
  `select confirm_action($1, $2, $3, $4, $5, $6, $7, ${confirmationFlow}, $8, $9, $10, $11::bigint[], $12) as outcome`,
);

/** A poll's row, and how the target confirms. */
export interface ConfirmationBaseRow extends PollRow {
  autoConfirm: boolean;
  initiator: string | null;
  remark: string | null;
  activatedAtMs: number | null;
}

/** Reads all that the confirmation base shows (contract device.md §4.6), with the same effects as a poll. */
export const readConfirmationBase = statement<[tenantId: number, controllerId: string, address: string | null], ConfirmationBaseRow>(
  "controller.confirmation_base",
  `select ${pollMembers},
          c.target_id is not null as "autoConfirm", c.initiator, c.remark,
          floor(extract(epoch from c.activated_at) * 1000)::bigint as "activatedAtMs",
          case when s.update_status = 0 or ($3::text is not null and t.address is distinct from $3)
               then touch_target(t.tenant_id, t.id, $3) end as touched
     from ${pollTables}
     left join auto_confirmations c on c.tenant_id = t.tenant_id and c.target_id = t.id
    where t.tenant_id = $1 and t.controller_id = $2`,
);
