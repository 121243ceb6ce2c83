import type { FrozenSafety } from "@harrier/contracts";
import { statement } from "@harrier/db";
import { groupFields, sortFields, targetFields } from "@harrier/fiql";
import {
  type AuditRow,
  auditColumns,
  type Columns,
  epochMs,
  type ListKind,
  type PageSource,
  type Scope,
  selectList,
  targetColumns,
  targetJoins,
} from "@harrier/query";
import type { BucketCounts, GroupStatus } from "../domain/facts.ts";
import { progressWhere } from "../lists/progress.sql.ts";
import { scopePredicate } from "../matching/matching.ts";
import { consentFlow } from "../settings/settings.sql.ts";

/** The interface shows a group in this form. */
export interface GroupRow extends AuditRow {
  id: number;
  name: string;
  description: string | null;
  status: GroupStatus;
  dynamic: boolean;
  targetFilter: string;
  targetPercentage: number;
  /** Only a dynamic group has it, in place of a percentage. */
  targetCount: number | null;
  totalTargets: number;
  confirmationRequired: boolean;
  /** Whether the tenant has the confirmation flow: only then confirmationRequired is shown. */
  consentFlow: boolean;
  successExpression: string;
  successAction: "NEXTGROUP" | "PAUSE";
  successActionExpression: string;
  errorExpression: string;
  errorActionExpression: string;
  counts: BucketCounts;
  /** The policy of its rollout. */
  safety: FrozenSafety | null;
  /** Null until it runs. */
  startedAt: number | null;
  /** Null until it is finished or has failed. */
  finishedAt: number | null;
}

const columns: Columns = {
  ...auditColumns("t"),
  id: "t.id",
  name: "t.name",
  description: "t.description",
  status: "t.status",
  dynamic: "t.dynamic",
  targetFilter: "t.target_filter",
  targetPercentage: "t.target_percentage",
  targetCount: "t.target_count",
  totalTargets: "t.total_targets",
  confirmationRequired: "t.confirmation_required",
  consentFlow,
  successExpression: "t.success_expression",
  successAction: "t.success_action",
  successActionExpression: "t.success_action_expression",
  errorExpression: "t.error_expression",
  errorActionExpression: "t.error_action_expression",
  counts: "p.counts",
  safety: "(select r.safety from rollouts r where r.tenant_id = t.tenant_id and r.id = t.rollout_id)",
  startedAt: epochMs("t.started_at"),
  finishedAt: epochMs("t.finished_at"),
};

const progress = progressWhere("g.rollout_id = t.rollout_id and g.group_id = t.id");

export const findGroup = statement<[tenantId: number, rolloutId: number, groupId: number], GroupRow>(
  "rollout_engine.find_group",
  `select ${selectList(columns)} from rollout_groups t ${progress} where t.tenant_id = $1 and t.rollout_id = $2 and t.id = $3`,
);

const rolloutExists = "exists (select 1 from rollouts r where r.tenant_id = $1 and r.id = $2)";

export const groupList = (tenantId: number, rolloutId: number): ListKind => ({
  source: {
    from: "rollout_groups",
    where: "t.tenant_id = $1 and t.rollout_id = $2",
    values: [tenantId, rolloutId],
    columns,
    joins: progress,
    known: rolloutExists,
  },
  fields: groupFields,
  sort: sortFields.rolloutGroups,
});

/**
 * Selects the members of a group that still exist and that the caller may see; in a dynamic group those that have their action. The rows of the
 * members say which group belongs to which rollout (contract rollouts.md §2).
 */
export function memberList(tenantId: number, { rolloutId, groupId }: { rolloutId: number; groupId: number }, scope: Scope): ListKind {
  const values: unknown[] = [tenantId, rolloutId, groupId];
  const visible = scopePredicate(scope, values);
  const source: PageSource = {
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
    joins: targetJoins,
    known: rolloutExists,
  };
  return { source, fields: targetFields, sort: sortFields.targets };
}
