-- These functions retrieve an action, also once the last of its maintenance windows has passed (contract device.md §3.1.4, §3.5). The text between
-- "generated" marks comes from src/domain by scripts/checks/sql-functions.mjs --write: do not edit it here.

-- Asks the device to cancel such an action, and returns the status in which it is shown. It is part of a poll, so it waits for no lock: the holder of
-- the lock is changing this target right now, and the next poll does what is left undone here.
create or replace function cancel_action_of_expired_window(p_tenant int, p_target int, p_action bigint, p_traceparent text) returns smallint
language plpgsql as $$
declare
  v_previous smallint;
begin
  perform from target_state s where s.tenant_id = p_tenant and s.target_id = p_target for no key update skip locked;
  if not found then
    return 5;
  end if;
  select a.status into v_previous from actions a
   where a.tenant_id = p_tenant and a.id = p_action and a.active and a.status <> 5 and a.maintenance_ends_at <= now();
  if found then
    update actions a
       set status = 5, revision = a.revision + 1, last_modified_by = 'CONTROLLER_PLUG_AND_PLAY', last_modified_at = now()
     where a.tenant_id = p_tenant and a.id = p_action;
    perform record_action_changes(p_tenant, (select n.name from management.tenants_v1 n where n.tenant_id = p_tenant),
      'io.update.action.status_changed.v1', array[p_action], array[v_previous], null, array['manual cancelation requested'], p_traceparent);
  end if;
  return 5;
end
$$;

-- generated: retrieve_action
create or replace function retrieve_action(
  p_tenant int, p_controller_id text, p_action bigint,
  p_resource smallint,                                         -- place in the list of src/domain/visibility.ts
  p_history int, p_max_entries int,
  p_tenant_name text, p_traceparent text,
  p_wait boolean,                                              -- false: 'busy', without effect, where somebody else holds the lock that it needs
  out outcome text, out set_id bigint, out set_revision int, out status smallint,
  out force_type smallint, out force_time_ms bigint, out maintenance json, out messages text[]
) language plpgsql as $retrieve$
declare
  a actions;
  v_target int;
  v_next smallint;
  v_text text;
  v_locked boolean := false;
  v_safety json;
