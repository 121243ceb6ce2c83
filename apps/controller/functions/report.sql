-- This is the state machine of reports (contract device.md §7). Reports that arrive together are recorded in one transaction, by statements for all of
-- them: most of the cost of a single one is the way to the database, its commit, and the beginning of each statement. No lock is waited for: what
-- somebody else is changing right now is 'busy' and has no effect, so no report waits for the target of another. A report for an unknown target is
-- 'busy' too; alone it gets its outcome. The text between "generated" marks comes from src/domain by scripts/checks/sql-functions.mjs --write: do not
-- edit it here.

-- generated: record_reports
create or replace function record_reports(
  p_tenants int[], p_controller_ids text[], p_actions bigint[],
  p_channels smallint[], p_executions smallint[], p_results smallint[], -- places in the lists of src/domain/transitions.ts
  p_codes int[], p_messages text[], p_message_counts int[],             -- the messages of all reports, one after the other
  p_occurred_ms float8[], p_max_entries int[], p_max_messages int[],    -- 0 or less: no limit
  p_tenant_names text[], p_traceparents text[]
) returns text[] language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $reports$
declare
  v_outcomes text[] := array_fill('busy'::text, array[cardinality(p_tenants)]);
  v_messages_end int[] := p_message_counts; -- where the messages of each report end
  -- the targets that are locked, each with its report, in the order of the reports
  v_places int[] := '{}';
  v_targets int[] := '{}';
  v_keys bigint[] := '{}';    -- of tenant and target
  v_turns int[] := '{}';      -- a second report for the same target has the second turn
  v_last_turn int := 0;
  v_key bigint;
  r record;
  t target_state;
  v_was target_state; -- the target before the report
  a actions;
  v_channel smallint;
  v_execution smallint;
  v_result smallint;
  v_entry smallint;
  v_next smallint;
  v_effect text;
  v_entries_free boolean;
  v_messages_free boolean;
  v_tally smallint;
  v_safety json;
  -- what the reports of a turn change
  w_targets target_state[];
  w_places int[];
  w_was smallint[];
  w_next smallint[];
  w_active boolean[];
  w_tallies smallint[];
  w_entries smallint[];
  w_safeties json[];
