-- Creates SCHEDULED actions for targets that have joined the last group of a running dynamic rollout (contract rollouts.md §4.6), as schedule_chunk
-- does, but a target that got an action of a newer rollout since it was found is skipped. This is checked under the target's lock: whichever of the
-- two comes second sees the other, and the newer one wins. The fence and the order of locks are those of rollout-chunks.sql.
create or replace function join_chunk(
  p_tenant int, p_tenant_name text, p_rollout bigint, p_group bigint, p_epoch bigint, p_cursor bigint, p_limit int, p_first_id bigint,
  p_set bigint, p_set_name text, p_set_version text, p_migration_step boolean, p_force_type smallint, p_force_time timestamptz,
  p_weight int,
  p_schedule text, p_duration text, p_timezone text, p_window_ends timestamptz, p_initiator text, p_traceparent text,
  out fenced boolean, out "cursor" bigint, out done boolean, out created int
)
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_targets int[];
  v_count int;
  v_created timestamptz;
  v_ms bigint := (extract(epoch from now()) * 1000)::bigint;
begin
  perform refresh_statistics();
  fenced := false; "cursor" := p_cursor; created := 0;
  perform 1 from rollout_fences f where f.tenant_id = p_tenant and f.rollout_id = p_rollout and f.epoch = p_epoch and f.open for share;
  if not found then
    fenced := true; done := false;
    return;
  end if;

  select array_agg(m.target_id order by m.target_id), max(m.ordinal), count(*) into v_targets, "cursor", v_count
    from (select g.target_id, g.ordinal from rollout_engine.group_members_v1 g
           where g.tenant_id = p_tenant and g.rollout_id = p_rollout and g.group_id = p_group and g.ordinal > p_cursor
           order by g.ordinal limit p_limit) m;
  "cursor" := coalesce("cursor", p_cursor);
  done := v_count < p_limit;
  if v_count = 0 then
    return;
  end if;

  perform 1 from target_state s where s.tenant_id = p_tenant and s.target_id = any ((select v_targets)::int[]) order by s.target_id for no key update;

  select r.created_at into v_created from rollout_engine.rollouts_v1 r where r.tenant_id = p_tenant and r.id = p_rollout;
  select array_agg(x.id order by x.id) into v_targets
    from unnest((select v_targets)) as x (id)
   where not exists (
     select from actions a join rollout_engine.rollouts_v1 r on r.tenant_id = a.tenant_id and r.id = a.rollout_id
      where a.tenant_id = p_tenant and a.target_id = x.id and (r.created_at, r.id) > (v_created, p_rollout));
  if v_targets is null then
    return;
  end if;

  with created_actions as (
    insert into actions (tenant_id, id, target_id, controller_id, set_id, status, active, force_type, force_time, weight, migration_step,
                         maintenance_schedule, maintenance_duration, maintenance_timezone, maintenance_ends_at,
                         rollout_id, group_id, initiated_by, created_by, last_modified_by)
    select p_tenant, p_first_id + m.n - 1, m.target_id, t.controller_id, p_set, 8, false, p_force_type, p_force_time, p_weight,
           p_migration_step, p_schedule, p_duration, p_timezone, p_window_ends, p_rollout, p_group, p_initiator, p_initiator, p_initiator
      from unnest((select v_targets)) with ordinality as m (target_id, n)
      cross join lateral (select x.controller_id from targets x where x.tenant_id = p_tenant and x.id = m.target_id offset 0) t
    on conflict (tenant_id, rollout_id, target_id) where rollout_id is not null and retried_by is null do nothing
    returning id, target_id, controller_id
  ), history as (
    insert into action_history (tenant_id, action_id, revision, status, occurred_at)
    select p_tenant, id, 1, 8, now() from created_actions
  ), deltas as (
    insert into group_deltas (tenant_id, rollout_id, group_id, from_bucket, to_bucket, n)
    select p_tenant, p_rollout, p_group, null, 0, count(*) from created_actions having count(*) > 0
  ), event as (
    insert into outbox (tenant_id, topic, type, common, items, traceparent)
    select p_tenant, 'action-events', 'io.update.action.created.v1',
           action_event_common(p_tenant_name, p_set, p_set_name, p_set_version, p_rollout, p_group, p_initiator),
           json_agg(json_build_array(id, controller_id, 1, null, 8, false, p_force_type, p_weight, null, null, v_ms, 8)), p_traceparent
      from created_actions having count(*) > 0
  )
  select array_agg(target_id), count(*) into v_targets, created from created_actions;

  if created > 0 then
    perform cancel_scheduled_actions(p_tenant, p_tenant_name, v_targets, p_rollout, p_initiator, p_traceparent);
  end if;
end
$$;
