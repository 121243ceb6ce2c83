import { statement } from "@harrier/db";
import { epochMs, inScope, type Scope } from "@harrier/query";

export interface AutoConfirmRow {
  active: boolean;
  initiator: string | null;
  remark: string | null;
  activatedAt: number | null;
}

/** Reads the auto-confirmation of a target; there is one row for every target that the caller may see. */
export const findAutoConfirm = statement<[tenantId: number, scope: Scope, controllerId: string], AutoConfirmRow>(
  "management.find_auto_confirm",
  `select c.target_id is not null as active, c.initiator, c.remark, ${epochMs("c.activated_at")} as "activatedAt"
     from controller.targets_v1 t
     left join controller.auto_confirmations_v1 c on c.tenant_id = t.tenant_id and c.target_id = t.id
    where t.tenant_id = $1 and ${inScope("t.target_type_id", "$2")} and t.controller_id = $3`,
);
