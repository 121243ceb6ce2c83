-- expand
-- Assignments that are only reported (management §5.5), and the end of what a rollout or an invalid set has open (rollouts §4.1, §4.9).

-- Actions of a set are walked in the order of their ids, chunk by chunk; by set alone they would have to be sorted for every chunk.
create index actions_of_set on actions (tenant_id, set_id, id);
drop index actions_set;

-- What devices run already: one FINISHED action each, and assigned = installed. Targets that have the set, or are busy, are left alone and
-- counted; unknown ones are dropped. Nothing happens unless all checks hold.
create function assign_offline(
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
  if exists (select from unnest((select v_targets)) as x (id) join targets t on t.tenant_id = p_tenant and t.id = x.id
              where t.target_type_id is not null
                and not exists (select from management.target_type_set_types_v1 c
                                 where c.tenant_id = p_tenant and c.target_type_id = t.target_type_id and c.set_type_id = p_set_type)) then
    return jsonb_build_object('outcome', 'incompatible');
  end if;

  select array_agg(x.id order by x.id) into v_new
    from unnest((select v_targets)) as x (id)
    join target_state s on s.tenant_id = p_tenant and s.target_id = x.id
   where s.assigned_set_id is distinct from p_set and s.update_status <> 2;
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

  with items as materialized (
    select p_first_id + x.place - 1 as id, x.id as target_id, t.controller_id,
           -- ids come in blocks, so that this one need not be the newest of the set's
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

-- Asks the devices of these actions to cancel them, as far as they are open and have not been asked. The caller holds the locks of their
-- targets' state.
create function ask_to_cancel(p_tenant int, p_tenant_name text, p_ids bigint[], p_by text, p_message text, p_traceparent text) returns int
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_ids bigint[];
  v_previous smallint[];
begin
  with open as materialized (
    select a.id, a.status from actions a
     where a.tenant_id = p_tenant and a.id = any ((select p_ids)::bigint[]) and a.active and a.status <> 5
  ), changed as (
    update actions a set status = 5, revision = a.revision + 1, last_modified_by = p_by, last_modified_at = now()
      from open where a.tenant_id = p_tenant and a.id = open.id
    returning a.id, open.status
  )
  select array_agg(id), array_agg(status) into v_ids, v_previous from changed;
  perform record_action_changes(p_tenant, p_tenant_name, 'io.update.action.status_changed.v1', v_ids, v_previous, null, array[p_message],
    p_traceparent);
  return coalesce(cardinality(v_ids), 0);
end
$$;

-- Closes these actions without their devices, as far as they are being cancelled; their targets go on with what else is open, or are as
-- they were (device §7.3). The caller holds the locks of the targets' state.
create function quit_by_force(p_tenant int, p_tenant_name text, p_ids bigint[], p_by text, p_traceparent text) returns void
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_ids bigint[];
  v_previous smallint[];
  v_targets int[];
begin
  with changed as (
    update actions a set status = 4, active = false, revision = a.revision + 1, last_modified_by = p_by, last_modified_at = now()
     where a.tenant_id = p_tenant and a.id = any ((select p_ids)::bigint[]) and a.active and a.status = 5
    returning a.id, a.target_id
  )
  select array_agg(id), array_agg(5::smallint), array_agg(distinct target_id) into v_ids, v_previous, v_targets from changed;
  perform record_action_changes(p_tenant, p_tenant_name, 'io.update.action.status_changed.v1', v_ids, v_previous, null,
    array['Update Server: A force quit has been performed.'], p_traceparent);
  update target_state s
     set assigned_set_id = case when n.target_id is null then s.installed_set_id else n.set_id end,
         update_status = case when n.target_id is null then 3 else s.update_status end, revision = s.revision + 1
    from unnest((select v_targets)) as t (id)
    left join lateral (
      select o.target_id, o.set_id from actions o
       where o.tenant_id = p_tenant and o.target_id = t.id and o.active order by o.id limit 1) n on true
   where s.tenant_id = p_tenant and s.target_id = t.id;
end
$$;

-- The next open actions of an invalid set. The walk goes by id over all of them, whatever their status: a page is bounded by its rows.
create function cancel_set_chunk(
  p_tenant int, p_tenant_name text, p_set bigint, p_cursor bigint, p_limit int, p_force boolean, p_by text, p_traceparent text,
  out "cursor" bigint, out done boolean, out canceled int
)
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_ids bigint[];
  v_targets int[];
  v_count int;
begin
  perform refresh_statistics();
  canceled := 0;
  select array_agg(page.id) filter (where page.active), array_agg(page.target_id) filter (where page.active), max(page.id), count(*)
    into v_ids, v_targets, "cursor", v_count
    from (select a.id, a.target_id, a.active from actions a
           where a.tenant_id = p_tenant and a.set_id = p_set and a.id > p_cursor order by a.id limit p_limit) page;
  "cursor" := coalesce("cursor", p_cursor);
  done := v_count < p_limit;
  if v_ids is null then
    return;
  end if;
  perform from target_state s where s.tenant_id = p_tenant and s.target_id = any ((select v_targets)::int[])
    order by s.target_id for no key update;
  canceled := ask_to_cancel(p_tenant, p_tenant_name, v_ids, p_by,
    'Update Server: cancel action because its distribution set was invalidated', p_traceparent);
  if p_force then
    perform quit_by_force(p_tenant, p_tenant_name, v_ids, p_by, p_traceparent);
  end if;
end
$$;

-- The next actions of a rollout that is being stopped: those that have not begun go, the devices of the others are asked to cancel them
-- where that is wanted. Refused while the fence is open: what it lets through behind the cursor would stay.
create function stop_chunk(
  p_tenant int, p_tenant_name text, p_rollout bigint, p_cursor int, p_limit int, p_cancel boolean, p_by text, p_traceparent text,
  out fenced boolean, out "cursor" int, out done boolean, out removed int, out canceled int
)
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_ids bigint[];
  v_targets int[];
  v_count int;
begin
  perform refresh_statistics();
  fenced := false; "cursor" := p_cursor; done := false; removed := 0; canceled := 0;
  perform from rollout_fences f where f.tenant_id = p_tenant and f.rollout_id = p_rollout and f.open;
  if found then
    fenced := true;
    return;
  end if;
  select array_agg(page.id) filter (where page.active or page.status = 8), array_agg(page.target_id) filter (where page.active or page.status = 8),
         max(page.target_id), count(*)
    into v_ids, v_targets, "cursor", v_count
    from (select a.id, a.target_id, a.active, a.status from actions a
           where a.tenant_id = p_tenant and a.rollout_id = p_rollout and a.target_id > p_cursor order by a.target_id limit p_limit) page;
  "cursor" := coalesce("cursor", p_cursor);
  done := v_count < p_limit;
  if v_ids is null then
    return;
  end if;
  perform from target_state s where s.tenant_id = p_tenant and s.target_id = any ((select v_targets)::int[])
    order by s.target_id for no key update;

  -- "(select 8)": as in start_chunk, the partial index of scheduled actions must not be considered here
  with gone as (
    delete from actions a where a.tenant_id = p_tenant and a.id = any ((select v_ids)::bigint[]) and a.status = (select 8)
    returning a.id, a.group_id, a.force_type
  ), history as (
    delete from action_history h using gone g where h.tenant_id = p_tenant and h.action_id = g.id
  ), deltas as (
    insert into group_deltas (tenant_id, rollout_id, group_id, from_bucket, to_bucket, n)
    select p_tenant, p_rollout, group_id, 0, null, count(*) from gone group by group_id
  )
  select count(*) into removed from gone;
  if p_cancel then
    canceled := ask_to_cancel(p_tenant, p_tenant_name, v_ids, p_by, 'Update Server: cancel action because its rollout was stopped', p_traceparent);
  end if;
end
$$;
