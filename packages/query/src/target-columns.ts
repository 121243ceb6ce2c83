import type { PollTimes } from "@harrier/contracts";
import { type AuditRow, auditColumns, type Columns, epochMs } from "./columns.ts";

/** A target as the interface shows it (spec 001 §2.4), without its security token, which only controller reads. */
export interface TargetRow extends AuditRow, PollTimes {
  controllerId: string;
  name: string;
  description: string | null;
  group: string | null;
  address: string | null;
  updateStatus: number;
  requestAttributes: boolean;
  installedAt: number | null;
  lastPollAt: number | null;
  targetTypeId: number | null;
  targetTypeName: string | null;
  revision: number;
  /** Whether auto-confirmation is active; null if the tenant's confirmation flow is off. */
  autoConfirmActive: boolean | null;
}

// there is no correlation with the row, so PostgreSQL evaluates it once per statement
const setting = (key: string): string =>
  `(select s.value #>> '{}' from management.tenant_settings_v1 s where s.tenant_id = $1 and s.key = '${key}')`;

/** The columns over a `controller.targets_v1` row `t` and its type `tt`; `$1` is the tenant. */
export const targetColumns: Columns = {
  controllerId: "t.controller_id",
  name: "t.name",
  description: "t.description",
  group: "t.target_group",
  address: "t.address",
  updateStatus: "t.update_status",
  requestAttributes: "t.request_attributes",
  installedAt: epochMs("t.installed_at"),
  lastPollAt: epochMs("t.last_poll_at"),
  targetTypeId: "t.target_type_id",
  targetTypeName: "tt.name",
  revision: "t.revision",
  autoConfirmActive: `case when ${setting("user.confirmation.flow.enabled")} = 'true'
    then exists (select from controller.auto_confirmations_v1 ac where ac.tenant_id = t.tenant_id and ac.target_id = t.id) end`,
  pollingTime: setting("pollingTime"),
  pollingOverdueTime: setting("pollingOverdueTime"),
  ...auditColumns("t"),
};

/** `targetColumns` needs these joins behind a relation `t` of targets. */
export const targetJoins = "left join management.target_types_v1 tt on tt.tenant_id = t.tenant_id and tt.id = t.target_type_id";
