import { statement } from "@harrier/db";
import { stoppable as stoppableStatuses } from "./statuses.ts";

const stoppable = `(${stoppableStatuses.map((status) => `'${status}'`).join(", ")})`;

/**
 * Moves the next rollouts of a set to STOPPING, with an event each, and wakes the engine for them. Answers how many were moved, and how many in
 * total have not stopped yet. It also wakes rollouts that an engine of an older version has put to sleep. All statements lock leases in the same
 * order.
 */
export const stopNextOfSet = statement<
  [tenantId: number, tenant: string, setId: number, keepRunning: boolean, limit: number, actor: string, traceparent: string | null],
  { stopped: number; stopping: number }
>(
  "rollout_engine.stop_next_of_set",
  `with picked as materialized (
     select tenant_id, id, name, status, sequence, total_targets from rollouts
      where tenant_id = $1 and set_id = $3 and not deleted and status in ${stoppable}
      order by id limit $5 for no key update
   ), stopped as (
     update rollouts r
        set status = 'stopping', keep_running = $4, stop_cursor = -1, sequence = r.sequence + 1, status_step = r.sequence + 1,
            last_modified_at = now(), last_modified_by = $6, revision = r.revision + 1
       from picked p where r.tenant_id = p.tenant_id and r.id = p.id
     returning r.id
   ), progress as materialized (
     select p.id, coalesce(sum(g.scheduled), 0)::bigint as scheduled, coalesce(sum(g.running), 0)::bigint as running,
            coalesce(sum(g.finished), 0)::bigint as finished, coalesce(sum(g.error), 0)::bigint as error,
            coalesce(sum(g.cancelled), 0)::bigint as cancelled
       from picked p left join lateral (
         select * from controller.group_progress_v1 v where v.tenant_id = $1 and v.rollout_id = p.id) g on true
      group by p.id
   ), step as (
     insert into rollout_steps (tenant_id, rollout_id, sequence, previous_status, status, reason, actor, total_targets, counts)
     select p.tenant_id, p.id, p.sequence + 1, p.status, 'stopping', 'invalidation', $6::text, p.total_targets, to_jsonb(c) - 'id'
       from picked p join progress c on c.id = p.id
   ), event as (
     insert into outbox (tenant_id, topic, type, common, items, traceparent)
     select p.tenant_id, 'rollout-events', 'io.update.rollout.status_changed.v1',
            json_build_object('tenant', $2::text, 'rolloutId', p.id, 'name', p.name),
            json_build_array(json_build_object(
              'type', 'io.update.rollout.status_changed.v1', 'subject', 'rollouts/' || p.id, 'sequence', p.sequence + 1,
              'data', json_build_object('previousStatus', p.status, 'status', 'stopping', 'reason', 'invalidation', 'actor', $6::text,
                'totals', json_build_object('scheduled', c.scheduled, 'running', c.running, 'finished', c.finished, 'error', c.error,
                  'cancelled', c.cancelled,
                  'notstarted', greatest(0, p.total_targets - c.scheduled - c.running - c.finished - c.error - c.cancelled))))),
            $7
       from picked p join progress c on c.id = p.id
   ), notified as (
     update leases l set due_at = now(), notifications = l.notifications + 1
       from (select b.tenant_id, b.rollout_id from leases b
              where b.tenant_id = $1 and (b.rollout_id in (select id from picked) or (b.due_at = 'infinity' and b.rollout_id in (
                      select o.id from rollouts o where o.tenant_id = $1 and o.set_id = $3 and o.status = 'stopping')))
              order by b.tenant_id, b.rollout_id for no key update) o
      where l.tenant_id = o.tenant_id and l.rollout_id = o.rollout_id
   )
   select (select count(*) from stopped)::int as stopped,
          (select count(*) from rollouts o where o.tenant_id = $1 and o.set_id = $3 and not o.deleted
              and (o.status = 'stopping' or o.status in ${stoppable}))::int as stopping`,
);
