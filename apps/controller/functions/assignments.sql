-- These functions make assignments that are no chunks of a rollout: by an administrator, several at once, and offline ones.

-- Returns whether all targets take sets of the type: those of a target type take the set types that it names.
create or replace function targets_take_sets_of(p_tenant int, p_targets int[], p_set_type bigint) returns boolean
language plpgsql stable as $$ -- in plain sql, management's view would have to exist already
begin
  return not exists (
    select from unnest((select p_targets)) as x (id) join targets t on t.tenant_id = p_tenant and t.id = x.id
     where t.target_type_id is not null
       and not exists (select from management.target_type_set_types_v1 c
                        where c.tenant_id = p_tenant and c.target_type_id = t.target_type_id and c.set_type_id = p_set_type));
end
$$;

-- Returns a target that has the maximum of actions already (0 or less: no limit), or null. It counts no further than that.
create or replace function target_without_room(p_tenant int, p_targets int[], p_max_actions int) returns text
language sql stable as $$
  select t.controller_id
    from unnest((select p_targets)) as x (id)
    join targets t on t.tenant_id = p_tenant and t.id = x.id
   where p_max_actions > 0
     and (select count(*) from (select from actions a where a.tenant_id = p_tenant and a.target_id = x.id limit p_max_actions) c)
         >= p_max_actions
   limit 1
$$;

