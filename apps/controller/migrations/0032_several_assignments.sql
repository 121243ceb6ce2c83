-- expand
-- Several actions of a target side by side (`multi.assignments.enabled`, contract rollouts.md §6.9): a new assignment cancels nothing, the
-- same set may be given again, and the device works through what is open by weight, the oldest of equal ones first.
-- The functions look at the setting themselves, so that it holds whoever calls them, a replica of the version before too.
-- What stands between "generated" marks comes from src/domain by scripts/checks/report-function.mjs --write: do not edit it here.

-- Given while the setting was on: its end does not speak for the whole target (src/domain/transitions.ts, effectsBesideOthers).
alter table actions add column beside_others boolean not null default false;

create function several_assignments(p_tenant int) returns boolean
language plpgsql stable as $$ -- not sql: that one would have to be there already where management's view is not yet
begin
  return exists (select from management.tenant_settings_v1 v
                  where v.tenant_id = p_tenant and v.key = 'multi.assignments.enabled' and v.value = 'true'::jsonb);
end
$$;

-- How many open actions a target may have side by side (packages/contracts, mostOpenActions).
create function most_open_actions() returns int language sql immutable parallel safe as 'select 100';

-- May the target get p_more of them? Counted in the index of what is open, and no further than the limit.
create function may_open(p_tenant int, p_target int, p_more int) returns boolean
language sql stable as $$
  select count(*) + p_more <= most_open_actions()
    from (select from actions a where a.tenant_id = p_tenant and a.target_id = p_target and a.active limit most_open_actions()) o
$$;

-- As before, and where several may be open nothing is superseded.
create or replace function supersede_open_actions(
  p_tenant int, p_tenant_name text, p_targets int[], p_rollout bigint, p_autoclose boolean, p_by text, p_traceparent text
) returns void
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_ids bigint[];
  v_previous smallint[];
begin
  if several_assignments(p_tenant) then
    return;
  end if;
  with open as materialized (
    select a.id, a.status
      from unnest((select p_targets)) as t (id)
      cross join lateral (
        select o.id, o.status from actions o
         where o.tenant_id = p_tenant and o.target_id = t.id and o.active and not o.migration_step
           and o.rollout_id is distinct from p_rollout and (p_autoclose or o.status <> 5)
        offset 0) a
  ), changed as (
    update actions a
       set status = case when p_autoclose then 4 else 5 end, active = not p_autoclose, revision = a.revision + 1,
           last_modified_by = p_by, last_modified_at = now()
      from open where a.tenant_id = p_tenant and a.id = open.id
    returning a.id, open.status
  )
  select array_agg(id), array_agg(status) into v_ids, v_previous from changed;
  perform record_action_changes(p_tenant, p_tenant_name, 'io.update.action.status_changed.v1', v_ids, v_previous, null,
    array[case when p_autoclose then 'Update Server: close obsolete action due to new update'
               else 'Update Server: cancel obsolete action due to new update' end], p_traceparent);
end
$$;

-- As before, and where several may be open what has not begun stays too.
create or replace function cancel_scheduled_actions(
  p_tenant int, p_tenant_name text, p_targets int[], p_rollout bigint, p_by text, p_traceparent text
) returns void
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_ids bigint[];
  v_previous smallint[];
begin
  if several_assignments(p_tenant) then
    return;
  end if;
  with waiting as materialized (
    select a.id, a.status
      from unnest((select p_targets)) as t (id)
      cross join lateral (
        select o.id, o.status from actions o
         where o.tenant_id = p_tenant and o.target_id = t.id and o.status = 8 and not o.migration_step
           and o.rollout_id is distinct from p_rollout
        offset 0) a
  ), changed as (
    update actions a
       set status = 4, active = false, revision = a.revision + 1, last_modified_by = p_by, last_modified_at = now()
      from waiting where a.tenant_id = p_tenant and a.id = waiting.id
    returning a.id, waiting.status
  )
  select array_agg(id), array_agg(status) into v_ids, v_previous from changed;
  perform record_action_changes(p_tenant, p_tenant_name, 'io.update.action.status_changed.v1', v_ids, v_previous, null,
    array['Update Server: cancel obsolete action due to new update'], p_traceparent);
end
$$;

