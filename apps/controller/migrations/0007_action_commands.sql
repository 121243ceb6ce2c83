-- expand
-- Commands on actions that are not chunks of a rollout.

-- One set for many targets (management §5.3). Nothing happens unless all checks hold; unknown targets are dropped.
create function assign_set(
  p_tenant int, p_tenant_name text, p_command text, p_set bigint, p_set_name text, p_set_version text, p_set_type bigint,
  p_migration_step boolean, p_controller_ids text[], p_force_types smallint[], p_force_times timestamptz[], p_weights int[],
  p_first_id bigint, p_max_actions int, p_autoclose boolean, p_scope bigint[], p_initiator text, p_traceparent text
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
            from unnest(p_controller_ids) with ordinality as i (controller_id, n)
            join targets t on t.tenant_id = p_tenant and t.controller_id = i.controller_id
            join target_state s on s.tenant_id = t.tenant_id and s.target_id = t.id
           where p_scope is null or t.target_type_id = any (p_scope)
           order by s.target_id for no key update of s) l;
  if exists (select from unnest(v_targets) as x (id) join targets t on t.tenant_id = p_tenant and t.id = x.id
              where t.target_type_id is not null
                and not exists (select from management.target_type_set_types_v1 c
                                 where c.tenant_id = p_tenant and c.target_type_id = t.target_type_id and c.set_type_id = p_set_type)) then
    return jsonb_build_object('outcome', 'incompatible');
  end if;

  select array_agg(x.id), array_agg(x.n) into v_new, v_new_places
    from unnest(v_targets, v_places) as x (id, n)
    join target_state s on s.tenant_id = p_tenant and s.target_id = x.id
   where s.assigned_set_id is distinct from p_set;
  select t.controller_id into v_full
    from unnest(v_new) as x (id)
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
     where s.tenant_id = p_tenant and s.target_id = any (v_new);
  end if;

  with created as (
    insert into actions (tenant_id, id, target_id, controller_id, set_id, status, active, force_type, force_time, weight, migration_step,
                         initiated_by, created_by, last_modified_by)
    select p_tenant, p_first_id + x.place - 1, x.id, p_controller_ids[x.n], p_set, 3, true, p_force_types[x.n], p_force_times[x.n],
           p_weights[x.n], p_migration_step, p_initiator, p_initiator, p_initiator
      from unnest(v_new, v_new_places) with ordinality as x (id, n, place)
    returning id, controller_id, force_type, weight
  ), history as (
    insert into action_history (tenant_id, action_id, revision, status, messages, occurred_at)
    select p_tenant, id, 1, 3, array[v_message], now() from created
  ), event as (
    insert into outbox (tenant_id, topic, type, common, items, traceparent)
    select p_tenant, 'action-events', 'io.update.action.created.v1',
           action_event_common(p_tenant_name, p_set, p_set_name, p_set_version, null, null, p_initiator),
           json_agg(json_build_array(id, controller_id, 1, null, 3, true, force_type, weight, null, array[v_message], v_ms, 3) order by id),
           p_traceparent
      from created having count(*) > 0
  )
  select jsonb_build_object(
           'outcome', 'ok', 'already', coalesce(cardinality(v_targets), 0) - count(*),
           'actions', coalesce(jsonb_agg(jsonb_build_object('id', id, 'controllerId', controller_id) order by id), '[]'))
    into v_answer from created;
  return keep_answer(p_tenant, p_command, v_answer);
end
$$;

-- Locks the target of an action and says whether both are there: null, or why not.
create function lock_action(p_tenant int, p_controller_id text, p_action bigint, p_scope bigint[]) returns text
language plpgsql as $$
declare
  v_target int;
begin
  select s.target_id into v_target
    from targets t join target_state s on s.tenant_id = t.tenant_id and s.target_id = t.id
   where t.tenant_id = p_tenant and t.controller_id = p_controller_id and (p_scope is null or t.target_type_id = any (p_scope))
     for no key update of s;
  if not found then
    return 'targetNotFound';
  end if;
  return (select case when count(*) = 0 then 'actionNotFound' when not bool_or(a.target_id = v_target) then 'foreign' end
            from actions a where a.tenant_id = p_tenant and a.id = p_action);
end
$$;

-- Soft: the device is asked. Force: closed without the device, only after a soft one (device §7.3).
create function cancel_action(
  p_tenant int, p_tenant_name text, p_controller_id text, p_action bigint, p_force boolean, p_scope bigint[], p_by text, p_traceparent text
) returns text
language plpgsql as $$
declare
  v_outcome text := lock_action(p_tenant, p_controller_id, p_action, p_scope);
  v_action actions;
  v_next bigint;
