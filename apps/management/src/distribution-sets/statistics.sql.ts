import { statement } from "@harrier/db";
import { reachesOnly, type Scope } from "@harrier/query";

/** These are counts by status; null means that there is nothing to count. */
export interface SetCounts {
  actions: Record<number, number> | null;
  rollouts: Record<string, number> | null;
  autoAssignments: number;
}

/**
 * Counts what uses a set; there is no row for an unknown set. Deleted rollouts do not count, and filters count only while the set can be
 * assigned. Parts that are not requested are not counted. For a user restricted to target types, only actions of such targets count, and
 * rollouts that reach no other targets.
 */
export const countUses = statement<
  [tenantId: number, id: number, actions: boolean, rollouts: boolean, autoAssignments: boolean, scope: Scope],
  SetCounts
>(
  "management.count_uses",
  `select (select jsonb_object_agg(c.status, c.n)
             from (select a.status, count(*) as n from controller.actions_v1 a
                    where $3 and a.tenant_id = $1 and a.set_id = $2
                      and ($6::bigint[] is null
                           or exists (select from controller.targets_v1 t
                                       where t.tenant_id = a.tenant_id and t.id = a.target_id and t.target_type_id = any($6::bigint[])))
                    group by a.status) c) as actions,
          (select jsonb_object_agg(c.status, c.n)
             from (select r.status, count(*) as n from rollout_engine.rollouts_v1 r
                    where $4 and r.tenant_id = $1 and r.set_id = $2 and not r.deleted
                      and ${reachesOnly("r.reached_types", "$6")}
                    group by r.status) c) as rollouts,
          (select count(*)::int from rollout_engine.target_filters_v1 f
            where $5 and f.tenant_id = $1 and f.auto_assign_set_id = $2 and s.valid and not s.deleted) as "autoAssignments"
     from distribution_sets s where s.tenant_id = $1 and s.id = $2`,
);
