import { statement } from "@harrier/db";

/** What becomes of an auto-assignment: it is worked on, waits until somebody approves it, was denied, waits for its time, or pauses. */
export type AutoAssignStatus = "running" | "waiting_for_approval" | "approval_denied" | "ready" | "paused";

/**
 * The status after a change of what an auto-assignment does, in the statement that changes it ($1 is the tenant): whoever may not approve has to wait
 * where the tenant wants that now; otherwise it is `otherwise`.
 */
export const statusAfterChange = (mayApprove: string, otherwise: string): string =>
  `case when not ${mayApprove}::boolean and exists (select from management.tenant_settings_v1 s
                  where s.tenant_id = $1 and s.key = 'auto.assignment.approval.enabled' and s.value = 'true'::jsonb)
                then 'waiting_for_approval' else ${otherwise} end`;

/** A null remark leaves none. No row: it waits for no decision, or somebody else has changed the filter since it was read. */
export const decideAutoAssign = statement<
  [tenantId: number, id: number, revision: number, status: AutoAssignStatus, actor: string, remark: string | null],
  { id: number }
>(
  "filters.decide_auto_assign",
  `update target_filters f
      set auto_assign_status = case when $4 = 'running' and f.auto_assign_start_at > now() then 'ready' else $4 end, auto_assign_decided_by = $5, auto_assign_remark = $6, auto_assign_epoch = f.auto_assign_epoch + 1,
          last_modified_by = $5, last_modified_at = now(), revision = f.revision + 1
    where f.tenant_id = $1 and f.id = $2 and f.revision = $3 and f.auto_assign_set_id is not null and f.auto_assign_status = 'waiting_for_approval'
    returning f.id`,
);