begin
  select g.id into v_target from targets g where g.tenant_id = p_tenant and g.controller_id = p_controller_id;
  if not found then outcome := 'targetNotFound'; return; end if;
  loop
    select * into a from actions where tenant_id = p_tenant and id = p_action and target_id = v_target;
    if not found then
      perform from actions where tenant_id = p_tenant and id = p_action;
      outcome := case when found then 'foreignAction' else 'actionNotFound' end; return;
    end if;
    if p_resource in (0, 3) and (a.maintenance_ends_at <= now() and a.status <> 5) and a.active then
      perform cancel_action_of_expired_window(p_tenant, v_target, a.id, p_traceparent);
      outcome := 'stateNotFound';
      return;
    end if;
    if not (case p_resource when 0 then case when a.active then a.status in (0, 1, 2, 3, 4, 6, 7, 8, 9, 10) else a.status in (0, 1, 10) end
      when 1 then case when a.active then a.status in (5) else a.status in (4) end
      when 2 then case when a.active then false else a.status in (0, 1, 10) end
      when 3 then case when a.active then a.status in (11) else false end end) then outcome := 'stateNotFound'; return; end if;
    -- once per row of retrievals, only while open, and never at the cost of the device's own entries (contract device.md §4.2, §8)
    v_text := case p_resource when 0 then 'Update Server: Target retrieved update action and should start now the download.'
      when 1 then 'Update Server: Target retrieved cancel action and should start now the cancellation.' end;
    if v_text is null or not a.active or (p_max_entries > 0 and a.revision >= p_max_entries * (case when a.tally = 3 then 2 else 1 end)) then
      v_text := null;
      exit;
    end if;
    -- Whatever follows a retrieval of a deployment and changes its status raises the revision: with another status the latest entry is no retrieval. So
    -- the first one reads no history.
    if a.tally <> 3 and (p_resource <> 0 or a.status = 6) then
      if exists (select from action_history h where h.tenant_id = p_tenant and h.action_id = a.id
                    and h.revision = a.revision and h.status = 6 and h.reported_at >= a.created_at) then
        v_text := null;
        exit;
      end if;
    end if;
    exit when v_locked;
    if p_wait then
      perform from target_state s where s.tenant_id = p_tenant and s.target_id = v_target for no key update;
    else
      perform from target_state s where s.tenant_id = p_tenant and s.target_id = v_target for no key update skip locked;
      if not found then outcome := 'busy'; return; end if;
    end if;
    v_locked := true; -- and read again: another transaction may have been faster
  end loop;

  v_next := a.status;
  if v_text is not null then
    if p_resource = 0 then v_next := 6; end if;
    if a.tally <> 0 then v_safety := tally_change(p_tenant, a, 0::smallint); end if;
    update actions
       set status = v_next, tally = 0, revision = revision + 1, last_modified_by = 'CONTROLLER_PLUG_AND_PLAY', last_modified_at = now()
     where tenant_id = p_tenant and id = a.id;
    insert into action_history (tenant_id, action_id, revision, status, messages, code, occurred_at)
    values (p_tenant, a.id, a.revision + 1, 6, array[v_text], null, now());

    insert into outbox (tenant_id, topic, type, common, items, traceparent)
    select p_tenant, 'action-events', 'io.update.action.status_changed.v1',
           action_event_common(p_tenant_name, a.set_id, d.name, d.version, a.rollout_id, a.group_id, a.initiated_by),
           json_build_array(case when v_safety is null then json_build_array(
             a.id, a.controller_id, a.revision + 1, a.status, v_next, a.active, a.force_type, a.weight, null,
             nullif(array[v_text], '{}'), (extract(epoch from now()) * 1000)::bigint, 6) else json_build_array(
             a.id, a.controller_id, a.revision + 1, a.status, v_next, a.active, a.force_type, a.weight, null,
             nullif(array[v_text], '{}'), (extract(epoch from now()) * 1000)::bigint, 6, v_safety) end),
           p_traceparent
      from (select 1) one
      left join management.distribution_sets_v1 d on d.tenant_id = p_tenant and d.id = a.set_id;
  end if;

  outcome := 'ok';
  set_id := a.set_id;
  status := v_next;
  force_type := a.force_type;
  force_time_ms := (extract(epoch from a.force_time) * 1000)::bigint;
  maintenance := case when a.maintenance_schedule is not null then json_build_object('schedule', a.maintenance_schedule, 'duration', a.maintenance_duration, 'timezone', a.maintenance_timezone) end;
  select d.revision into set_revision from management.distribution_sets_v1 d where d.tenant_id = p_tenant and d.id = a.set_id;
  if p_history > 0 then
    select array_agg(m.message order by m.revision desc, m.place desc) into messages from (
      select h.revision, u.place, u.message
        from action_history h cross join unnest(h.messages) with ordinality as u (message, place)
       where h.tenant_id = p_tenant and h.action_id = a.id and h.reported_at >= a.created_at
         and not starts_with(u.message, 'Update Server: ')
       order by h.revision desc, u.place desc limit p_history) m;
  end if;
end
$retrieve$;
-- end

-- Retrieves several actions in one transaction, each by `retrieve_action`, and returns a row for each in order. It waits for no lock: so no device waits
-- for the target of another. What is 'busy' has had no effect.
create or replace function retrieve_actions(
  p_tenants int[], p_controller_ids text[], p_actions bigint[], p_resources smallint[], p_history int[], p_max_entries int[],
  p_tenant_names text[], p_traceparents text[],
  out place int, out outcome text, out set_id bigint, out set_revision int, out status smallint,
  out force_type smallint, out force_time_ms bigint, out maintenance json, out messages text[]
) returns setof record language plpgsql as $$
begin
  for i in 1 .. cardinality(p_tenants) loop
    place := i;
    select r.* into outcome, set_id, set_revision, status, force_type, force_time_ms, maintenance, messages
      from retrieve_action(p_tenants[i], p_controller_ids[i], p_actions[i], p_resources[i], p_history[i], p_max_entries[i],
                           p_tenant_names[i], p_traceparents[i], false) r;
    return next;
  end loop;
end
$$;