-- Assigns one set to many targets (management §5.3). Nothing happens unless all checks succeed; unknown targets are dropped.
create or replace function assign_set(
  p_tenant int, p_tenant_name text, p_command text, p_set bigint, p_set_name text, p_set_version text, p_set_type bigint,
  p_migration_step boolean, p_controller_ids text[], p_force_types smallint[], p_force_times timestamptz[], p_weights int[],
  p_schedules text[], p_durations text[], p_timezones text[], p_ends timestamptz[], p_confirmations boolean[],
  p_first_id bigint, p_max_actions int, p_autoclose boolean, p_confirmation_flow boolean, p_scope bigint[], p_initiator text,
  p_traceparent text, p_safeties text, p_safety_places int[]
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
  v_policies int[];
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
  if not targets_take_sets_of(p_tenant, v_targets, p_set_type) then
    return jsonb_build_object('outcome', 'incompatible');
  end if;

  select array_agg(x.id), array_agg(x.n) into v_new, v_new_places
    from unnest((select v_targets), (select v_places)) as x (id, n)
    join target_state s on s.tenant_id = p_tenant and s.target_id = x.id
   where s.assigned_set_id is distinct from p_set;
  v_full := target_without_room(p_tenant, v_new, p_max_actions);
  if v_full is not null then
    return jsonb_build_object('outcome', 'quota', 'controllerId', v_full);
  end if;

  if v_new is not null then
    perform supersede_open_actions(p_tenant, p_tenant_name, v_new, -1, p_autoclose, p_initiator, p_traceparent);
    perform cancel_scheduled_actions(p_tenant, p_tenant_name, v_new, -1, p_initiator, p_traceparent);
    update target_state s set assigned_set_id = p_set, update_status = 2, revision = s.revision + 1
     where s.tenant_id = p_tenant and s.target_id = any ((select v_new)::int[]);
  end if;

  v_policies := intern_policies(p_tenant, p_safeties);

  with items as materialized (
    select p_first_id + x.place - 1 as id, x.id as target_id, i.controller_id, i.force_type, i.force_time, i.weight,
           i.schedule, i.duration, i.timezone, i.ends_at, v_policies[p_safety_places[i.n]] as policy_id,
           first_status(p_confirmation_flow, i.confirmation, c.message) as status,
           case when p_confirmation_flow then 11 else 3 end::smallint as entry,
           first_messages(p_confirmation_flow, i.confirmation, c.message, v_message, p_initiator) as messages
      from unnest(v_new, v_new_places) with ordinality as x (id, n, place)
      join unnest(p_controller_ids, p_force_types, p_force_times, p_weights, p_schedules, p_durations, p_timezones, p_ends, p_confirmations)
           with ordinality as i (controller_id, force_type, force_time, weight, schedule, duration, timezone, ends_at, confirmation, n)
        on i.n = x.n
      left join lateral (
        select auto_confirmation_message(y.initiator, y.created_by, y.remark) as message from auto_confirmations y
         where p_confirmation_flow and y.tenant_id = p_tenant and y.target_id = x.id
        offset 0) c on true
  ), created as (
    insert into actions (tenant_id, id, target_id, controller_id, set_id, status, active, force_type, force_time, weight, migration_step,
                         maintenance_schedule, maintenance_duration, maintenance_timezone, maintenance_ends_at, policy_id,
                         initiated_by, created_by, last_modified_by)
    select p_tenant, id, target_id, controller_id, p_set, status, true, force_type, force_time, weight, p_migration_step,
           schedule, duration, timezone, ends_at, policy_id, p_initiator, p_initiator, p_initiator
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
  if v_policies is not null then
    perform begin_watches(p_tenant, array(select (x ->> 'id')::bigint from jsonb_array_elements(v_answer -> 'actions') x));
  end if;
  return keep_answer(p_tenant, p_command, v_answer);
end
$$;

-- Assigns several sets to several targets, beside their open actions: each item names its target and, by its place in p_sets, its set; of equal
-- weight the device begins with the item that was named first. Nothing happens unless all checks succeed; unknown targets are dropped. A target's
-- assigned set is that of its last item.
create or replace function assign_several(
  p_tenant int, p_tenant_name text, p_command text,
  p_sets bigint[], p_set_names text[], p_set_versions text[], p_set_types bigint[], p_migration_steps boolean[],
  p_controller_ids text[], p_places int[], p_force_types smallint[], p_force_times timestamptz[], p_weights int[],
  p_schedules text[], p_durations text[], p_timezones text[], p_ends timestamptz[], p_confirmations boolean[],
  p_first_id bigint, p_max_actions int, p_confirmation_flow boolean, p_scope bigint[], p_initiator text, p_traceparent text, p_safeties text, p_safety_places int[]
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
  v_policies int[];
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
    return jsonb_build_object('outcome', 'open', 'controllerId', v_open, 'limit', max_open_actions());
  end if;

  update target_state s set assigned_set_id = l.set_id, update_status = 2, revision = s.revision + 1
    from (select distinct on (x.id) x.id, p_sets[p_places[x.n]] as set_id
            from unnest((select v_items), (select v_owners)) as x (n, id) order by x.id, x.n desc) l
   where s.tenant_id = p_tenant and s.target_id = l.id;

  v_policies := intern_policies(p_tenant, p_safeties);

  with items as materialized (
    select p_first_id + x.place - 1 as id, x.id as target_id, i.controller_id, i.place as set_place, i.force_type, i.force_time, i.weight,
           i.schedule, i.duration, i.timezone, i.ends_at, v_policies[p_safety_places[i.n]] as policy_id,
           first_status(p_confirmation_flow, i.confirmation, c.message) as status,
           case when p_confirmation_flow then 11 else 3 end::smallint as entry,
           first_messages(p_confirmation_flow, i.confirmation, c.message, v_message, p_initiator) as messages
      from unnest(v_items, v_owners) with ordinality as x (n, id, place)
      join unnest(p_controller_ids, p_places, p_force_types, p_force_times, p_weights, p_schedules, p_durations, p_timezones, p_ends,
                  p_confirmations)
           with ordinality as i (controller_id, place, force_type, force_time, weight, schedule, duration, timezone, ends_at, confirmation, n)
        on i.n = x.n
      left join lateral (
        select auto_confirmation_message(y.initiator, y.created_by, y.remark) as message from auto_confirmations y
         where p_confirmation_flow and y.tenant_id = p_tenant and y.target_id = x.id
        offset 0) c on true
  ), created as (
    insert into actions (tenant_id, id, target_id, controller_id, set_id, status, active, force_type, force_time, weight, migration_step,
                         maintenance_schedule, maintenance_duration, maintenance_timezone, maintenance_ends_at, multi_assignment, policy_id,
                         initiated_by, created_by, last_modified_by)
    select p_tenant, id, target_id, controller_id, p_sets[set_place], status, true, force_type, force_time, weight,
           p_migration_steps[set_place], schedule, duration, timezone, ends_at, true, policy_id, p_initiator, p_initiator, p_initiator
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
  if v_policies is not null then
    perform begin_watches(p_tenant, array(select (x ->> 'id')::bigint from jsonb_array_elements(v_answer -> 'actions') x));
  end if;
  return keep_answer(p_tenant, p_command, v_answer);
end
$$;

-- Records what devices run already: one FINISHED action each, and assigned = installed. Targets that have the set, or an open update, do not change
-- and are counted; unknown ones are dropped. Nothing happens unless all checks succeed.
create or replace function assign_offline(
  p_tenant int, p_tenant_name text, p_command text, p_set bigint, p_set_name text, p_set_version text, p_set_type bigint,
  p_migration_step boolean, p_controller_ids text[], p_first_id bigint, p_max_actions int, p_scope bigint[], p_initiator text,
  p_traceparent text
) returns jsonb
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_answer jsonb := command_answer(p_tenant, p_command);
  v_targets int[];
  v_new int[];
  v_full text;
  v_messages text[] := array['Assignment initiated by user ''' || p_initiator || '''', 'Update Server: Action reported as offline deployment'];
  v_ms bigint := (extract(epoch from now()) * 1000)::bigint;
begin
  if v_answer is not null then
    return v_answer;
  end if;
  perform refresh_statistics();

  select array_agg(l.target_id) into v_targets
    from (select s.target_id
            from unnest((select p_controller_ids)) as i (controller_id)
            join targets t on t.tenant_id = p_tenant and t.controller_id = i.controller_id
            join target_state s on s.tenant_id = t.tenant_id and s.target_id = t.id
           where p_scope is null or t.target_type_id = any (p_scope)
           order by s.target_id for no key update of s) l;
  if not targets_take_sets_of(p_tenant, v_targets, p_set_type) then
    return jsonb_build_object('outcome', 'incompatible');
  end if;

  select array_agg(x.id order by x.id) into v_new
    from unnest((select v_targets)) as x (id)
    join target_state s on s.tenant_id = p_tenant and s.target_id = x.id
   where s.assigned_set_id is distinct from p_set and s.update_status <> 2;
  v_full := target_without_room(p_tenant, v_new, p_max_actions);
  if v_full is not null then
    return jsonb_build_object('outcome', 'quota', 'controllerId', v_full);
  end if;

  with items as materialized (
    select p_first_id + x.place - 1 as id, x.id as target_id, t.controller_id,
           -- Ids come in blocks, so this one need not be the newest of the set's.
           greatest(p_first_id + x.place - 1, (select max(o.id) from actions o
                                                where o.tenant_id = p_tenant and o.target_id = x.id and o.set_id = p_set and o.status = 0))
             as newest
      from unnest(v_new) with ordinality as x (id, place)
      join targets t on t.tenant_id = p_tenant and t.id = x.id
  ), created as (
    insert into actions (tenant_id, id, target_id, controller_id, set_id, status, active, force_type, migration_step,
                         initiated_by, created_by, last_modified_by)
    select p_tenant, id, target_id, controller_id, p_set, 0, false, 1, p_migration_step, p_initiator, p_initiator, p_initiator from items
    returning id, controller_id, weight
  ), history as (
    insert into action_history (tenant_id, action_id, revision, status, messages, occurred_at)
    select p_tenant, id, 1, 0, v_messages, now() from items
  ), installed as (
    update target_state s
       set assigned_set_id = p_set, installed_set_id = p_set, installed_at = now(), installed_action_id = i.newest, update_status = 3,
           revision = s.revision + 1
      from items i where s.tenant_id = p_tenant and s.target_id = i.target_id
  ), event as (
    insert into outbox (tenant_id, topic, type, common, items, traceparent)
    select p_tenant, 'action-events', 'io.update.action.created.v1',
           action_event_common(p_tenant_name, p_set, p_set_name, p_set_version, null, null, p_initiator),
           json_agg(json_build_array(id, controller_id, 1, null, 0, false, 1, weight, null, v_messages, v_ms, 0) order by id),
           p_traceparent
      from created having count(*) > 0
  )
  select jsonb_build_object(
           'outcome', 'ok', 'already', coalesce(cardinality(v_targets), 0) - count(*),
           'actions', coalesce(jsonb_agg(jsonb_build_object('id', id, 'controllerId', controller_id) order by id), '[]'))
    into v_answer from items;
  return keep_answer(p_tenant, p_command, v_answer);
end
$$;
