import { statement } from "@harrier/db";

/** The statement takes a change in this form; without a group it changes the rollout itself. */
export interface RequestedChange {
  n: number;
  groupId: number | null;
  /** Null stands for whichever of the expected statuses the rollout is in. */
  from: string | null;
  to: string | null;
  requestStart: boolean;
  reason: string | null;
  causedBy: number | null;
  value: number | null;
  limit: number | null;
  decidedBy: string | null;
  remark: string | null;
}

type Values = [
  tenantId: number,
  rolloutId: number,
  /** The decision was made for these statuses of the rollout; in any other nothing happens. */
  expected: readonly string[],
  /** The decision was made for this epoch; null stands for any. */
  epoch: number | null,
  changes: string,
  /** Null stands for the engine itself, which is never shown as the one who last modified a rollout. */
  actor: string | null,
  tenant: string,
  traceparent: string | null,
  /** Whether the engine is woken. */
  notify: boolean,
];

/**
 * Changes statuses of a rollout and its groups, with their events, in one statement. The guards are in the statement: nothing happens and no row
 * comes back unless the rollout is as expected; a group that is no longer as expected is left alone. The event carries the `totals` of that moment.
 * All events of a rollout, including those of its groups, share one sequence. Each change of a status is a step of the timeline, with the sequence
 * of its event (contract console.md §2).
 */
export const applyChangesStatement = statement<Values, { status: string; epoch: number; changed: number }>(
  "rollout_engine.apply_changes",
  `with locked as materialized (
     select tenant_id, id, name, status, sequence, total_targets from rollouts
      where tenant_id = $1 and id = $2 and status = any($3::text[]) and ($4::bigint is null or epoch = $4)
      for no key update
   ), requested as materialized (
     select x.* from jsonb_to_recordset($5::jsonb)
       as x(n int, "groupId" bigint, "from" text, "to" text, "requestStart" boolean, reason text, "causedBy" bigint, value real, "limit" real,
              "decidedBy" text, remark text)
   ), groups_changed as (
     update rollout_groups g
        set status = coalesce(a."to", g.status), start_requested = g.start_requested or a."requestStart",
            started_at = case when a."to" = 'running' then now() else g.started_at end,
            finished_at = case when a."to" in ('finished', 'error') then now() else g.finished_at end,
            last_modified_at = now(), last_modified_by = coalesce($6, g.last_modified_by), revision = g.revision + 1
       from requested a, locked l
      where g.tenant_id = l.tenant_id and g.rollout_id = l.id and g.id = a."groupId" and g.status = a."from"
      returning a.n, g.id, g.name, a."from", a."to", g.total_targets
   ), rollout_change as materialized (
     select a.n, l.status as "from", a."to", a.reason, a."causedBy", a.value, a."limit", a."decidedBy", a.remark from requested a, locked l
      where a."groupId" is null and coalesce(a."from", l.status) = l.status
   ), progress as materialized (
     select group_id, scheduled, running, finished, error, cancelled
       from controller.group_progress_v1
      where tenant_id = $1 and rollout_id = $2 and exists (select 1 from requested where "to" is not null)
   ), totals as (
     select l.id, l.total_targets, json_build_object(
              'scheduled', p.scheduled, 'running', p.running, 'finished', p.finished, 'error', p.error, 'cancelled', p.cancelled,
              'notstarted', greatest(0, l.total_targets - p.scheduled - p.running - p.finished - p.error - p.cancelled)) as counts
       from locked l, lateral (
         select coalesce(sum(scheduled), 0)::bigint as scheduled, coalesce(sum(running), 0)::bigint as running,
                coalesce(sum(finished), 0)::bigint as finished, coalesce(sum(error), 0)::bigint as error,
                coalesce(sum(cancelled), 0)::bigint as cancelled
           from progress) p
   ), items as (
     select g.n, 'io.update.rollout_group.status_changed.v1' as type, 'rollouts/' || $2::bigint || '/groups/' || g.id as subject,
            json_build_object('groupId', g.id, 'groupName', g.name, 'previousStatus', g."from", 'status', g."to",
                              'totalTargets', g.total_targets, 'actor', coalesce($6, 'system')) as data,
            g.id as group_id, g."from", g."to", null::text as reason, null::bigint as caused_by, null::real as value, null::real as threshold,
            null::text as remark, g.total_targets, to_jsonb(p) - 'group_id' as counts
       from groups_changed g left join progress p on p.group_id = g.id where g."to" is not null
     union all
     select c.n, case c."to" when 'deleted' then 'io.update.rollout.deleted.v1' else 'io.update.rollout.status_changed.v1' end,
            'rollouts/' || $2::bigint,
            json_strip_nulls(json_build_object('previousStatus', c."from", 'status', c."to", 'reason', c.reason, 'groupId', c."causedBy",
                                               'actor', coalesce($6, 'system'), 'totals', t.counts)),
            null, c."from", c."to", c.reason, c."causedBy", c.value, c."limit", c.remark, t.total_targets, t.counts::jsonb - 'notstarted'
       from rollout_change c, totals t
   ), numbered as materialized (
     select i.*, (row_number() over (order by i.n))::int as k from items i
   ), changed as (
     update rollouts r
        set status = coalesce(c."to", r.status),
            deleted = r.deleted or c."to" is not distinct from 'deleted',
            epoch = r.epoch + (c."to" is not distinct from 'starting')::int,
            started_at = case when c."to" = 'starting' then now() else r.started_at end,
            finished_at = case when c."to" in ('finished', 'stopped') then now() else r.finished_at end,
            status_step = coalesce(r.sequence + (select k from numbered where group_id is null), r.status_step),
            -- what a stop has walked over is walked over again, by force, when the rollout is deleted
            stop_cursor = case when c."to" in ('stopping', 'deleting') then -1 else r.stop_cursor end,
            approve_decided_by = coalesce(c."decidedBy", r.approve_decided_by), approval_remark = coalesce(c.remark, r.approval_remark),
            sequence = r.sequence + (select count(*) from numbered),
            last_modified_at = now(), last_modified_by = coalesce($6, r.last_modified_by), revision = r.revision + 1
       from locked l left join rollout_change c on true
      where r.tenant_id = l.tenant_id and r.id = l.id
      returning r.status, r.epoch
   ), step as (
     insert into rollout_steps (tenant_id, rollout_id, sequence, group_id, previous_status, status, reason, caused_by, value, threshold, actor,
                                remark, total_targets, counts)
     select l.tenant_id, l.id, l.sequence + s.k, s.group_id, s."from", s."to", s.reason, s.caused_by, s.value, s.threshold,
            coalesce($6, 'system'), s.remark, s.total_targets, s.counts
       from locked l, numbered s
   ), event as (
     insert into outbox (tenant_id, topic, type, common, items, traceparent)
     select l.tenant_id, 'rollout-events', 'io.update.rollout.status_changed.v1',
            json_build_object('tenant', $7::text, 'rolloutId', l.id, 'name', l.name),
            (select json_agg(json_build_object('type', type, 'subject', subject, 'sequence', l.sequence + k, 'data', data) order by k)
               from numbered), $8
       from locked l where exists (select 1 from numbered)
   ), notified as (
     update leases b set due_at = now(), notifications = b.notifications + 1
       from locked l where $9 and b.tenant_id = l.tenant_id and b.rollout_id = l.id
   )
   select status, epoch, ((select count(*) from groups_changed) + (select count(*) from rollout_change))::int as changed from changed`,
);
