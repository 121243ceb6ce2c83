-- expand
-- When a device was last seen is written behind its polls, up to a second late. Who waits for a device to come must not see one that is
-- registered and was never here: what a device changes by coming (its registration, its status, its address) brings the first stamp along.

-- Stamps a target now, unless it is about to be deleted.
create function stamp_poll(p_tenant int, p_target int) returns void language plpgsql as $$
begin
  perform from targets where tenant_id = p_tenant and id = p_target for key share skip locked;
  if found then
    insert into target_polls as p (tenant_id, target_id, last_poll_at) values (p_tenant, p_target, now())
    on conflict (tenant_id, target_id) do update set last_poll_at = greatest(p.last_poll_at, excluded.last_poll_at);
  end if;
end
$$;

-- As before, and the new target has been seen.
create or replace function register_target(
  p_tenant int, p_tenant_name text, p_id int, p_controller_id text, p_address text, p_digest bytea, p_cipher bytea, p_max bigint,
  p_traceparent text
) returns boolean language plpgsql as $$
begin
  if not targets_may_grow(p_tenant, 1, p_max) then
    return exists (select from targets t where t.tenant_id = p_tenant and t.controller_id = p_controller_id);
  end if;
  with t as (
    insert into targets (tenant_id, id, controller_id, name, description, address, token_digest, token_cipher, created_by, last_modified_by)
    values (p_tenant, p_id, p_controller_id, left(p_controller_id, 128), 'Plug and Play target: ' || p_controller_id, p_address, p_digest,
            p_cipher, 'CONTROLLER_PLUG_AND_PLAY', 'CONTROLLER_PLUG_AND_PLAY')
    on conflict (tenant_id, controller_id) do nothing
    returning tenant_id, id, controller_id, name, revision
  ), s as (
    insert into target_state (tenant_id, target_id, update_status) select tenant_id, id, 1 from t
  ), p as (
    insert into target_polls (tenant_id, target_id, last_poll_at) select tenant_id, id, now() from t
  )
  insert into outbox (tenant_id, topic, type, common, items, traceparent)
  select tenant_id, 'target-events', 'io.update.target.created.v1', json_build_object('tenant', p_tenant_name),
         json_build_array(json_build_object(
           'subject', 'targets/' || controller_id, 'sequence', revision,
           'data', json_build_object('controllerId', controller_id, 'targetId', id, 'name', name,
                                     'updateStatus', 'registered', 'initiatedBy', 'CONTROLLER_PLUG_AND_PLAY'))),
         p_traceparent
    from t;
  return true;
end
$$;

-- As before, and what has changed has been seen.
create or replace function touch_target(p_tenant int, p_target int, p_address text) returns boolean language plpgsql as $$
declare
  v_changed boolean := false;
begin
  perform from target_state where tenant_id = p_tenant and target_id = p_target and update_status = 0
    for no key update skip locked;
  if found then
    update target_state set update_status = 1, revision = revision + 1 where tenant_id = p_tenant and target_id = p_target;
    v_changed := true;
  end if;
  perform from targets where tenant_id = p_tenant and id = p_target and p_address is not null and address is distinct from p_address
    for no key update skip locked;
  if found then
    update targets set address = p_address, revision = revision + 1 where tenant_id = p_tenant and id = p_target;
    v_changed := true;
  end if;
  if v_changed then
    perform stamp_poll(p_tenant, p_target);
  end if;
  return true;
end
$$;

-- Generated from src/domain/transitions.ts and src/domain/visibility.ts by scripts/checks/report-function.mjs --write. Do not edit.
-- As before, and where no poll of the device has been written yet, its report is the first stamp.
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
  if v_effect = 'installed' then
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
