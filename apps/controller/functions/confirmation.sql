-- These functions record confirmations of actions by the device or in its place (contract device.md §5.3-§5.5, §7.5). The text between "generated"
-- marks comes from src/domain by scripts/checks/sql-functions.mjs --write: do not edit it here.

-- Returns the message about an action that auto-confirmation has confirmed (device §5.5), trailing blanks included.
create or replace function auto_confirmation_message(p_initiator text, p_created_by text, p_remark text) returns text
language sql immutable parallel safe as $$
  select 'Assignment automatically confirmed by initiator ''' || coalesce(p_initiator, 'n/a') || '''. ' || E'\n\n'
      || 'Auto confirmation activated by system user: ''' || coalesce(p_created_by, 'n/a') || ''' ' || E'\n\n'
      || 'Remark: ' || coalesce(p_remark, 'n/a')
$$;

-- Returns the first status of an action (device §7.1): it waits for a confirmation if the tenant's flow is on, the action needs one, and its target
-- has no auto-confirmation (`p_auto` is null).
create or replace function first_status(p_flow boolean, p_needed boolean, p_auto text) returns smallint
language sql immutable parallel safe as $$
  select (case when p_flow and p_needed and p_auto is null then 11 else 3 end)::smallint
$$;

-- Returns its first messages: its initiator, and with the flow on who has confirmed it, or that it waits for a confirmation.
create or replace function first_messages(p_flow boolean, p_needed boolean, p_auto text, p_begun text, p_initiator text) returns text[]
language sql immutable parallel safe as $$
  select case
    when not p_flow then array[p_begun]
    when not p_needed then array[p_begun, 'Assignment confirmed by initiator [' || p_initiator || '].']
    else array[p_begun, coalesce(p_auto, 'Waiting for the confirmation by the device before processing with the deployment')]
  end
$$;

-- Activates auto-confirmation: all waiting actions run from now on, and later actions start running. The text is that of auto_confirmation_message.
create or replace function activate_auto_confirm(
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
  update targets set revision = revision + 1 where tenant_id = p_tenant and id = v_target;
  perform record_target_changes(p_tenant, array[v_target], '{autoConfirm}', p_by);

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

-- Deactivates auto-confirmation; running actions go on.
create or replace function deactivate_auto_confirm(p_tenant int, p_controller_id text, p_scope bigint[]) returns text
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
  if not found then
    return 'ok';
  end if;
  update targets set revision = revision + 1 where tenant_id = p_tenant and id = v_target;
  perform record_target_changes(p_tenant, array[v_target], '{autoConfirm}', null);
  return 'ok';
end
$$;

-- generated: confirm_action
create or replace function confirm_action(
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
