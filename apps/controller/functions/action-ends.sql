-- These functions cancel actions: on request, by force, and all open ones of an invalid set. They also change actions from soft to forced.

-- Locks the target of an action and returns whether both exist: null, or why not.
create or replace function lock_action(p_tenant int, p_controller_id text, p_action bigint, p_scope bigint[]) returns text
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

-- Soft asks the device. Force closes the action without the device, and only after a soft one (device §7.3).
create or replace function cancel_action(
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
  v_next := coalesce(v_next, proving_set(p_tenant, v_action.target_id, p_action));
  if v_next is not null then
    update target_state s set assigned_set_id = v_next, revision = s.revision + 1
     where s.tenant_id = p_tenant and s.target_id = v_action.target_id;
  else
    update target_state s set assigned_set_id = s.installed_set_id, update_status = 3, revision = s.revision + 1
     where s.tenant_id = p_tenant and s.target_id = v_action.target_id;
  end if;
  return 'ok';
end
$$;

-- An action that is forced already, or whose force time has passed, stays as it is (contract rollouts.md §6). A downloadonly action can be forced to
-- install what it has downloaded; one that has ended with its download stays, because its group has counted it as finished.
create or replace function force_action(
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
   where a.tenant_id = p_tenant and a.id = p_action
     and (a.force_type = 0 or (a.force_type = 2 and a.force_time > now()) or (a.force_type = 3 and a.status <> 10))
  returning a.status into v_status;
  if found then
    perform record_action_changes(p_tenant, p_tenant_name, 'io.update.action.forced.v1', array[p_action], array[v_status], null,
      array['Update Server: Action switched to forced.'], p_traceparent);
  end if;
  return 'ok';
end
$$;

-- Requests the cancellation of these actions from their devices, as far as they are open and not being cancelled. The caller holds the locks of their
-- targets' state.
create or replace function ask_to_cancel(p_tenant int, p_tenant_name text, p_ids bigint[], p_by text, p_message text, p_traceparent text) returns int
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

-- Closes these actions without their devices, as far as they are being cancelled; their targets go on with other open actions, or are as they were
-- before (device §7.3). The caller holds the locks of the targets' state.
create or replace function quit_by_force(p_tenant int, p_tenant_name text, p_ids bigint[], p_by text, p_traceparent text) returns void
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
     set assigned_set_id = coalesce(n.set_id, s.installed_set_id),
         update_status = case when n.set_id is null then 3 else s.update_status end, revision = s.revision + 1
    from unnest((select v_targets)) as t (id)
    cross join lateral (
      select coalesce((select o.set_id from actions o
                        where o.tenant_id = p_tenant and o.target_id = t.id and o.active order by o.id limit 1),
                      proving_set(p_tenant, t.id, -1)) as set_id) n
   where s.tenant_id = p_tenant and s.target_id = t.id;
end
$$;

-- Cancels the next open actions of an invalid set. The scan goes by id over all of them, whatever their status, so that a page is bounded by its
-- rows.
create or replace function cancel_set_chunk(
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
