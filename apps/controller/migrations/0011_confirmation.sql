-- expand
-- Confirmation of actions by the device or for it, and the running version that a device reports (contract device.md §5.3-§5.5, §7.5).
-- What stands between "generated" marks comes from src/domain by scripts/checks/report-function.mjs --write: do not edit it here.

-- Everything that waits for its confirmation runs from now on; later actions start running. The text is of migration 0010.
create function activate_auto_confirm(
  p_tenant int, p_tenant_name text, p_controller_id text, p_initiator text, p_remark text, p_by text, p_scope bigint[], p_traceparent text
) returns text
language plpgsql as $$
declare
  v_target int;
  v_ids bigint[];
  v_previous smallint[];
begin
  select s.target_id into v_target
    from targets t join target_state s on s.tenant_id = t.tenant_id and s.target_id = t.id
   where t.tenant_id = p_tenant and t.controller_id = p_controller_id and (p_scope is null or t.target_type_id = any (p_scope))
     for no key update of s;
  if not found then
    return 'targetNotFound';
  end if;
  insert into auto_confirmations (tenant_id, target_id, initiator, remark, created_by)
  values (p_tenant, v_target, nullif(p_initiator, ''), nullif(p_remark, ''), p_by)
  on conflict (tenant_id, target_id) do nothing;
  if not found then
    return 'alreadyActive';
  end if;

  with changed as (
    update actions a set status = 3, revision = a.revision + 1, last_modified_by = p_by, last_modified_at = now()
     where a.tenant_id = p_tenant and a.target_id = v_target and a.active and a.status = 11
    returning a.id, 11::smallint as previous
  )
  select array_agg(id), array_agg(previous) into v_ids, v_previous from changed;
  perform record_action_changes(p_tenant, p_tenant_name, 'io.update.action.status_changed.v1', v_ids, v_previous, null,
    array[auto_confirmation_message(nullif(p_initiator, ''), p_by, nullif(p_remark, ''))], p_traceparent);
  return 'ok';
end
$$;

-- What runs goes on running.
create function deactivate_auto_confirm(p_tenant int, p_controller_id text, p_scope bigint[]) returns text
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
  delete from auto_confirmations where tenant_id = p_tenant and target_id = v_target;
  return 'ok';
end
$$;

