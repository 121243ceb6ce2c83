import type { FrozenSafety, MaintenanceWindow } from "@harrier/contracts";
import { statement } from "@harrier/db";
import { rolloutFields, sortFields } from "@harrier/fiql";
import {
  type AuditRow,
  auditColumns,
  type Columns,
  epochMs,
  isRevision,
  type ListKind,
  type Scope,
  type SoftDeletedMode,
  selectList,
  softDeletedPredicate,
} from "@harrier/query";
import type { Reason } from "../domain/changes.ts";
import type { BucketCounts, RolloutStatus } from "../domain/facts.ts";
import type { Failure } from "../domain/failure.ts";
import { progressWhere } from "../lists/progress.sql.ts";
import { failureOf } from "../work/leases.sql.ts";
import { isWithin } from "./reach.sql.ts";

/** The interface shows a rollout in this form. */
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
  safety: FrozenSafety | null;
  totalTargets: number;
  totalGroups: number;
  counts: BucketCounts;
  /** Null until it is started, or if that was before steps were recorded. */
  startedAt: number | null;
  /** Null until it is finished or stopped. */
  finishedAt: number | null;
  /** The step that led to the present status; null if it was not recorded. */
  statusReason: StatusReason | null;
  revision: number;
  /** It is null while the work does not fail. */
  lastError: Failure | null;
}

/** Why a rollout has the status that it has. */
export interface StatusReason {
  reason: Reason | null;
  actor: string;
  at: number;
  groupId: number | null;
  value: number | null;
  limit: number | null;
}

/** A step of another status is an older one, which does not explain the present status. */
const statusReason = `(select json_build_object('reason', s.reason, 'actor', s.actor, 'at', ${epochMs("s.at")}, 'groupId', s.caused_by,
                              'value', s.value, 'limit', s.threshold)
     from rollout_steps s
    where s.tenant_id = t.tenant_id and s.rollout_id = t.id and s.sequence = t.status_step and s.status = t.status)`;

const columns: Columns = {
  ...auditColumns("t"),
  id: "t.id",
  name: "t.name",
  description: "t.description",
  status: "t.status",
  deleted: "t.deleted",
  dynamic: "t.dynamic",
  targetFilter: "t.target_filter",
  setId: "t.set_id",
  setName: "t.set_name",
  setVersion: "t.set_version",
  forceType: "t.force_type",
  forceTime: "t.force_time",
  weight: "t.weight",
  startAt: epochMs("t.start_at"),
  approveDecidedBy: "t.approve_decided_by",
  approvalRemark: "t.approval_remark",
  maintenanceWindow: "t.maintenance_window",
  safety: "t.safety",
  totalTargets: "t.total_targets",
  totalGroups: "(select count(*)::int from rollout_groups g where g.tenant_id = t.tenant_id and g.rollout_id = t.id)",
  counts: "p.counts",
  startedAt: epochMs("t.started_at"),
  finishedAt: epochMs("t.finished_at"),
  statusReason,
  revision: "t.revision",
  lastError: failureOf({ table: "leases", key: "rollout_id" }, { table: "dynamic_leases", key: "rollout_id" }),
};

const progress = progressWhere("g.rollout_id = t.id");

export const findRollout = statement<[tenantId: number, id: number], RolloutRow>(
  "rollout_engine.find_rollout",
  `select ${selectList(columns)} from rollouts t ${progress} where t.tenant_id = $1 and t.id = $2`,
);

export const rolloutList = (tenantId: number, mode: SoftDeletedMode, reach: Scope): ListKind => ({
  source: {
    from: "rollouts",
    where: `t.tenant_id = $1 and ${softDeletedPredicate[mode]} and ${isWithin("$2")}`,
    values: [tenantId, reach],
    columns,
    joins: progress,
  },
  fields: rolloutFields,
  sort: sortFields.rollouts,
});

/** Changes name and description, with an event; null members stay. Answers no row if the rollout is unknown or being deleted. */
export const updateRollout = statement<
  [
    tenantId: number,
    id: number,
    name: string | null,
    description: string | null,
    actor: string,
    ifMatch: readonly number[] | null,
    tenant: string,
    traceparent: string | null,
  ],
  { id: number }
>(
  "rollout_engine.update_rollout",
  `with changed as (
     update rollouts
        set name = coalesce($3, name), description = coalesce($4, description), last_modified_by = $5, last_modified_at = now(),
            revision = revision + 1, sequence = sequence + 1
      where tenant_id = $1 and id = $2 and status not in ('deleting', 'deleted') and ${isRevision("revision", "$6")}
      returning id, name, sequence
   ), event as (
     insert into outbox (tenant_id, topic, type, common, items, traceparent)
     select $1, 'rollout-events', 'io.update.rollout.changed.v1', json_build_object('tenant', $7::text, 'rolloutId', id, 'name', name),
            json_build_array(json_build_object('subject', 'rollouts/' || id, 'sequence', sequence, 'data', json_build_object('actor', $5::text,
              'changed', array_remove(array[case when $3::text is not null then 'name' end, case when $4::text is not null then 'description' end], null)))),
            $8
       from changed
   )
   select id from changed`,
);

/** Locks a rollout for a decision or a deletion that demands a revision. */
export const lockRollout = statement<[tenantId: number, id: number], { revision: number }>(
  "rollout_engine.lock_rollout",
  "select revision from rollouts where tenant_id = $1 and id = $2 for no key update",
);

/** Removes a rollout that no target has an action of, with its event. Answers no row if it has actions or is not DELETING. */
export const removeRollout = statement<[tenantId: number, id: number, tenant: string], { id: number }>(
  "rollout_engine.remove_rollout",
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
