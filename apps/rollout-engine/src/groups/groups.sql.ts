import { statement } from "@harrier/db";
import { groupFields, sortFields, targetFields } from "@harrier/fiql";
import type { BucketCounts, GroupStatus } from "../domain/facts.ts";
import { type AuditRow, auditColumns, epochMs } from "../lists/columns.ts";
import type { ListSource } from "../lists/read-page.ts";
import { scopePredicate } from "../matching/matching.ts";
import type { Scope } from "../matching/scope.ts";

/** A group as the interface shows it. */
export interface GroupRow extends AuditRow {
  id: number;
  name: string;
  description: string | null;
  status: GroupStatus;
  dynamic: boolean;
  targetFilter: string;
  targetPercentage: number;
  /** Of a dynamic group, which has no percentage. */
  targetCount: number | null;
  totalTargets: number;
  confirmationRequired: boolean;
  /** Whether the tenant's devices ask their user: only then confirmationRequired is shown. */
  consentFlow: boolean;
  successExpression: string;
  successAction: "NEXTGROUP" | "PAUSE";
  successActionExpression: string;
  errorExpression: string;
  errorActionExpression: string;
  counts: BucketCounts;
}

const columns = `${auditColumns}, t.id, t.name, t.description, t.status, t.dynamic, t.target_filter as "targetFilter",
  t.target_percentage as "targetPercentage", t.target_count as "targetCount", t.total_targets as "totalTargets", t.confirmation_required as "confirmationRequired",
  coalesce((select s.value = 'true'::jsonb from management.tenant_settings_v1 s
             where s.tenant_id = $1 and s.key = 'user.confirmation.flow.enabled'), false) as "consentFlow",
  t.success_expression as "successExpression", t.success_action as "successAction",
  t.success_action_expression as "successActionExpression", t.error_expression as "errorExpression",
  t.error_action_expression as "errorActionExpression", p.counts`;

const progress = `left join lateral (
  select json_build_object('scheduled', coalesce(sum(scheduled), 0), 'running', coalesce(sum(running), 0),
           'finished', coalesce(sum(finished), 0), 'error', coalesce(sum(error), 0), 'cancelled', coalesce(sum(cancelled), 0)) as counts
    from controller.group_progress_v1 g
   where g.tenant_id = t.tenant_id and g.rollout_id = t.rollout_id and g.group_id = t.id) p on true`;

export const findGroup = statement<[tenantId: number, rolloutId: number, groupId: number], GroupRow>(
  "groups.find",
  `select ${columns} from rollout_groups t ${progress} where t.tenant_id = $1 and t.rollout_id = $2 and t.id = $3`,
);

const rolloutExists = "exists (select 1 from rollouts r where r.tenant_id = $1 and r.id = $2)";

export const groupsSource = (tenantId: number, rolloutId: number): ListSource => ({
  from: "rollout_groups",
  where: "t.tenant_id = $1 and t.rollout_id = $2",
  values: [tenantId, rolloutId],
  columns,
  joins: progress,
  known: rolloutExists,
  fields: groupFields,
  sort: sortFields.rolloutGroups,
});

/** A target as the interface shows it, without its security token: that is controller's to read. */
export interface TargetRow extends AuditRow {
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
  /** It confirms its actions by itself: only shown where the tenant's devices ask their user. */
  autoConfirm: boolean;
}

const targetColumns = `${auditColumns}, t.controller_id as "controllerId", t.name, t.description, t.target_group as "group", t.address,
  t.update_status as "updateStatus", t.request_attributes as "requestAttributes", ${epochMs("t.installed_at")} as "installedAt",
  ${epochMs("t.last_poll_at")} as "lastPollAt", t.target_type_id as "targetTypeId", tt.name as "targetTypeName",
  exists (select from controller.auto_confirmations_v1 c where c.tenant_id = t.tenant_id and c.target_id = t.id) as "autoConfirm"`;

/**
 * The members of a group that still exist and that the caller may see; of a dynamic group those that have their action. Which group belongs
 * to which rollout is the members' own matter (contract rollouts.md §2).
 */
export function membersSource(tenantId: number, { rolloutId, groupId }: { rolloutId: number; groupId: number }, scope: Scope): ListSource {
  const values: unknown[] = [tenantId, rolloutId, groupId];
  const visible = scopePredicate(scope, values);
  return {
    from: "controller.targets_v1",
    where: `t.tenant_id = $1 and ${visible} and t.id in (
      select m.target_id from group_members m
        join rollout_groups g on g.tenant_id = m.tenant_id and g.rollout_id = m.rollout_id and g.id = m.group_id
       where m.tenant_id = $1 and m.rollout_id = $2 and m.group_id = $3
         and (not g.dynamic or exists (
           select from controller.actions_v1 a
            where a.tenant_id = m.tenant_id and a.rollout_id = m.rollout_id and a.group_id = m.group_id and a.target_id = m.target_id)))`,
    values,
    columns: targetColumns,
    joins: "left join management.target_types_v1 tt on tt.tenant_id = t.tenant_id and tt.id = t.target_type_id",
    known: rolloutExists,
    fields: targetFields,
    sort: sortFields.targets,
  };
}