-- Which set a device says that it runs (§5.4). `p_action` is the id of the action that records it; null: only say whether one is needed.
create function report_running_version(
  p_tenant int, p_tenant_name text, p_controller_id text, p_name text, p_version text, p_action bigint, p_max_actions int, p_by text,
  p_traceparent text
) returns text
language plpgsql as $$
declare
  t target_state;
  d record;
  v_messages text[] := array['Assignment initiated by user ''' || p_controller_id || '''',
                             'Update Server: Action reported as offline deployment'];
begin
  select s.* into t from targets g join target_state s on s.tenant_id = g.tenant_id and s.target_id = g.id
   where g.tenant_id = p_tenant and g.controller_id = p_controller_id for no key update of s;
  if not found then
    return 'targetNotFound';
  end if;
  select * into d from management.distribution_sets_v1 v
   where v.tenant_id = p_tenant and v.name = p_name and v.version = p_version and not v.deleted;
  if not found then
    return 'setNotFound';
  elsif not d.valid then
    return 'setInvalid';
  elsif not d.complete then
    return 'setIncomplete';
  elsif t.update_status = 2 or t.assigned_set_id = d.id then
    return 'unchanged';
  elsif p_max_actions > 0 and
        (select count(*) from (select from actions a where a.tenant_id = p_tenant and a.target_id = t.target_id limit p_max_actions) c)
        >= p_max_actions then
    return 'tooManyActions';
  elsif p_action is null then
    return 'idNeeded';
  end if;

  insert into actions (tenant_id, id, target_id, controller_id, set_id, status, active, force_type, migration_step, initiated_by,
                       created_by, last_modified_by)
  values (p_tenant, p_action, t.target_id, p_controller_id, d.id, 0, false, 1, d.migration_step, p_controller_id, p_by, p_by);
  insert into action_history (tenant_id, action_id, revision, status, messages, occurred_at)
  values (p_tenant, p_action, 1, 0, v_messages, now());
  -- ids come in blocks, so that this one need not be the newest of the set's
  update target_state
     set assigned_set_id = d.id, installed_set_id = d.id, installed_at = now(), update_status = 3, revision = revision + 1,
         installed_action_id = (select max(o.id) from actions o where o.tenant_id = p_tenant and o.target_id = t.target_id
                                   and o.set_id = d.id and o.status = 0)
   where tenant_id = p_tenant and target_id = t.target_id;
  insert into outbox (tenant_id, topic, type, common, items, traceparent)
  select p_tenant, 'action-events', 'io.update.action.created.v1',
         action_event_common(p_tenant_name, d.id, d.name, d.version, null, null, p_controller_id),
         json_build_array(json_build_array(a.id, a.controller_id, 1, null, a.status, a.active, a.force_type, a.weight, null, v_messages,
                                           (extract(epoch from now()) * 1000)::bigint, a.status)),
         p_traceparent
    from actions a where a.tenant_id = p_tenant and a.id = p_action;
  return 'created';
end
$$;

-- generated: confirm_action
create function confirm_action(
  p_tenant int, p_tenant_name text, p_controller_id text, p_action bigint,
  p_confirmed boolean, p_code int,
  p_messages text[],                     -- all of the entry: details, the server's text, the code's
  p_flow boolean,                        -- is the tenant's confirmation flow switched on?
  p_max_entries int, p_max_messages int, -- 0 or less: no limit
  p_by text, p_scope bigint[], p_traceparent text
) returns text language plpgsql as $confirm$
declare
  a actions;
  v_target int;
  v_entry smallint;
  v_next smallint;
begin
  select s.target_id into v_target from targets g join target_state s on s.tenant_id = g.tenant_id and s.target_id = g.id
   where g.tenant_id = p_tenant and g.controller_id = p_controller_id and (p_scope is null or g.target_type_id = any (p_scope))
     for no key update of s;
  if not found then return 'targetNotFound'; end if;
  select * into a from actions where tenant_id = p_tenant and id = p_action and target_id = v_target for no key update;
  if not found then
    perform from actions where tenant_id = p_tenant and id = p_action;
    return case when found then 'foreignAction' else 'actionNotFound' end;
  end if;
  if not a.active then return 'closed'; end if;
  if a.status in (11) and p_confirmed then
    -- confirmed: WAIT_FOR_CONFIRMATION -> RUNNING
    v_entry := 3;
    v_next := 3;
  elsif a.status in (11) and not p_confirmed then
    -- denied: WAIT_FOR_CONFIRMATION -> WAIT_FOR_CONFIRMATION
    v_entry := 11;
    v_next := 11;
  elsif a.status in (3, 6) and not p_confirmed and p_flow then
    -- denied: RUNNING, RETRIEVED -> WAIT_FOR_CONFIRMATION
    v_entry := 11;
    v_next := 11;
    p_messages[cardinality(p_messages) - (p_code is not null)::int] := 'Update Server: Target revoked previously granted confirmation. Action returned to confirmation-pending state.';
  else
    return 'notWaiting';
  end if;
  if p_max_messages > 0 and cardinality(p_messages) > p_max_messages then return 'tooManyMessages'; end if;
  if p_max_entries > 0 and a.revision >= p_max_entries then return 'tooManyEntries'; end if;

  update actions
     set status = v_next, last_status_code = p_code, revision = revision + 1, last_modified_by = p_by, last_modified_at = now()
   where tenant_id = p_tenant and id = a.id;
  insert into action_history (tenant_id, action_id, revision, status, messages, code, occurred_at)
  values (p_tenant, a.id, a.revision + 1, v_entry, p_messages, p_code, now());

  insert into outbox (tenant_id, topic, type, common, items, traceparent)
  select p_tenant, 'action-events', 'io.update.action.status_changed.v1',
         action_event_common(p_tenant_name, a.set_id, d.name, d.version, a.rollout_id, a.group_id, a.initiated_by),
         json_build_array(json_build_array(
           a.id, a.controller_id, a.revision + 1, a.status, v_next, a.active, a.force_type, a.weight, p_code,
           nullif(p_messages, '{}'), (extract(epoch from now()) * 1000)::bigint, v_entry)),
         p_traceparent
    from (select 1) one
    left join management.distribution_sets_v1 d on d.tenant_id = p_tenant and d.id = a.set_id;
  return 'ok';
end
$confirm$;
-- end