-- Several sets for several targets, side by side with what these have open: each item names its target and, by its place in p_sets, its set;
-- of equal weight the device begins with the item that was named first. Nothing happens unless all checks hold; unknown targets are dropped.
-- A target's assigned set is that of its last item.
create function assign_several(
  p_tenant int, p_tenant_name text, p_command text,
  p_sets bigint[], p_set_names text[], p_set_versions text[], p_set_types bigint[], p_migration_steps boolean[],
  p_controller_ids text[], p_places int[], p_force_types smallint[], p_force_times timestamptz[], p_weights int[],
  p_schedules text[], p_durations text[], p_timezones text[], p_ends timestamptz[], p_confirmations boolean[],
  p_first_id bigint, p_max_actions int, p_confirmation_flow boolean, p_scope bigint[], p_initiator text, p_traceparent text
) returns jsonb
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_answer jsonb := command_answer(p_tenant, p_command);
  v_targets int[];
  v_items int[];   -- places of the items whose target is known
  v_owners int[];  -- the target of each
  v_full text;
  v_open text;
  v_message text := 'Assignment initiated by user ''' || p_initiator || '''';
  v_ms bigint := (extract(epoch from now()) * 1000)::bigint;
begin
  if v_answer is not null then
    return v_answer;
  end if;
  if not several_assignments(p_tenant) then
    return jsonb_build_object('outcome', 'notEnabled');
  end if;
  perform refresh_statistics();

  select array_agg(l.target_id) into v_targets
    from (select s.target_id
            from (select distinct c.id from unnest((select p_controller_ids)) as c (id)) i
            join targets t on t.tenant_id = p_tenant and t.controller_id = i.id
            join target_state s on s.tenant_id = t.tenant_id and s.target_id = t.id
           where p_scope is null or t.target_type_id = any (p_scope)
           order by s.target_id for no key update of s) l;
  select array_agg(i.n order by i.n), array_agg(t.id order by i.n) into v_items, v_owners
    from unnest((select v_targets)) as x (id)
    join targets t on t.tenant_id = p_tenant and t.id = x.id
    join unnest((select p_controller_ids)) with ordinality as i (controller_id, n) on i.controller_id = t.controller_id;

  if exists (select from unnest((select v_items), (select v_owners)) as x (n, id)
               join targets t on t.tenant_id = p_tenant and t.id = x.id
              where t.target_type_id is not null
                and not exists (select from management.target_type_set_types_v1 c
                                 where c.tenant_id = p_tenant and c.target_type_id = t.target_type_id
                                   and c.set_type_id = p_set_types[p_places[x.n]])) then
    return jsonb_build_object('outcome', 'incompatible');
  end if;
  select min(t.controller_id) filter (where p_max_actions > 0 and x.n + (select count(*) from (
             select from actions a where a.tenant_id = p_tenant and a.target_id = x.id limit p_max_actions) c) > p_max_actions),
         min(t.controller_id) filter (where not may_open(p_tenant, x.id, x.n::int))
    into v_full, v_open
    from (select o.id, count(*) as n from unnest((select v_owners)) as o (id) group by o.id) x
    join targets t on t.tenant_id = p_tenant and t.id = x.id;
  if v_full is not null then
    return jsonb_build_object('outcome', 'quota', 'controllerId', v_full);
  elsif v_open is not null then
    return jsonb_build_object('outcome', 'open', 'controllerId', v_open, 'limit', most_open_actions());
  end if;

  update target_state s set assigned_set_id = l.set_id, update_status = 2, revision = s.revision + 1
    from (select distinct on (x.id) x.id, p_sets[p_places[x.n]] as set_id
            from unnest((select v_items), (select v_owners)) as x (n, id) order by x.id, x.n desc) l
   where s.tenant_id = p_tenant and s.target_id = l.id;

  with items as materialized (
    select p_first_id + x.place - 1 as id, x.id as target_id, i.controller_id, i.place as set_place, i.force_type, i.force_time, i.weight,
           i.schedule, i.duration, i.timezone, i.ends_at,
           first_status(p_confirmation_flow, i.confirmation, c.note) as status,
           case when p_confirmation_flow then 11 else 3 end::smallint as entry,
           first_messages(p_confirmation_flow, i.confirmation, c.note, v_message, p_initiator) as messages
      from unnest(v_items, v_owners) with ordinality as x (n, id, place)
      join unnest(p_controller_ids, p_places, p_force_types, p_force_times, p_weights, p_schedules, p_durations, p_timezones, p_ends,
                  p_confirmations)
           with ordinality as i (controller_id, place, force_type, force_time, weight, schedule, duration, timezone, ends_at, confirmation, n)
        on i.n = x.n
      left join lateral (
        select auto_confirmation_message(y.initiator, y.created_by, y.remark) as note from auto_confirmations y
         where p_confirmation_flow and y.tenant_id = p_tenant and y.target_id = x.id
        offset 0) c on true
  ), created as (
    insert into actions (tenant_id, id, target_id, controller_id, set_id, status, active, force_type, force_time, weight, migration_step,
                         maintenance_schedule, maintenance_duration, maintenance_timezone, maintenance_ends_at, beside_others,
                         initiated_by, created_by, last_modified_by)
    select p_tenant, id, target_id, controller_id, p_sets[set_place], status, true, force_type, force_time, weight,
           p_migration_steps[set_place], schedule, duration, timezone, ends_at, true, p_initiator, p_initiator, p_initiator
      from items
  ), history as (
    insert into action_history (tenant_id, action_id, revision, status, messages, occurred_at)
    select p_tenant, id, 1, entry, messages, now() from items
  ), event as (
    insert into outbox (tenant_id, topic, type, common, items, traceparent)
    select p_tenant, 'action-events', 'io.update.action.created.v1',
           action_event_common(p_tenant_name, p_sets[set_place], p_set_names[set_place], p_set_versions[set_place], null, null, p_initiator),
           json_agg(json_build_array(id, controller_id, 1, null, status, true, force_type, weight, null, messages, v_ms, entry) order by id),
           p_traceparent
      from items group by set_place
  )
  select jsonb_build_object(
           'outcome', 'ok', 'already', 0,
           'actions', coalesce(jsonb_agg(jsonb_build_object('id', id, 'controllerId', controller_id) order by id), '[]'))
    into v_answer from items;
  return keep_answer(p_tenant, p_command, v_answer);
end
$$;

-- As before, and where several may be open a target that has the set assigned gets it once more. One that has too much open already fails.
create or replace function start_chunk(
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
  v_full bigint[];
  v_count int;
  v_started json;
  v_skipped json;
  v_refused json;
  v_several boolean := several_assignments(p_tenant);
  v_refusal text := 'Update Server: The target has as many open actions as it may have (' || most_open_actions() || ').';
  v_errors int := 0;
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
    from (select s.target_id, case when not v_several then s.assigned_set_id end as assigned_set_id, t.id
            from unnest((select v_targets), (select v_ids)) as t (target_id, id)
            join target_state s on s.tenant_id = p_tenant and s.target_id = t.target_id
           order by s.target_id for no key update of s) l;
  if v_several then -- counted under the lock that has just been taken, by a statement of its own
    select array_agg(x.id) filter (where x.fits), array_agg(x.id) filter (where not x.fits) into v_ids, v_full
      from (select a.id, may_open(p_tenant, a.target_id, 1) as fits
              from actions a where a.tenant_id = p_tenant and a.id = any ((select v_ids)::bigint[])) x;
  end if;

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

  -- not left behind, or the group would never be done; a retry of the rollout finds them
  if v_full is not null then
    with refused as (
      update actions a set status = 1, active = false, revision = a.revision + 1, last_modified_by = p_initiator, last_modified_at = now()
       where a.tenant_id = p_tenant and a.id = any ((select v_full)::bigint[]) and a.status = (select 8)
      returning a.id, a.controller_id, a.revision, a.force_type, a.weight
    ), history as (
      insert into action_history (tenant_id, action_id, revision, status, messages, occurred_at)
      select p_tenant, id, revision, 1, array[v_refusal], now() from refused
    )
    select count(*), json_agg(json_build_array(id, controller_id, revision, 8, 1, false, force_type, weight, null, array[v_refusal], v_ms, 1))
      into v_errors, v_refused from refused;
  end if;

  if v_ids is not null then
    with running as (
      update actions a
         set status = case when p_confirmation_flow and p_confirmation
                            and (select y.target_id from auto_confirmations y
                                  where y.tenant_id = p_tenant and y.target_id = a.target_id) is null then 11 else 3 end,
             active = true, beside_others = v_several, revision = a.revision + 1, last_modified_by = p_initiator, last_modified_at = now()
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
  select p_tenant, p_rollout, p_group, 0, d.bucket, d.n from (values (1::smallint, started), (2::smallint, skipped), (3::smallint, v_errors)) d (bucket, n)
   where d.n > 0;

  insert into outbox (tenant_id, topic, type, common, items, traceparent)
  select p_tenant, 'action-events', 'io.update.action.status_changed.v1',
         action_event_common(p_tenant_name, p_set, p_set_name, p_set_version, p_rollout, p_group, p_initiator), i.items, p_traceparent
    from (values (v_skipped), (v_refused), (v_started)) i (items) where i.items is not null;
  skipped := skipped + v_errors;
end
$$;

-- As before, and where several may be open a target that has too much open is passed over.
create or replace function auto_assign_chunk(
  p_tenant int, p_tenant_name text, p_filter bigint, p_epoch bigint, p_pass bigint, p_cursor int, p_limit int, p_first_id bigint,
  p_set bigint, p_set_name text, p_set_version text, p_set_type bigint, p_migration_step boolean, p_force_type smallint, p_weight int,
  p_schedule text, p_duration text, p_timezone text, p_window_ends timestamptz,
  p_confirmation boolean, p_max_actions int, p_autoclose boolean, p_confirmation_flow boolean, p_initiator text, p_message text,
  p_traceparent text,
  out fenced boolean, out "cursor" int, out done boolean, out created int
)
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_targets int[];
  v_new int[];
  v_count int;
  v_several boolean := several_assignments(p_tenant);
  v_ms bigint := (extract(epoch from now()) * 1000)::bigint;
begin
  perform refresh_statistics();
  fenced := false; "cursor" := p_cursor; created := 0;
  perform pg_advisory_xact_lock_shared(hashtextextended('harrier auto-assignment ' || p_tenant || '/' || p_filter, 0));
  perform 1 from rollout_engine.target_filters_v1 f
    join management.tenants_v1 n on n.tenant_id = f.tenant_id and n.status = 'active'
    join management.distribution_sets_v1 d on d.tenant_id = f.tenant_id and d.id = f.auto_assign_set_id
   where f.tenant_id = p_tenant and f.id = p_filter and f.auto_assign_epoch = p_epoch and f.auto_assign_set_id = p_set
     and d.valid and not d.deleted;
  if not found then
    fenced := true; done := false;
    return;
  end if;

  select array_agg(c.target_id order by c.target_id), max(c.target_id), count(*) into v_targets, "cursor", v_count
    from (select k.target_id from rollout_engine.auto_assign_candidates_v1 k
           where k.tenant_id = p_tenant and k.filter_id = p_filter and k.pass = p_pass and k.target_id > p_cursor
           order by k.target_id limit p_limit) c;
  "cursor" := coalesce("cursor", p_cursor);
  done := v_count < p_limit;
  if v_count = 0 then
    return;
  end if;

  select array_agg(l.target_id) into v_targets
    from (select s.target_id from target_state s
           where s.tenant_id = p_tenant and s.target_id = any ((select v_targets)::int[])
             and s.assigned_set_id is distinct from p_set
           order by s.target_id for no key update) l;
  -- whether the type fits was asked a moment ago; it is asked again, for an administrator may have changed it
  select array_agg(t.id order by t.id) into v_new
    from unnest((select v_targets)) as x (id)
    cross join lateral (select y.id, y.target_type_id from targets y where y.tenant_id = p_tenant and y.id = x.id offset 0) t
   where not exists (select from actions a where a.tenant_id = p_tenant and a.set_id = p_set and a.target_id = x.id)
     and (t.target_type_id is null or exists (
           select from management.target_type_set_types_v1 c
            where c.tenant_id = p_tenant and c.target_type_id = t.target_type_id and c.set_type_id = p_set_type))
     and (p_max_actions <= 0
          or (select count(*) from (select from actions a where a.tenant_id = p_tenant and a.target_id = x.id limit p_max_actions) m)
             < p_max_actions)
     and (not v_several or may_open(p_tenant, x.id, 1));
  if v_new is null then
    return;
  end if;

  perform supersede_open_actions(p_tenant, p_tenant_name, v_new, -1, p_autoclose, p_initiator, p_traceparent);
  perform cancel_scheduled_actions(p_tenant, p_tenant_name, v_new, -1, p_initiator, p_traceparent);
  update target_state s set assigned_set_id = p_set, update_status = 2, revision = s.revision + 1
   where s.tenant_id = p_tenant and s.target_id = any ((select v_new)::int[]);

  with items as materialized (
    select p_first_id + x.n - 1 as id, t.id as target_id, t.controller_id, first_status(p_confirmation_flow, p_confirmation, c.note) as status,
           case when p_confirmation_flow then 11 else 3 end::smallint as entry,
           first_messages(p_confirmation_flow, p_confirmation, c.note, p_message, p_initiator) as messages
      from unnest((select v_new)) with ordinality as x (id, n)
      cross join lateral (select y.id, y.controller_id from targets y where y.tenant_id = p_tenant and y.id = x.id offset 0) t
      left join lateral (
        select auto_confirmation_message(y.initiator, y.created_by, y.remark) as note from auto_confirmations y
         where p_confirmation_flow and y.tenant_id = p_tenant and y.target_id = x.id
        offset 0) c on true
  ), made as (
    insert into actions (tenant_id, id, target_id, controller_id, set_id, status, active, force_type, weight, migration_step,
                         maintenance_schedule, maintenance_duration, maintenance_timezone, maintenance_ends_at, beside_others,
                         initiated_by, created_by, last_modified_by)
    select p_tenant, id, target_id, controller_id, p_set, status, true, p_force_type, p_weight, p_migration_step,
           p_schedule, p_duration, p_timezone, p_window_ends, v_several, p_initiator, p_initiator, p_initiator
      from items
  ), history as (
    insert into action_history (tenant_id, action_id, revision, status, messages, occurred_at)
    select p_tenant, id, 1, entry, messages, now() from items
  ), event as (
    insert into outbox (tenant_id, topic, type, common, items, traceparent)
    select p_tenant, 'action-events', 'io.update.action.created.v1',
           action_event_common(p_tenant_name, p_set, p_set_name, p_set_version, null, null, p_initiator),
           json_agg(json_build_array(id, controller_id, 1, null, status, true, p_force_type, p_weight, null, messages, v_ms, entry) order by id),
           p_traceparent
      from items
  )
  select count(*) into created from items;
end
$$;

-- generated: report
create or replace function report(
  p_tenant int, p_controller_id text, p_action bigint,
  p_channel smallint, p_execution smallint, p_result smallint, -- places in the lists of src/domain/transitions.ts
  p_code int, p_messages text[], p_occurred timestamptz,
  p_max_entries int, p_max_messages int,                       -- 0 or less: no limit
  p_tenant_name text, p_traceparent text
) returns text language plpgsql as $report$
declare
  t target_state;
  was target_state;
  a actions;
  v_entry smallint;
  v_next smallint;
  v_active boolean;
  v_effect text := 'none';
  v_entries_free boolean := false;
  v_messages_free boolean := false;
  v_from smallint;
  v_to smallint;
begin
  -- the target's row first, whoever comes: that is the lock order of the whole service
  select s.* into t from targets g join target_state s on s.tenant_id = g.tenant_id and s.target_id = g.id
   where g.tenant_id = p_tenant and g.controller_id = p_controller_id for no key update of s;
  if not found then return 'targetNotFound'; end if;
  select * into a from actions where tenant_id = p_tenant and id = p_action and target_id = t.target_id for no key update;
  if not found then
    perform from actions where tenant_id = p_tenant and id = p_action;
    return case when found then 'foreignAction' else 'actionNotFound' end;
  end if;

  if p_channel = 0 then
    if a.status = 11 then
      return 'stateNotFound';
    elsif not a.active then
      return 'closed';
    else
      null;
    end if;
  elsif p_channel = 1 then
    if a.status = 4 then
      return 'ok';
    elsif a.status = 5 then
      null;
    else
      return 'notCanceling';
    end if;
  end if;

  if p_channel = 0 and p_execution = 0 and p_result in (0, 2) then
    -- deployment: closed (success, none)
    v_entry := 0; -- FINISHED
    v_next := 0;
    v_effect := 'installed';
    v_entries_free := true;
  elsif p_channel = 0 and p_execution = 0 then
    -- deployment: closed (any)
    v_entry := 1; -- ERROR
    v_next := 1;
    v_effect := 'failed';
    v_entries_free := true;
  elsif p_channel = 0 and p_execution in (1, 3, 5) and p_result = 0 then
    -- deployment: proceeding, scheduled, resumed (success)
    v_entry := 0; -- FINISHED
    v_next := 0;
    v_effect := 'installed';
    v_entries_free := true;
  elsif p_channel = 0 and p_execution in (1, 3, 5) and p_result = 1 then
    -- deployment: proceeding, scheduled, resumed (failure)
    v_entry := 1; -- ERROR
    v_next := 1;
    v_effect := 'failed';
    v_entries_free := true;
  elsif p_channel = 0 and p_execution = 1 then
    -- deployment: proceeding (any)
    v_entry := 3; -- RUNNING
    v_next := case when a.status = 5 then a.status else 3 end;
  elsif p_channel = 0 and p_execution = 3 then
    -- deployment: scheduled (any)
    v_entry := 3; -- RUNNING
    v_next := case when a.status = 5 then a.status else 3 end;
  elsif p_channel = 0 and p_execution = 5 then
    -- deployment: resumed (any)
    v_entry := 3; -- RUNNING
    v_next := case when a.status = 5 then a.status else 3 end;
  elsif p_channel = 0 and p_execution = 6 then
    -- deployment: download (any)
    v_entry := 7; -- DOWNLOAD
    v_next := a.status;
  elsif p_channel = 0 and p_execution = 7 and a.force_type = 3 then
    -- deployment: downloaded (any), download only
    v_entry := 10; -- DOWNLOADED
    v_next := 10;
    v_effect := 'downloaded';
    v_entries_free := true;
  elsif p_channel = 0 and p_execution = 7 then
    -- deployment: downloaded (any)
    v_entry := 10; -- DOWNLOADED
    v_next := a.status;
  elsif p_channel = 0 and p_execution = 2 then
    -- deployment: canceled (any)
    v_entry := 4; -- CANCELED
    v_next := a.status;
  elsif p_channel = 0 and p_execution = 4 then
    -- deployment: rejected (any)
    v_entry := 2; -- WARNING
    v_next := a.status;
  elsif p_channel = 1 and p_execution = 0 and p_result in (0, 2) then
    -- cancel: closed (success, none)
    v_entry := 4; -- CANCELED
    v_next := 4;
    v_effect := 'cancelled';
    v_entries_free := true;
    v_messages_free := true;
  elsif p_channel = 1 and p_execution = 0 then
    -- cancel: closed (any)
    v_entry := 1; -- ERROR
    v_next := 3;
    v_entries_free := true;
    v_messages_free := true;
  elsif p_channel = 1 and p_execution = 4 then
    -- cancel: rejected (any)
    v_entry := 9; -- CANCEL_REJECTED
    v_next := 3;
    v_entries_free := true;
    v_messages_free := true;
  elsif p_channel = 1 and p_execution = 2 then
    -- cancel: canceled (any)
    v_entry := 2; -- WARNING
    v_next := a.status;
  elsif p_channel = 1 and p_execution in (1, 3, 5, 6, 7) then
    -- cancel: proceeding, scheduled, resumed, download, downloaded (any)
    v_entry := 3; -- RUNNING
    v_next := a.status;
  else
    raise exception 'no rule for report % %/%', p_channel, p_execution, p_result;
  end if;
  if not v_messages_free and p_max_messages > 0 and cardinality(p_messages) > p_max_messages then return 'tooManyMessages'; end if;
  if not v_entries_free and p_max_entries > 0 and a.revision >= p_max_entries then return 'tooManyEntries'; end if;

  was := t;
  if v_effect = 'installed' and a.beside_others then
    t.assigned_set_id := coalesce((select o.set_id from actions o where o.tenant_id = p_tenant and o.target_id = t.target_id and o.active and o.id <> a.id order by o.id limit 1), a.set_id);
    t.installed_set_id := a.set_id;
    t.installed_at := now();
    t.installed_action_id := greatest(a.id, (
      select max(o.id) from actions o
       where o.tenant_id = p_tenant and o.target_id = t.target_id and o.set_id = a.set_id and o.status = 0));
    t.update_status := case when exists (select from actions o where o.tenant_id = p_tenant and o.target_id = t.target_id and o.active and o.id <> a.id) then 2 else 3 end;
    t.request_attributes := true;
  elsif v_effect = 'downloaded' and a.beside_others then
    t.assigned_set_id := coalesce((select o.set_id from actions o where o.tenant_id = p_tenant and o.target_id = t.target_id and o.active and o.id <> a.id order by o.id limit 1), t.assigned_set_id);
    t.update_status := case when exists (select from actions o where o.tenant_id = p_tenant and o.target_id = t.target_id and o.active and o.id <> a.id) then 2 else 3 end;
    t.request_attributes := true;
  elsif v_effect = 'installed' then
    if a.force_type = 3 then t.assigned_set_id := a.set_id; end if;
    t.installed_set_id := a.set_id;
    t.installed_at := now();
    t.installed_action_id := greatest(a.id, (
      select max(o.id) from actions o
       where o.tenant_id = p_tenant and o.target_id = t.target_id and o.set_id = a.set_id and o.status = 0));
    if t.assigned_set_id = t.installed_set_id then t.update_status := 3; end if;
    t.request_attributes := true;
  elsif v_effect = 'failed' then
    t.assigned_set_id := null;
    t.update_status := 4;
  elsif v_effect = 'downloaded' then
    t.update_status := 3;
    t.request_attributes := true;
  elsif v_effect = 'cancelled' then
    t.assigned_set_id := coalesce((select o.set_id from actions o where o.tenant_id = p_tenant and o.target_id = t.target_id and o.active and o.id <> a.id order by o.id limit 1), t.installed_set_id);
    if not exists (select from actions o where o.tenant_id = p_tenant and o.target_id = t.target_id and o.active and o.id <> a.id) then t.update_status := 3; end if;
  end if;

  v_active := not (v_next in (0, 1, 4, 10));
  update actions
     set status = v_next, active = v_active, last_status_code = p_code, revision = revision + 1,
         last_modified_by = 'CONTROLLER_PLUG_AND_PLAY', last_modified_at = now()
   where tenant_id = p_tenant and id = a.id;
  if t is distinct from was then
    update target_state
       set update_status = t.update_status, assigned_set_id = t.assigned_set_id, installed_set_id = t.installed_set_id,
           installed_at = t.installed_at, installed_action_id = t.installed_action_id,
           request_attributes = t.request_attributes, revision = revision + 1
     where tenant_id = p_tenant and target_id = t.target_id;
  end if;

  v_from := action_bucket(a.status, a.force_type);
  v_to := action_bucket(v_next, a.force_type);
  if a.rollout_id is not null and v_from <> v_to then
    insert into group_deltas (tenant_id, rollout_id, group_id, from_bucket, to_bucket, n)
    values (p_tenant, a.rollout_id, a.group_id, v_from, v_to, 1);
  end if;

  insert into action_history (tenant_id, action_id, revision, status, messages, code, occurred_at)
  values (p_tenant, a.id, a.revision + 1, v_entry, p_messages, p_code, p_occurred);

  insert into outbox (tenant_id, topic, type, common, items, traceparent)
  select p_tenant, 'action-events', 'io.update.action.status_changed.v1',
         action_event_common(p_tenant_name, a.set_id, d.name, d.version, a.rollout_id, a.group_id, a.initiated_by),
         json_build_array(json_build_array(
           a.id, a.controller_id, a.revision + 1, a.status, v_next, v_active, a.force_type, a.weight, p_code,
           nullif(p_messages, '{}'), (extract(epoch from p_occurred) * 1000)::bigint, v_entry)),
         p_traceparent
    from (select 1) one
    left join management.distribution_sets_v1 d on d.tenant_id = p_tenant and d.id = a.set_id;
  if not exists (select from target_polls where tenant_id = p_tenant and target_id = t.target_id) then
    perform stamp_poll(p_tenant, t.target_id);
  end if;
  return 'ok';
end
$report$;
-- end
