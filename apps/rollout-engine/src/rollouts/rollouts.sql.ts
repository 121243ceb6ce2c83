import type { MaintenanceWindow } from "@harrier/contracts";
import { statement } from "@harrier/db";
import { rolloutFields, sortFields } from "@harrier/fiql";
import type { BucketCounts, RolloutStatus } from "../domain/facts.ts";
import type { Failure } from "../domain/failure.ts";
import { type AuditRow, auditColumns, epochMs } from "../lists/columns.ts";
import type { ListSource } from "../lists/read-page.ts";
import type { Scope } from "../matching/scope.ts";
import { failureOf } from "../work/leases.sql.ts";
import { reachesOnly } from "./reach.sql.ts";

/** A rollout as the interface shows it. */
export interface RolloutRow extends AuditRow {
  id: number;
  name: string;
  description: string | null;
  status: RolloutStatus;
  deleted: boolean;
  dynamic: boolean;
  targetFilter: string;
  setId: number;
  setName: string;
  setVersion: string;
  forceType: number;
  forceTime: number;
  weight: number;
  startAt: number | null;
  approveDecidedBy: string | null;
  approvalRemark: string | null;
  maintenanceWindow: MaintenanceWindow | null;
  totalTargets: number;
  totalGroups: number;
  counts: BucketCounts;
  /** Null when its work gets on. */
  lastError: Failure | null;
}

const columns = `${auditColumns}, t.id, t.name, t.description, t.status, t.deleted, t.dynamic, t.target_filter as "targetFilter",
  t.set_id as "setId", t.set_name as "setName", t.set_version as "setVersion", t.force_type as "forceType", t.force_time as "forceTime",
  t.weight, ${epochMs("t.start_at")} as "startAt", t.approve_decided_by as "approveDecidedBy",
  t.approval_remark as "approvalRemark", t.maintenance_window as "maintenanceWindow", t.total_targets as "totalTargets",
  (select count(*)::int from rollout_groups g where g.tenant_id = t.tenant_id and g.rollout_id = t.id) as "totalGroups", p.counts,
  ${failureOf({ table: "leases", key: "rollout_id" }, { table: "dynamic_leases", key: "rollout_id" })}`;

const progress = `left join lateral (
  select json_build_object('scheduled', coalesce(sum(scheduled), 0), 'running', coalesce(sum(running), 0),
           'finished', coalesce(sum(finished), 0), 'error', coalesce(sum(error), 0), 'cancelled', coalesce(sum(cancelled), 0)) as counts
    from controller.group_progress_v1 g where g.tenant_id = t.tenant_id and g.rollout_id = t.id) p on true`;

export const findRollout = statement<[tenantId: number, id: number], RolloutRow>(
  "rollouts.find",
  `select ${columns} from rollouts t ${progress} where t.tenant_id = $1 and t.id = $2`,
);

const visible = {
  EXCLUDE_SOFT_DELETED: "not t.deleted",
  ONLY_SOFT_DELETED: "t.deleted",
  INCLUDE_SOFT_DELETED: "true",
} as const;

export type SoftDeletedMode = keyof typeof visible;

export const listSource = (tenantId: number, mode: SoftDeletedMode, reach: Scope): ListSource => ({
  from: "rollouts",
  where: `t.tenant_id = $1 and ${visible[mode]} and ${reachesOnly("$2")}`,
  values: [tenantId, reach],
  columns,
  joins: progress,
  fields: rolloutFields,
  sort: sortFields.rollouts,
});

/** Name and description; what is null stays. No row: unknown, or about to be deleted. */
export const updateRollout = statement<
  [tenantId: number, id: number, name: string | null, description: string | null, actor: string],
  { id: number }
>(
  "rollouts.update",
  `update rollouts
      set name = coalesce($3, name), description = coalesce($4, description), last_modified_by = $5, last_modified_at = now(),
          revision = revision + 1
    where tenant_id = $1 and id = $2 and status not in ('deleting', 'deleted')
    returning id`,
);

/** Takes a rollout nobody has an action of off the table, with its event. No row when it has actions or is not DELETING. */
export const removeRollout = statement<[tenantId: number, id: number, tenant: string], { id: number }>(
  "rollouts.remove",
  `with gone as (
     delete from rollouts r
      where r.tenant_id = $1 and r.id = $2 and r.status = 'deleting'
        and not exists (select 1 from controller.actions_v1 a where a.tenant_id = r.tenant_id and a.rollout_id = r.id)
     returning r.id, r.name, r.sequence
   ), members as (
     delete from group_members m using gone where m.tenant_id = $1 and m.rollout_id = gone.id
   ), event as (
     insert into outbox (tenant_id, topic, type, common, items)
     select $1, 'rollout-events', 'io.update.rollout.deleted.v1',
            json_build_object('tenant', $3::text, 'rolloutId', id, 'name', name),
            json_build_array(json_build_object('subject', 'rollouts/' || id, 'sequence', sequence + 1,
              'data', json_build_object('previousStatus', 'deleting', 'status', 'deleted', 'actor', 'system')))
       from gone
   )
   select id from gone`,
);
