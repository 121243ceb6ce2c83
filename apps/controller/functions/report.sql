-- This is the state machine of reports (contract device.md §7). The text between "generated" marks comes from src/domain by
-- scripts/checks/sql-functions.mjs --write: do not edit it here.

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
  v_tally smallint;
  v_safety json;
begin
  -- the target's row is locked first: that is the lock order of the whole service
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
  if not v_entries_free and p_max_entries > 0 and a.revision >= p_max_entries * (case when a.tally = 3 then 2 else 1 end) then return 'tooManyEntries'; end if;

  was := t;
  v_tally := a.tally;
  -- A claim ends the proof of an earlier one. What a policy makes of the report is decided with it (functions/watches.sql).
  if v_effect = 'installed' and exists (select from action_watches w where w.tenant_id = p_tenant and w.target_id = t.target_id and w.action_id <> a.id) then
    perform end_other_proofs(p_tenant, p_tenant_name, t.target_id, a.id, p_traceparent);
  end if;
  if a.policy_id is not null then
    select r.effect, r.tally into v_effect, v_tally from watch_report(p_tenant, a, t, v_next, v_entry, v_effect, p_code) r;
    if v_tally <> a.tally then v_safety := tally_change(p_tenant, a, v_tally); end if;
  end if;

  if v_effect = 'installed' and a.multi_assignment then
    t.assigned_set_id := coalesce((select o.set_id from actions o where o.tenant_id = p_tenant and o.target_id = t.target_id and o.active and o.id <> a.id order by o.id limit 1), proving_set(p_tenant, t.target_id, a.id), a.set_id);
    t.installed_set_id := a.set_id;
    t.installed_at := now();
    t.installed_action_id := greatest(a.id, (
      select max(o.id) from actions o
       where o.tenant_id = p_tenant and o.target_id = t.target_id and o.set_id = a.set_id and o.status = 0));
    t.update_status := case when (exists (select from actions o where o.tenant_id = p_tenant and o.target_id = t.target_id and o.active and o.id <> a.id) or proving_set(p_tenant, t.target_id, a.id) is not null) then 2 else 3 end;
    t.request_attributes := true;
  elsif v_effect = 'downloaded' and a.multi_assignment then
    t.assigned_set_id := coalesce((select o.set_id from actions o where o.tenant_id = p_tenant and o.target_id = t.target_id and o.active and o.id <> a.id order by o.id limit 1), proving_set(p_tenant, t.target_id, a.id), t.assigned_set_id);
    t.update_status := case when (exists (select from actions o where o.tenant_id = p_tenant and o.target_id = t.target_id and o.active and o.id <> a.id) or proving_set(p_tenant, t.target_id, a.id) is not null) then 2 else 3 end;
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
  elsif v_effect = 'claimed' then
    t.request_attributes := true;
  elsif v_effect = 'refuted' then
    if t.assigned_set_id = a.set_id then t.assigned_set_id := null; end if;
    if t.assigned_set_id is null then t.update_status := 4; end if;
  elsif v_effect = 'failed' then
    t.assigned_set_id := null;
    t.update_status := 4;
  elsif v_effect = 'downloaded' then
    t.update_status := 3;
    t.request_attributes := true;
  elsif v_effect = 'cancelled' then
    t.assigned_set_id := coalesce((select o.set_id from actions o where o.tenant_id = p_tenant and o.target_id = t.target_id and o.active and o.id <> a.id order by o.id limit 1), proving_set(p_tenant, t.target_id, a.id), t.installed_set_id);
    if not (exists (select from actions o where o.tenant_id = p_tenant and o.target_id = t.target_id and o.active and o.id <> a.id) or proving_set(p_tenant, t.target_id, a.id) is not null) then t.update_status := 3; end if;
  end if;

  v_active := not (v_next in (0, 1, 4, 10));
  update actions
     set status = v_next, active = v_active, tally = v_tally, last_status_code = p_code, revision = revision + 1,
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
         json_build_array(case when v_safety is null then json_build_array(
           a.id, a.controller_id, a.revision + 1, a.status, v_next, v_active, a.force_type, a.weight, p_code,
           nullif(p_messages, '{}'), (extract(epoch from p_occurred) * 1000)::bigint, v_entry) else json_build_array(
           a.id, a.controller_id, a.revision + 1, a.status, v_next, v_active, a.force_type, a.weight, p_code,
           nullif(p_messages, '{}'), (extract(epoch from p_occurred) * 1000)::bigint, v_entry, v_safety) end),
         p_traceparent
    from (select 1) one
    left join management.distribution_sets_v1 d on d.tenant_id = p_tenant and d.id = a.set_id;
  if not exists (select from target_polls where tenant_id = p_tenant and target_id = t.target_id) then
    perform record_poll(p_tenant, t.target_id);
  end if;
  return 'ok';
end
$report$;
-- end

-- Records several reports in one transaction, each by `report`, and returns their outcomes in order: most of the cost of a single one is the way to the
-- database and its commit. The locks of all targets are taken first, and none is waited for: what somebody else is changing right now is 'busy' and has
-- no effect, so no report waits for the target of another. A report for an unknown target is 'busy' too; alone it gets its outcome. (One statement
-- for all of them costs less per report, 0.06 instead of 0.13 ms, but five times as much to begin: it pays from 14 reports on.)
create or replace function record_reports(
  p_tenants int[], p_controller_ids text[], p_actions bigint[],
  p_channels smallint[], p_executions smallint[], p_results smallint[],
  p_codes int[], p_messages text[], p_message_counts int[],     -- the messages of all reports, one after the other
  p_occurred_ms float8[], p_max_entries int[], p_max_messages int[],
  p_tenant_names text[], p_traceparents text[]
) returns text[] language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  v_locked int[];
  v_outcomes text[] := '{}';
  v_from int := 1;
begin
  v_locked := array(
    select i.place from unnest(p_tenants, p_controller_ids) with ordinality as i (tenant_id, controller_id, place)
      join targets g on g.tenant_id = i.tenant_id and g.controller_id = i.controller_id
      join target_state s on s.tenant_id = g.tenant_id and s.target_id = g.id
       for no key update of s skip locked);
  for i in 1 .. cardinality(p_tenants) loop
    v_outcomes := v_outcomes || case when i = any (v_locked) then report(
      p_tenants[i], p_controller_ids[i], p_actions[i], p_channels[i], p_executions[i], p_results[i],
      p_codes[i], p_messages[v_from : v_from + p_message_counts[i] - 1], to_timestamp(p_occurred_ms[i] / 1000),
      p_max_entries[i], p_max_messages[i], p_tenant_names[i], p_traceparents[i]) else 'busy' end;
    v_from := v_from + p_message_counts[i];
  end loop;
  return v_outcomes;
end
$$;