begin
  if v_outcome is not null then
    return v_outcome;
  end if;
  select * into v_action from actions a where a.tenant_id = p_tenant and a.id = p_action;
  if not p_force then
    if not v_action.active or v_action.status in (4, 5) then
      return 'notCancelable';
    end if;
    update actions a set status = 5, revision = a.revision + 1, last_modified_by = p_by, last_modified_at = now()
     where a.tenant_id = p_tenant and a.id = p_action;
    perform record_action_changes(p_tenant, p_tenant_name, 'io.update.action.status_changed.v1', array[p_action], array[v_action.status],
      null, array['Update Server: manual cancelation requested'], p_traceparent);
    return 'ok';
  end if;

  if not v_action.active or v_action.status <> 5 then
    return 'notForceQuitable';
  end if;
  update actions a set status = 4, active = false, revision = a.revision + 1, last_modified_by = p_by, last_modified_at = now()
   where a.tenant_id = p_tenant and a.id = p_action;
  perform record_action_changes(p_tenant, p_tenant_name, 'io.update.action.status_changed.v1', array[p_action], array[v_action.status],
    null, array['Update Server: A force quit has been performed.'], p_traceparent);
  select o.set_id into v_next from actions o
   where o.tenant_id = p_tenant and o.target_id = v_action.target_id and o.active order by o.id limit 1;
  if found then
    update target_state s set assigned_set_id = v_next, revision = s.revision + 1
     where s.tenant_id = p_tenant and s.target_id = v_action.target_id;
  else
    update target_state s set assigned_set_id = s.installed_set_id, update_status = 3, revision = s.revision + 1
     where s.tenant_id = p_tenant and s.target_id = v_action.target_id;
  end if;
  return 'ok';
end
$$;

-- An action that is forced already, or whose force time has passed, stays as it is (rollouts §6).
create function force_action(
  p_tenant int, p_tenant_name text, p_controller_id text, p_action bigint, p_scope bigint[], p_by text, p_traceparent text
) returns text
language plpgsql as $$
declare
  v_outcome text := lock_action(p_tenant, p_controller_id, p_action, p_scope);
  v_status smallint;
begin
  if v_outcome is not null then
    return v_outcome;
  end if;
  update actions a set force_type = 1, force_time = null, revision = a.revision + 1, last_modified_by = p_by, last_modified_at = now()
   where a.tenant_id = p_tenant and a.id = p_action and (a.force_type = 0 or (a.force_type = 2 and a.force_time > now()))
  returning a.status into v_status;
  if found then
    perform record_action_changes(p_tenant, p_tenant_name, 'io.update.action.forced.v1', array[p_action], array[v_status], null,
      array['Update Server: Action switched to forced.'], p_traceparent);
  end if;
  return 'ok';
end
$$;

-- DOWNLOAD entries for full downloads, of any tenants; those over the entry quota are dropped (device §6.4).
create function note_downloads(
  p_command text, p_tenants int[], p_actions bigint[], p_paths text[], p_at timestamptz[], p_max_entries int
) returns jsonb
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_answer jsonb := command_answer(0, p_command);
begin
  if v_answer is not null then
    return v_answer;
  end if;
  perform 1 from target_state s
   where (s.tenant_id, s.target_id) in (select a.tenant_id, a.target_id from unnest(p_tenants, p_actions) as i (tenant_id, id)
                                          join actions a on a.tenant_id = i.tenant_id and a.id = i.id)
   order by s.tenant_id, s.target_id for no key update;

  with noted as materialized (
    select a.tenant_id, a.id, a.controller_id, a.set_id, a.status, a.force_type, a.weight, a.rollout_id, a.group_id, a.initiated_by,
           i.path, i.at, a.revision + row_number() over (partition by a.tenant_id, a.id order by i.n) as revision
      from unnest(p_tenants, p_actions, p_paths, p_at) with ordinality as i (tenant_id, id, path, at, n)
      join actions a on a.tenant_id = i.tenant_id and a.id = i.id
     where a.active
  ), kept as materialized (
    select * from noted where p_max_entries <= 0 or revision <= p_max_entries
  ), changed as (
    update actions a set revision = k.revision, last_modified_at = now()
      from (select tenant_id, id, max(revision) as revision from kept group by 1, 2) k
     where a.tenant_id = k.tenant_id and a.id = k.id
  ), history as (
    insert into action_history (tenant_id, action_id, revision, status, messages, occurred_at)
    select tenant_id, id, revision, 7, array['Update Server: Target downloads ' || path], at from kept
  ), event as (
    insert into outbox (tenant_id, topic, type, common, items)
    select k.tenant_id, 'action-events', 'io.update.action.status_reported.v1',
           action_event_common(min(n.name), k.set_id, min(s.name), min(s.version), k.rollout_id, k.group_id, k.initiated_by),
           json_agg(json_build_array(k.id, k.controller_id, k.revision, k.status, k.status, true, k.force_type, k.weight, null,
             array['Update Server: Target downloads ' || k.path], (extract(epoch from k.at) * 1000)::bigint, 7) order by k.id, k.revision)
      from kept k
      join management.tenants_v1 n on n.tenant_id = k.tenant_id
      left join management.distribution_sets_v1 s on s.tenant_id = k.tenant_id and s.id = k.set_id
     group by k.tenant_id, k.set_id, k.rollout_id, k.group_id, k.initiated_by
  )
  select jsonb_build_object('noted', count(*)) into v_answer from kept;
  return keep_answer(0, p_command, v_answer);
end
$$;
