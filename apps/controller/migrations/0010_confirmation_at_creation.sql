-- expand
-- Actions that have to be confirmed, and maintenance windows of actions, from the moment an action begins.

-- As before, with one more table that bulk functions look into.
create or replace function refresh_statistics() returns void
language plpgsql as $$
declare
  v_table text;
begin
  for v_table in
    select c.relname from pg_class c
     where c.relnamespace = 'controller'::regnamespace
       and c.relname in ('targets', 'target_state', 'target_polls', 'target_attributes', 'auto_confirmations', 'actions')
       and pg_relation_size(c.oid) > 8192 * 50
       and (c.reltuples < c.relpages or pg_relation_size(c.oid) > 8192 * (2 * c.relpages::bigint + 50))
  loop
    execute format('analyze (skip_locked) controller.%I', v_table);
  end loop;
end
$$;

-- What is said of an action that a target has confirmed by itself (device §5.5), trailing blanks included.
create function auto_confirmation_message(p_initiator text, p_created_by text, p_remark text) returns text
language sql immutable parallel safe as $$
  select 'Assignment automatically confirmed by initiator ''' || coalesce(p_initiator, 'n/a') || '''. ' || E'\n\n'
      || 'Auto confirmation activated by system user: ''' || coalesce(p_created_by, 'n/a') || ''' ' || E'\n\n'
      || 'Remark: ' || coalesce(p_remark, 'n/a')
$$;

-- How an action begins (device §7.1): it waits for a confirmation where the tenant's flow is on, the action needs one, and its target
-- does not confirm by itself (`p_auto` is null).
create function first_status(p_flow boolean, p_needed boolean, p_auto text) returns smallint
language sql immutable parallel safe as $$
  select (case when p_flow and p_needed and p_auto is null then 11 else 3 end)::smallint
$$;

-- Its first messages: who began it, and with the flow on who has confirmed it, or that nobody has.
create function first_messages(p_flow boolean, p_needed boolean, p_auto text, p_begun text, p_initiator text) returns text[]
language sql immutable parallel safe as $$
  select case
    when not p_flow then array[p_begun]
    when not p_needed then array[p_begun, 'Assignment confirmed by initiator [' || p_initiator || '].']
    else array[p_begun, coalesce(p_auto, 'Waiting for the confirmation by the device before processing with the deployment')]
  end
$$;

-- The functions of these names with fewer parameters stay for replicas of the version before.

-- One set for many targets (management §5.3). Nothing happens unless all checks hold; unknown targets are dropped.
create function assign_set(
  p_tenant int, p_tenant_name text, p_command text, p_set bigint, p_set_name text, p_set_version text, p_set_type bigint,
  p_migration_step boolean, p_controller_ids text[], p_force_types smallint[], p_force_times timestamptz[], p_weights int[],
  p_schedules text[], p_durations text[], p_timezones text[], p_ends timestamptz[], p_confirmations boolean[],
  p_first_id bigint, p_max_actions int, p_autoclose boolean, p_confirmation_flow boolean, p_scope bigint[], p_initiator text,
  p_traceparent text
) returns jsonb
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_answer jsonb := command_answer(p_tenant, p_command);
  v_targets int[];
  v_places int[];
  v_new int[];
  v_new_places int[];
  v_full text;
  v_message text := 'Assignment initiated by user ''' || p_initiator || '''';
  v_ms bigint := (extract(epoch from now()) * 1000)::bigint;
begin
  if v_answer is not null then
    return v_answer;
  end if;
  perform refresh_statistics();

  select array_agg(l.target_id), array_agg(l.n) into v_targets, v_places
    from (select s.target_id, i.n
            from unnest((select p_controller_ids)) with ordinality as i (controller_id, n)
            join targets t on t.tenant_id = p_tenant and t.controller_id = i.controller_id
            join target_state s on s.tenant_id = t.tenant_id and s.target_id = t.id
           where p_scope is null or t.target_type_id = any (p_scope)
           order by s.target_id for no key update of s) l;
  if exists (select from unnest((select v_targets)) as x (id) join targets t on t.tenant_id = p_tenant and t.id = x.id
              where t.target_type_id is not null
                and not exists (select from management.target_type_set_types_v1 c
                                 where c.tenant_id = p_tenant and c.target_type_id = t.target_type_id and c.set_type_id = p_set_type)) then
    return jsonb_build_object('outcome', 'incompatible');
  end if;

  select array_agg(x.id), array_agg(x.n) into v_new, v_new_places
    from unnest((select v_targets), (select v_places)) as x (id, n)
    join target_state s on s.tenant_id = p_tenant and s.target_id = x.id
   where s.assigned_set_id is distinct from p_set;
  select t.controller_id into v_full
    from unnest((select v_new)) as x (id)
    join targets t on t.tenant_id = p_tenant and t.id = x.id
   where p_max_actions > 0
     and (select count(*) from (select from actions a where a.tenant_id = p_tenant and a.target_id = x.id limit p_max_actions) c)
         >= p_max_actions
   limit 1;
  if found then
    return jsonb_build_object('outcome', 'quota', 'controllerId', v_full);
  end if;

  if v_new is not null then
    perform supersede_open_actions(p_tenant, p_tenant_name, v_new, -1, p_autoclose, p_initiator, p_traceparent);
    perform cancel_scheduled_actions(p_tenant, p_tenant_name, v_new, -1, p_initiator, p_traceparent);
    update target_state s set assigned_set_id = p_set, update_status = 2, revision = s.revision + 1
     where s.tenant_id = p_tenant and s.target_id = any ((select v_new)::int[]);
  end if;

  with items as materialized (
    select p_first_id + x.place - 1 as id, x.id as target_id, i.controller_id, i.force_type, i.force_time, i.weight,
           i.schedule, i.duration, i.timezone, i.ends_at,
           first_status(p_confirmation_flow, i.confirmation, c.note) as status,
           case when p_confirmation_flow then 11 else 3 end::smallint as entry,
           first_messages(p_confirmation_flow, i.confirmation, c.note, v_message, p_initiator) as messages
      from unnest(v_new, v_new_places) with ordinality as x (id, n, place)
      join unnest(p_controller_ids, p_force_types, p_force_times, p_weights, p_schedules, p_durations, p_timezones, p_ends, p_confirmations)
           with ordinality as i (controller_id, force_type, force_time, weight, schedule, duration, timezone, ends_at, confirmation, n)
        on i.n = x.n
      left join lateral (
        select auto_confirmation_message(y.initiator, y.created_by, y.remark) as note from auto_confirmations y
         where p_confirmation_flow and y.tenant_id = p_tenant and y.target_id = x.id
        offset 0) c on true
  ), created as (
    insert into actions (tenant_id, id, target_id, controller_id, set_id, status, active, force_type, force_time, weight, migration_step,
                         maintenance_schedule, maintenance_duration, maintenance_timezone, maintenance_ends_at,
                         initiated_by, created_by, last_modified_by)
    select p_tenant, id, target_id, controller_id, p_set, status, true, force_type, force_time, weight, p_migration_step,
           schedule, duration, timezone, ends_at, p_initiator, p_initiator, p_initiator
      from items
  ), history as (
    insert into action_history (tenant_id, action_id, revision, status, messages, occurred_at)
    select p_tenant, id, 1, entry, messages, now() from items
  ), event as (
    insert into outbox (tenant_id, topic, type, common, items, traceparent)
    select p_tenant, 'action-events', 'io.update.action.created.v1',
           action_event_common(p_tenant_name, p_set, p_set_name, p_set_version, null, null, p_initiator),
           json_agg(json_build_array(id, controller_id, 1, null, status, true, force_type, weight, null, messages, v_ms, entry) order by id),
           p_traceparent
      from items having count(*) > 0
  )
  select jsonb_build_object(
           'outcome', 'ok', 'already', coalesce(cardinality(v_targets), 0) - count(*),
           'actions', coalesce(jsonb_agg(jsonb_build_object('id', id, 'controllerId', controller_id) order by id), '[]'))
    into v_answer from items;
  return keep_answer(p_tenant, p_command, v_answer);
end
$$;

-- Starts the next SCHEDULED actions of a group. A target that already has the set assigned is finished at once (rollouts §4.4);
-- the others supersede what the target has open.
create function start_chunk(
  p_tenant int, p_tenant_name text, p_rollout bigint, p_group bigint, p_epoch bigint, p_cursor int, p_limit int,
  p_set bigint, p_set_name text, p_set_version text, p_autoclose boolean, p_confirmation_flow boolean,
  p_confirmation boolean, p_initiator text, p_message text, p_traceparent text,
  out fenced boolean, out "cursor" int, out done boolean, out started int, out skipped int
)
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_targets int[];
  v_ids bigint[];
  v_skip bigint[];
  v_count int;
  v_started json;
  v_skipped json;
  v_ms bigint := (extract(epoch from now()) * 1000)::bigint;
begin
  perform refresh_statistics();
  fenced := false; "cursor" := p_cursor; started := 0; skipped := 0;
  perform 1 from rollout_fences f where f.tenant_id = p_tenant and f.rollout_id = p_rollout and f.epoch = p_epoch and f.open for share;
  if not found then
    fenced := true; done := false;
    return;
  end if;

  -- walks the group whatever the status: a page is bounded by its rows, not by how many of them still wait
  select array_agg(page.target_id order by page.target_id) filter (where page.status = 8),
         array_agg(page.id order by page.target_id) filter (where page.status = 8), max(page.target_id), count(*)
    into v_targets, v_ids, "cursor", v_count
    from (select a.target_id, a.id, a.status from actions a
           where a.tenant_id = p_tenant and a.rollout_id = p_rollout and a.group_id = p_group and a.target_id > p_cursor
           order by a.target_id limit p_limit) page;
  "cursor" := coalesce("cursor", p_cursor);
  done := v_count < p_limit;
  if v_targets is null then
    return;
  end if;

  select array_agg(l.id) filter (where l.assigned_set_id is distinct from p_set), array_agg(l.id) filter (where l.assigned_set_id = p_set)
    into v_ids, v_skip
    from (select s.target_id, s.assigned_set_id, t.id
            from unnest((select v_targets), (select v_ids)) as t (target_id, id)
            join target_state s on s.tenant_id = p_tenant and s.target_id = t.target_id
           order by s.target_id for no key update of s) l;

  -- "(select 8)": the partial index of scheduled actions must not be considered here, on a just filled table it passes for empty
  if v_skip is not null then
    with finished as (
      update actions a set status = 0, active = false, revision = a.revision + 1, last_modified_by = p_initiator, last_modified_at = now()
       where a.tenant_id = p_tenant and a.id = any ((select v_skip)::bigint[]) and a.status = (select 8)
      returning a.id, a.target_id, a.controller_id, a.revision, a.force_type, a.weight
    ), history as (
      insert into action_history (tenant_id, action_id, revision, status, messages, occurred_at)
      select p_tenant, id, revision, 3, array['Update Server: Distribution Set is already assigned. Skipping this action.'], now()
        from finished
    ), installed as ( -- the newest FINISHED action of the installed set is what installedBase links to
      update target_state s set installed_action_id = f.id, revision = s.revision + 1
        from finished f where s.tenant_id = p_tenant and s.target_id = f.target_id and s.installed_set_id = p_set
    )
    select count(*), json_agg(json_build_array(id, controller_id, revision, 8, 0, false, force_type, weight, null,
             array['Update Server: Distribution Set is already assigned. Skipping this action.'], v_ms, 3))
      into skipped, v_skipped from finished;
  end if;

  if v_ids is not null then
    with running as (
      update actions a
         set status = case when p_confirmation_flow and p_confirmation
                            and (select y.target_id from auto_confirmations y
                                  where y.tenant_id = p_tenant and y.target_id = a.target_id) is null then 11 else 3 end,
             active = true, revision = a.revision + 1, last_modified_by = p_initiator, last_modified_at = now()
       where a.tenant_id = p_tenant and a.id = any ((select v_ids)::bigint[]) and a.status = (select 8)
      returning a.id, a.target_id, a.controller_id, a.status, a.revision, a.force_type, a.weight
    ), told as materialized (
      select r.*, case when p_confirmation_flow then 11 else 3 end::smallint as entry,
             first_messages(p_confirmation_flow, p_confirmation, c.note, p_message, p_initiator) as messages
        from running r
        left join lateral (
          select auto_confirmation_message(y.initiator, y.created_by, y.remark) as note from auto_confirmations y
           where p_confirmation_flow and p_confirmation and y.tenant_id = p_tenant and y.target_id = r.target_id
          offset 0) c on true
    ), history as (
      insert into action_history (tenant_id, action_id, revision, status, messages, occurred_at)
      select p_tenant, id, revision, entry, messages, now() from told
    )
    select count(*), array_agg(target_id),
           json_agg(json_build_array(id, controller_id, revision, 8, status, true, force_type, weight, null, messages, v_ms, entry))
      into started, v_targets, v_started from told;
  end if;

  if started > 0 then
    perform supersede_open_actions(p_tenant, p_tenant_name, v_targets, p_rollout, p_autoclose, p_initiator, p_traceparent);
    update target_state s set assigned_set_id = p_set, update_status = 2, revision = s.revision + 1
     where s.tenant_id = p_tenant and s.target_id = any ((select v_targets)::int[]);
  end if;

  insert into group_deltas (tenant_id, rollout_id, group_id, from_bucket, to_bucket, n)
  select p_tenant, p_rollout, p_group, 0, d.bucket, d.n from (values (1::smallint, started), (2::smallint, skipped)) d (bucket, n) where d.n > 0;

  insert into outbox (tenant_id, topic, type, common, items, traceparent)
  select p_tenant, 'action-events', 'io.update.action.status_changed.v1',
         action_event_common(p_tenant_name, p_set, p_set_name, p_set_version, p_rollout, p_group, p_initiator), i.items, p_traceparent
    from (values (v_skipped), (v_started)) i (items) where i.items is not null;
end
$$;
