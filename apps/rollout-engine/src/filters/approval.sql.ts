import { statement } from "@harrier/db";

/** The states of an auto-assignment: it is active, waits for approval, was denied, waits for its time, or is paused. */
export type AutoAssignStatus = "running" | "waiting_for_approval" | "approval_denied" | "ready" | "paused";

/**
 * Computes the status after a change of what an auto-assignment does, in the statement that changes it ($1 is the tenant). A user who may not
 * approve has to wait if the tenant's setting demands it; otherwise the status is `otherwise`.
 */
export const statusAfterChange = (mayApprove: string, otherwise: string): string =>
  `case when not ${mayApprove}::boolean and exists (select from management.tenant_settings_v1 s
                  where s.tenant_id = $1 and s.key = 'auto.assignment.approval.enabled' and s.value = 'true'::jsonb)
                then 'waiting_for_approval' else ${otherwise} end`;

/**
 * Stores a decision; a null remark stores none. Answers no row if the auto-assignment waits for no decision, or if another request has changed the
 * filter since it was read.
 */
export const decideAutoAssign = statement<
  [tenantId: number, id: number, revision: number, status: AutoAssignStatus, actor: string, remark: string | null],
  { id: number }
>(
  "rollout_engine.decide_auto_assign",
  `update target_filters f
      set auto_assign_status = case when $4 = 'running' and f.auto_assign_start_at > now() then 'ready' else $4 end, auto_assign_decided_by = $5, auto_assign_remark = $6, auto_assign_epoch = f.auto_assign_epoch + 1,
          last_modified_by = $5, last_modified_at = now(), revision = f.revision + 1
    where f.tenant_id = $1 and f.id = $2 and f.revision = $3 and f.auto_assign_set_id is not null and f.auto_assign_status = 'waiting_for_approval'
    returning f.id`,
);
