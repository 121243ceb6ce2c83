import { actionStatus, type rolloutStatusNames } from "@harrier/contracts";
import { statement } from "@harrier/db";
import { reachesOnly, type Scope } from "@harrier/query";

type Named = { id: number; name: string };

export interface PreviewRow {
  rollouts: { total: number; size: number; content: (Named & { status: (typeof rolloutStatusNames)[number] })[] };
  autoAssignments: { total: number; size: number; content: Named[] };
  /** Open and scheduled actions by the code of their status; null if there are none. */
  actions: Record<number, number> | null;
}

/** Rollouts in these statuses are not stopped (contract rollouts.md §4.1). */
const ended = "('finished', 'stopping', 'stopped', 'deleting', 'deleted')";
/** So many rollouts and filters are named, the newest. */
const most = 50;

/**
 * Reads what the invalidation of a set would concern, in one snapshot; there is no row for an unknown set. A user restricted to target types gets the
 * rollouts that reach no other targets, and the actions of such targets.
 */
export const previewInvalidation = statement<[tenantId: number, id: number, scope: Scope], PreviewRow>(
  "management.preview_invalidation",
  `select (select json_build_object('total', coalesce(max(r.total), 0), 'size', count(*), 'content',
                  coalesce(json_agg(json_build_object('id', r.id, 'name', r.name, 'status', r.status) order by r.id desc), '[]'))
             from (select v.id, v.name, v.status, count(*) over () as total from rollout_engine.rollouts_v1 v
                    where v.tenant_id = $1 and v.set_id = $2 and not v.deleted and v.status not in ${ended}
                      and ${reachesOnly("v.reached_types", "$3")}
                    order by v.id desc limit ${most}) r) as rollouts,
          (select json_build_object('total', coalesce(max(f.total), 0), 'size', count(*), 'content',
                  coalesce(json_agg(json_build_object('id', f.id, 'name', f.name) order by f.id desc), '[]'))
             from (select v.id, v.name, count(*) over () as total from rollout_engine.target_filters_v1 v
                    where v.tenant_id = $1 and v.auto_assign_set_id = $2 and s.valid and not s.deleted
                    order by v.id desc limit ${most}) f) as "autoAssignments",
          (select jsonb_object_agg(c.status, c.n)
             from (select a.status, count(*) as n from controller.actions_v1 a
                    where a.tenant_id = $1 and a.set_id = $2 and (a.active or a.status = ${actionStatus.SCHEDULED})
                      and ($3::bigint[] is null
                           or exists (select from controller.targets_v1 t
                                       where t.tenant_id = a.tenant_id and t.id = a.target_id and t.target_type_id = any($3::bigint[])))
                    group by a.status) c) as actions
     from distribution_sets s where s.tenant_id = $1 and s.id = $2`,
);