begin
  for i in 2 .. cardinality(v_messages_end) loop
    v_messages_end[i] := v_messages_end[i - 1] + v_messages_end[i];
  end loop;
  -- the targets' rows are locked first: that is the lock order of the whole service
  for r in
    select i.place::int as place, s.target_id, s.tenant_id
      from unnest(p_tenants, p_controller_ids) with ordinality as i (tenant_id, controller_id, place)
      join targets g on g.tenant_id = i.tenant_id and g.controller_id = i.controller_id
      join target_state s on s.tenant_id = g.tenant_id and s.target_id = g.id
     order by i.place
       for no key update of s skip locked
  loop
    v_outcomes[r.place] := 'actionNotFound';
    v_key := (r.tenant_id::bigint << 32) + r.target_id;
    v_turns := v_turns || (1 + coalesce(cardinality(array_positions(v_keys, v_key)), 0));
    v_keys := v_keys || v_key;
    v_targets := v_targets || r.target_id;
    v_places := v_places || r.place;
    v_last_turn := greatest(v_last_turn, v_turns[cardinality(v_turns)]);
  end loop;

  for v_turn in 1 .. v_last_turn loop
    w_targets := '{}'; w_places := '{}'; w_was := '{}'; w_next := '{}'; w_active := '{}'; w_tallies := '{}'; w_entries := '{}'; w_safeties := '{}';
    for r in
      select l.place, s as target, x as action,
             exists (select from action_watches w where w.tenant_id = x.tenant_id and w.target_id = x.target_id) as watched,
             exists (select from target_polls p where p.tenant_id = x.tenant_id and p.target_id = x.target_id) as polled
        from unnest(v_places, v_targets, v_turns) as l (place, target_id, turn)
        join target_state s on s.tenant_id = p_tenants[l.place] and s.target_id = l.target_id
        join actions x on x.tenant_id = p_tenants[l.place] and x.id = p_actions[l.place] and x.target_id = l.target_id
       where l.turn = v_turn
         for no key update of x
    loop
      t := r.target;
      v_was := r.target;
      a := r.action;
      v_channel := p_channels[r.place];
      v_execution := p_executions[r.place];
      v_result := p_results[r.place];
      v_effect := 'none';
      v_entries_free := false;
      v_messages_free := false;
      if v_channel = 0 then
        if a.status = 11 then
          v_outcomes[r.place] := 'stateNotFound'; continue;
        elsif not a.active then
          v_outcomes[r.place] := 'closed'; continue;
        else
          null;
        end if;
      elsif v_channel = 1 then
        if a.status = 4 then
          v_outcomes[r.place] := 'ok'; continue;
        elsif a.status = 5 then
          null;
        else
          v_outcomes[r.place] := 'notCanceling'; continue;
        end if;
      end if;

      if v_channel = 0 and v_execution = 0 and v_result in (0, 2) then
        -- deployment: closed (success, none)
        v_entry := 0; -- FINISHED
        v_next := 0;
        v_effect := 'installed';
        v_entries_free := true;
      elsif v_channel = 0 and v_execution = 0 then
        -- deployment: closed (any)
        v_entry := 1; -- ERROR
        v_next := 1;
        v_effect := 'failed';
        v_entries_free := true;
      elsif v_channel = 0 and v_execution in (1, 3, 5) and v_result = 0 then
        -- deployment: proceeding, scheduled, resumed (success)
        v_entry := 0; -- FINISHED
        v_next := 0;
        v_effect := 'installed';
        v_entries_free := true;
      elsif v_channel = 0 and v_execution in (1, 3, 5) and v_result = 1 then
        -- deployment: proceeding, scheduled, resumed (failure)
        v_entry := 1; -- ERROR
        v_next := 1;
        v_effect := 'failed';
        v_entries_free := true;
      elsif v_channel = 0 and v_execution = 1 then
        -- deployment: proceeding (any)
        v_entry := 3; -- RUNNING
        v_next := case when a.status = 5 then a.status else 3 end;
      elsif v_channel = 0 and v_execution = 3 then
        -- deployment: scheduled (any)
        v_entry := 3; -- RUNNING
        v_next := case when a.status = 5 then a.status else 3 end;
      elsif v_channel = 0 and v_execution = 5 then
        -- deployment: resumed (any)
        v_entry := 3; -- RUNNING
        v_next := case when a.status = 5 then a.status else 3 end;
      elsif v_channel = 0 and v_execution = 6 then
        -- deployment: download (any)
        v_entry := 7; -- DOWNLOAD
        v_next := a.status;
      elsif v_channel = 0 and v_execution = 7 and a.force_type = 3 then
        -- deployment: downloaded (any), download only
        v_entry := 10; -- DOWNLOADED
        v_next := 10;
        v_effect := 'downloaded';
        v_entries_free := true;
      elsif v_channel = 0 and v_execution = 7 then
        -- deployment: downloaded (any)
        v_entry := 10; -- DOWNLOADED
        v_next := a.status;
      elsif v_channel = 0 and v_execution = 2 then
        -- deployment: canceled (any)
        v_entry := 4; -- CANCELED
        v_next := a.status;
      elsif v_channel = 0 and v_execution = 4 then
        -- deployment: rejected (any)
        v_entry := 2; -- WARNING
        v_next := a.status;
      elsif v_channel = 1 and v_execution = 0 and v_result in (0, 2) then
        -- cancel: closed (success, none)
        v_entry := 4; -- CANCELED
        v_next := 4;
        v_effect := 'cancelled';
        v_entries_free := true;
        v_messages_free := true;
      elsif v_channel = 1 and v_execution = 0 then
        -- cancel: closed (any)
        v_entry := 1; -- ERROR
        v_next := 3;
        v_entries_free := true;
        v_messages_free := true;
      elsif v_channel = 1 and v_execution = 4 then
        -- cancel: rejected (any)
        v_entry := 9; -- CANCEL_REJECTED
        v_next := 3;
        v_entries_free := true;
        v_messages_free := true;
      elsif v_channel = 1 and v_execution = 2 then
        -- cancel: canceled (any)
        v_entry := 2; -- WARNING
        v_next := a.status;
      elsif v_channel = 1 and v_execution in (1, 3, 5, 6, 7) then
        -- cancel: proceeding, scheduled, resumed, download, downloaded (any)
        v_entry := 3; -- RUNNING
        v_next := a.status;
      else
        raise exception 'no rule for report % %/%', v_channel, v_execution, v_result;
      end if;
      if not v_messages_free and p_max_messages[r.place] > 0 and p_message_counts[r.place] > p_max_messages[r.place] then
        v_outcomes[r.place] := 'tooManyMessages'; continue;
      end if;
      if not v_entries_free and p_max_entries[r.place] > 0 and a.revision >= p_max_entries[r.place] * (case when a.tally = 3 then 2 else 1 end) then
        v_outcomes[r.place] := 'tooManyEntries'; continue;
      end if;

      v_tally := a.tally;
      v_safety := null;
      -- A claim ends the proof of an earlier one. What a policy makes of the report is decided with it (functions/watches.sql).
      if v_effect = 'installed' and r.watched then perform end_other_proofs(t.tenant_id, p_tenant_names[r.place], t.target_id, a.id, p_traceparents[r.place]); end if;
      if a.policy_id is not null then
        select x.effect, x.tally into v_effect, v_tally from watch_report(t.tenant_id, a, t, v_next, v_entry, v_effect, p_codes[r.place]) x;
        if v_tally <> a.tally then v_safety := tally_change(t.tenant_id, a, v_tally); end if;
      end if;

      if v_effect = 'installed' and a.multi_assignment then
        t.assigned_set_id := coalesce((select o.set_id from actions o where o.tenant_id = t.tenant_id and o.target_id = t.target_id and o.active and o.id <> a.id order by o.id limit 1), proving_set(t.tenant_id, t.target_id, a.id), a.set_id);
        t.installed_set_id := a.set_id;
        t.installed_at := now();
        t.installed_action_id := a.id;
        t.update_status := case when (exists (select from actions o where o.tenant_id = t.tenant_id and o.target_id = t.target_id and o.active and o.id <> a.id) or proving_set(t.tenant_id, t.target_id, a.id) is not null) then 2 else 3 end;
        t.request_attributes := true;
      elsif v_effect = 'downloaded' and a.multi_assignment then
        t.assigned_set_id := coalesce((select o.set_id from actions o where o.tenant_id = t.tenant_id and o.target_id = t.target_id and o.active and o.id <> a.id order by o.id limit 1), proving_set(t.tenant_id, t.target_id, a.id), t.assigned_set_id);
        t.update_status := case when (exists (select from actions o where o.tenant_id = t.tenant_id and o.target_id = t.target_id and o.active and o.id <> a.id) or proving_set(t.tenant_id, t.target_id, a.id) is not null) then 2 else 3 end;
        t.request_attributes := true;
      elsif v_effect = 'installed' then
        if a.force_type = 3 then t.assigned_set_id := a.set_id; end if;
        t.installed_set_id := a.set_id;
        t.installed_at := now();
        t.installed_action_id := a.id;
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
        t.assigned_set_id := coalesce((select o.set_id from actions o where o.tenant_id = t.tenant_id and o.target_id = t.target_id and o.active and o.id <> a.id order by o.id limit 1), proving_set(t.tenant_id, t.target_id, a.id), t.installed_set_id);
        if not (exists (select from actions o where o.tenant_id = t.tenant_id and o.target_id = t.target_id and o.active and o.id <> a.id) or proving_set(t.tenant_id, t.target_id, a.id) is not null) then t.update_status := 3; end if;
      end if;

      if t is distinct from v_was then w_targets := w_targets || t; end if;
      w_places := w_places || r.place;
      w_was := w_was || a.status;
      w_next := w_next || v_next;
      w_active := w_active || not (v_next in (0, 1, 4, 10));
      w_tallies := w_tallies || v_tally;
      w_entries := w_entries || v_entry;
      w_safeties := w_safeties || v_safety;
      -- Last polls are written after the polls; the first one of a new device is stored with its first report at the latest.
      if not r.polled then perform record_poll(t.tenant_id, t.target_id); end if;
      v_outcomes[r.place] := 'ok';
    end loop;

    if cardinality(w_places) > 0 then
      with changed as (
        update actions x
           set status = w.next, active = w.active, tally = w.tally, last_status_code = p_codes[w.place], revision = x.revision + 1,
               last_modified_by = 'CONTROLLER_PLUG_AND_PLAY', last_modified_at = now()
          from unnest(w_places, w_was, w_next, w_active, w_tallies, w_entries, w_safeties) as w (place, was, next, active, tally, entry, safety)
         where x.tenant_id = p_tenants[w.place] and x.id = p_actions[w.place]
        returning w.place, w.was, w.entry, w.safety, p_messages[v_messages_end[w.place] - p_message_counts[w.place] + 1 : v_messages_end[w.place]] as messages,
                  p_codes[w.place] as code, to_timestamp(p_occurred_ms[w.place] / 1000) as occurred, x.tenant_id, x.id, x.controller_id,
                  x.revision, x.status, x.active, x.force_type, x.weight, x.set_id, x.rollout_id, x.group_id, x.initiated_by
      ), history as (
        insert into action_history (tenant_id, action_id, revision, status, messages, code, occurred_at)
        select tenant_id, id, revision, entry, messages, code, occurred from changed
      ), deltas as (
        insert into group_deltas (tenant_id, rollout_id, group_id, from_bucket, to_bucket, n)
        select tenant_id, rollout_id, group_id, action_bucket(was, force_type), action_bucket(status, force_type), count(*)
          from changed
         where rollout_id is not null and action_bucket(was, force_type) <> action_bucket(status, force_type)
         group by 1, 2, 3, 4, 5
      )
      insert into outbox (tenant_id, topic, type, common, items, traceparent)
      select c.tenant_id, 'action-events', 'io.update.action.status_changed.v1',
             action_event_common(p_tenant_names[c.place], c.set_id, d.name, d.version, c.rollout_id, c.group_id, c.initiated_by), c.items,
             p_traceparents[c.place]
        from (select min(place) as place, tenant_id, set_id, rollout_id, group_id, initiated_by,
                     json_agg(case when safety is null then json_build_array(
                       id, controller_id, revision, was, status, active, force_type, weight, code,
                       nullif(messages, '{}'), (extract(epoch from occurred) * 1000)::bigint, entry) else json_build_array(
                       id, controller_id, revision, was, status, active, force_type, weight, code,
                       nullif(messages, '{}'), (extract(epoch from occurred) * 1000)::bigint, entry, safety) end order by place) as items
                from changed
               group by tenant_id, set_id, rollout_id, group_id, initiated_by, p_traceparents[place],
                        case when cardinality(messages) > 1 then place end) c
        left join management.distribution_sets_v1 d on d.tenant_id = c.tenant_id and d.id = c.set_id;
      if cardinality(w_targets) > 0 then
        -- The installedBase link is that of the newest of the set's finished actions; only a report that installs has set this moment.
        update target_state s
           set update_status = n.update_status, assigned_set_id = n.assigned_set_id, installed_set_id = n.installed_set_id,
               installed_at = n.installed_at, request_attributes = n.request_attributes, revision = s.revision + 1,
               installed_action_id = case when n.installed_at = now() then greatest(n.installed_action_id, (
                 select max(o.id) from actions o
                  where o.tenant_id = n.tenant_id and o.target_id = n.target_id and o.set_id = n.installed_set_id and o.status = 0))
                 else n.installed_action_id end
          from unnest(w_targets) n
         where s.tenant_id = n.tenant_id and s.target_id = n.target_id;
      end if;
    end if;
  end loop;

  if 'actionNotFound' = any (v_outcomes) then
    for r in
      select i.place from unnest(p_tenants, p_actions, v_outcomes) with ordinality as i (tenant_id, action_id, outcome, place)
        join actions x on x.tenant_id = i.tenant_id and x.id = i.action_id
       where i.outcome = 'actionNotFound'
    loop
      v_outcomes[r.place] := 'foreignAction';
    end loop;
  end if;
  return v_outcomes;
end
$reports$;
-- end

-- Records one report, and waits for the lock of its target. The lock is a statement of its own, so that those of `record_reports` see what it has waited for.
create or replace function report(
  p_tenant int, p_controller_id text, p_action bigint,
  p_channel smallint, p_execution smallint, p_result smallint,
  p_code int, p_messages text[], p_occurred timestamptz,
  p_max_entries int, p_max_messages int,
  p_tenant_name text, p_traceparent text
) returns text language plpgsql as $$
begin
  perform from targets g join target_state s on s.tenant_id = g.tenant_id and s.target_id = g.id
    where g.tenant_id = p_tenant and g.controller_id = p_controller_id for no key update of s;
  if not found then return 'targetNotFound'; end if;
  return (record_reports(
    array[p_tenant], array[p_controller_id], array[p_action], array[p_channel], array[p_execution], array[p_result], array[p_code], p_messages,
    array[cardinality(p_messages)], array[extract(epoch from p_occurred) * 1000]::float8[], array[p_max_entries], array[p_max_messages],
    array[p_tenant_name], array[p_traceparent]))[1];
end
$$;
