import { type CompiledQuery, statement } from "@harrier/db";
import type { Scope } from "@harrier/query";
import { matchingTargets, type Selection } from "../matching/matching.ts";

/** The filler reads a dynamic rollout in this form. */
export interface FillWork {
  tenantActive: boolean;
  filter: string;
  setTypeId: number;
  targetTypes: Scope;
  /** The id of the last group, and how many more targets it takes. */
  groupId: number;
  lastOrdinal: number;
  room: number;
  /** Some members still lack their actions. The search takes "has no action of it" for "is not a member", which only holds when all have theirs. */
  behind: boolean;
}

/** Answers no row if the rollout does not run, because then no target joins it. */
export const loadFillWork = statement<[tenantId: number, rolloutId: number], FillWork>(
  "rollout_engine.load_filling",
  `select t.status = 'active' as "tenantActive", r.target_filter as filter, r.set_type_id as "setTypeId", r.target_types as "targetTypes",
          g.id as "groupId", g.last_ordinal as "lastOrdinal",
          case when g.dynamic and g.status in ('scheduled', 'running') then greatest(0, greatest(1, g.target_count) - g.total_targets) else 0 end as room,
          exists (select from rollout_groups b
                   where b.tenant_id = r.tenant_id and b.rollout_id = r.id
                     and (b.status in ('creating', 'ready') or (b.dynamic and b.schedule_cursor < b.last_ordinal))) as behind
     from rollouts r
     join management.tenants_v1 t on t.tenant_id = r.tenant_id
     cross join lateral (
       select * from rollout_groups l where l.tenant_id = r.tenant_id and l.rollout_id = r.id order by l.position desc limit 1) g
    where r.tenant_id = $1 and r.id = $2 and r.dynamic and r.status = 'running'`,
);

/**
 * Finds the targets that may join a dynamic rollout (contract rollouts.md §4.6): those that match it now and have no action of it or of a newer
 * one. It reads the next `limit` of them in one statement without a lock, because a scan of a large fleet must not delay a pause of the rollout.
 */
export function findJoining(selection: Selection, rolloutId: number, limit: number): CompiledQuery<{ ids: number[] }> {
  const { sql, values } = matchingTargets(selection);
  const at = values.length;
  const text = `select coalesce(array_agg(c.id order by c.id), '{}') as ids
      from (select t.id from controller.targets_v1 t
             where ${sql}
               and not exists (
                 select from controller.actions_v1 a join rollouts r on r.tenant_id = a.tenant_id and r.id = a.rollout_id
                  where a.tenant_id = t.tenant_id and a.target_id = t.id
                    and (r.created_at, r.id) >= (select m.created_at, m.id from rollouts m where m.tenant_id = $1 and m.id = $${at + 1}))
             order by t.id limit $${at + 2}) c`;
  return { sql: text, bindings: [...values, rolloutId, limit] };
}

/**
 * Adds targets to the last group of a running dynamic rollout as members, counts them, and notifies the engine to create their actions. Nothing
 * happens if the group has changed since they were found, so that no target joins twice. The cursor for starting the group's actions goes back to
 * the first of them.
 */
export const joinGroup = statement<
  [tenantId: number, rolloutId: number, groupId: number, lastOrdinal: number, targetIds: readonly number[]],
  { joined: number }
>(
  "rollout_engine.join_targets",
  `with locked as materialized (
     select tenant_id, id from rollouts where tenant_id = $1 and id = $2 and dynamic and status = 'running' for no key update
   ), grown as (
     update rollout_groups g
        set last_ordinal = g.last_ordinal + n.n, total_targets = g.total_targets + n.n, started = false,
            start_cursor = least(g.start_cursor, n.first - 1)
       from locked l, (select count(*)::int as n, min(id) as first from unnest($5::int[]) as m (id)) n
      where g.tenant_id = l.tenant_id and g.rollout_id = l.id and g.id = $3 and g.dynamic and g.status in ('scheduled', 'running')
        and g.last_ordinal = $4 and g.schedule_cursor = g.last_ordinal and g.total_targets + n.n <= greatest(1, g.target_count)
     returning g.tenant_id, g.rollout_id, g.id, n.n
   ), members as (
     insert into group_members (tenant_id, rollout_id, group_id, ordinal, target_id)
     select g.tenant_id, g.rollout_id, g.id, $4 + m.n, m.id from grown g, unnest($5::int[]) with ordinality as m (id, n)
   ), counted as (
     update rollouts r set total_targets = r.total_targets + g.n from grown g where r.tenant_id = g.tenant_id and r.id = g.rollout_id
   ), notified as (
     update leases b set due_at = now(), notifications = b.notifications + 1 from grown g where b.tenant_id = g.tenant_id and b.rollout_id = g.rollout_id
   )
   select coalesce(sum(n), 0)::int as joined from grown`,
);
