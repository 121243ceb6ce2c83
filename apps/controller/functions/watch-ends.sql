-- What the verdicts about watched actions do (contract beyond.md §1.3, §2). Callers hold the lock of the target's state.

-- Records a change of an action by the server: its history entry, its event with what the watch says, and its delta. `a` is the action as it was.
create or replace function record_watch_change(
  p_tenant int, p_tenant_name text, a actions, p_status smallint, p_active boolean, p_entry smallint, p_type text, p_text text, p_safety json,
  p_traceparent text
) returns void
language plpgsql as $$
declare
  v_from smallint := action_bucket(a.status, a.force_type);
  v_to smallint := action_bucket(p_status, a.force_type);
begin
  insert into action_history (tenant_id, action_id, revision, status, messages, occurred_at)
  values (p_tenant, a.id, a.revision + 1, p_entry, array[p_text], now());
  if a.rollout_id is not null and v_from <> v_to then
    insert into group_deltas (tenant_id, rollout_id, group_id, from_bucket, to_bucket, n)
    values (p_tenant, a.rollout_id, a.group_id, v_from, v_to, 1);
  end if;
  insert into outbox (tenant_id, topic, type, common, items, traceparent)
  select p_tenant, 'action-events', p_type,
         action_event_common(p_tenant_name, a.set_id, d.name, d.version, a.rollout_id, a.group_id, a.initiated_by),
         json_build_array(json_build_array(a.id, a.controller_id, a.revision + 1, a.status, p_status, p_active, a.force_type, a.weight, null,
           array[p_text], (extract(epoch from now()) * 1000)::bigint, p_entry, json_strip_nulls(p_safety))),
         p_traceparent
    from (select 1) one
    left join management.distribution_sets_v1 d on d.tenant_id = p_tenant and d.id = a.set_id;
end
$$;

-- Writes the target's row as a verdict has changed it.
create or replace function keep_target(p_tenant int, was target_state, t target_state) returns void
language plpgsql as $$
begin
  if t is distinct from was then
    update target_state
       set update_status = t.update_status, assigned_set_id = t.assigned_set_id, installed_set_id = t.installed_set_id,
           installed_at = t.installed_at, installed_action_id = t.installed_action_id,
           request_attributes = t.request_attributes, revision = revision + 1
     where tenant_id = p_tenant and target_id = t.target_id;
  end if;
end
$$;

-- Carries out a verdict. `p_by` is the place in proofSources; `p_text` what stands in the history, or null for the verdict's own words.
create or replace function apply_watch(
  p_tenant int, p_tenant_name text, w action_watches, p_policy jsonb, p_verdict text, p_by smallint, p_text text, p_principal text, p_traceparent text
) returns void
language plpgsql as $$
declare
  a actions;
  t target_state;
  was target_state;
  v_status smallint;
  v_tally smallint := 0;
  v_end smallint;      -- place in proofEnds
  v_entry smallint := 1;
  v_type text := 'io.update.action.proof_changed.v1';
  v_text text := p_text;
  v_retry timestamptz;
  v_hours int := coalesce((p_policy #>> '{proof,watchHours}')::int, 0);
begin
  if p_verdict = 'ignore' then
    return;
  elsif p_verdict = 'end' then
    delete from action_watches x where x.tenant_id = p_tenant and x.action_id = w.action_id;
    return;
  elsif p_verdict = 'wait' then
    update action_watches x set due_at = watch_due(x, p_policy) where x.tenant_id = p_tenant and x.action_id = w.action_id;
    return;
  elsif p_verdict = 'observe' then
    update action_watches x set stage = 5, since = now(), evidence_at = now(), polls = 0, counts_from = now(), wants_polls = x.polls_wanted > 0
     where x.tenant_id = p_tenant and x.action_id = w.action_id;
    update action_watches x set due_at = watch_due(x, p_policy) where x.tenant_id = p_tenant and x.action_id = w.action_id;
    update actions set outcome = p_by where tenant_id = p_tenant and id = w.action_id;
    return;
  elsif p_verdict = 'reboot' then
    update action_watches x
       set stage = 4, since = case when x.stage = 4 then x.since else now() end, evidence_at = null, polls = 0,
           wants_polls = p_policy #>> '{proof,require}' = 'alive'
     where x.tenant_id = p_tenant and x.action_id = w.action_id;
    update action_watches x set due_at = watch_due(x, p_policy) where x.tenant_id = p_tenant and x.action_id = w.action_id;
    update target_state s set request_attributes = true, revision = s.revision + 1
     where s.tenant_id = p_tenant and s.target_id = w.target_id and not s.request_attributes;
    return;
  end if;

  select * into a from actions x where x.tenant_id = p_tenant and x.id = w.action_id for no key update;
  select * into t from target_state s where s.tenant_id = p_tenant and s.target_id = w.target_id;
  was := t;
  v_status := a.status;
  if p_verdict in ('prove', 'accept') then
    v_entry := 0;
    v_end := case p_verdict when 'prove' then 1 else 2 end;
    v_text := coalesce(v_text, case when p_verdict = 'accept' then 'The success was not proven in time; it counts all the same.'
                                    when p_by = 3 then 'The device goes on: the success counts as proven.'
                                    else 'The success is proven: the device shows what it should.' end);
    t := target_after(p_tenant, a, t, 'installed');
    t.installed_at := w.claimed_at;
  elsif p_verdict in ('refute', 'expire', 'giveUp') then
    v_status := 1;
    v_end := case p_verdict when 'refute' then 3 when 'expire' then 2 else 5 end;
    v_text := coalesce(v_text, case p_verdict when 'expire' then 'The success was not proven in time.'
                                              when 'giveUp' then 'The device has not finished in time: given up.'
                                              else 'The device does not run the update.' end);
    if w.stage = 6 and t.installed_set_id = a.set_id then
      t.installed_set_id := w.previous_set_id;
      t.installed_action_id := (select max(o.id) from actions o where o.tenant_id = p_tenant and o.target_id = t.target_id
                                   and o.set_id = w.previous_set_id and o.status = 0);
    end if;
    t := target_after(p_tenant, a, t, 'refuted');
    v_retry := retry_due(p_policy, a.attempt, null, true, a.controller_id);
    v_tally := case when v_retry is null then 0 else 4 end;
    if p_verdict = 'giveUp' then v_type := 'io.update.action.silence_changed.v1'; end if;
  elsif p_verdict = 'void' then
    v_tally := 2; v_end := 4; v_entry := 2;
    v_text := 'A newer update was claimed before the success of this one was proven.';
  elsif p_verdict = 'silence' then
    v_tally := 3; v_entry := 2; v_type := 'io.update.action.silence_changed.v1';
    v_text := 'Nothing heard for ' || span_text(extract(epoch from now() - w.since)::bigint) || ' while '
           || (array['the update was not fetched', 'downloading', 'installing'])[w.stage] || '.';
  else
    raise exception 'no such verdict: %', p_verdict;
  end if;

  update actions
     set status = v_status, active = a.active and p_verdict = 'silence', tally = v_tally,
         outcome = case when v_end is null then outcome else v_end * 10 + p_by end, revision = revision + 1,
         last_modified_by = p_principal, last_modified_at = now()
   where tenant_id = p_tenant and id = a.id;
  perform keep_target(p_tenant, was, t);

  if v_retry is not null then
    insert into action_watches (tenant_id, action_id, target_id, policy_id, stage, due_at)
    values (p_tenant, a.id, a.target_id, a.policy_id, 7, v_retry)
    on conflict (tenant_id, action_id) do update set stage = 7, silent = false, wants_polls = false, since = now(), due_at = excluded.due_at;
  elsif p_verdict = 'silence' then
    update action_watches x set silent = true where x.tenant_id = p_tenant and x.action_id = a.id;
    update action_watches x set due_at = watch_due(x, p_policy) where x.tenant_id = p_tenant and x.action_id = a.id;
  elsif p_verdict = 'prove' and v_hours > 0 then
    update action_watches x set stage = 6, since = now(), wants_polls = false where x.tenant_id = p_tenant and x.action_id = a.id;
    update action_watches x set due_at = watch_due(x, p_policy) where x.tenant_id = p_tenant and x.action_id = a.id;
  else
    delete from action_watches x where x.tenant_id = p_tenant and x.action_id = a.id;
  end if;
  perform record_watch_change(p_tenant, p_tenant_name, a, v_status, a.active and p_verdict = 'silence', v_entry, v_type,
    'Update Server: ' || v_text,
    json_build_object('proof', (array['proving', 'proven', 'unproven', 'refuted', 'void'])[v_end + 1],
                      'by', case when v_end is not null then (array['none', 'attributes', 'runningVersion', 'alive', 'person'])[p_by + 1] end,
                      'silent', case when p_verdict = 'silence' then true end,
                      'reason', case p_verdict when 'giveUp' then 'timeout' when 'expire' then 'unproven' when 'refute' then 'refuted' end,
                      'attempt', a.attempt, 'nextAttemptAt', (extract(epoch from v_retry) * 1000)::bigint), p_traceparent);
end
$$;

-- A length of time in the largest unit that it has one of: `2 h`, `90 s` is `1 min`.
create or replace function span_text(p_seconds bigint) returns text language sql immutable parallel safe as $$
  select case when p_seconds >= 172800 then p_seconds / 86400 || ' days' when p_seconds >= 3600 then p_seconds / 3600 || ' h'
              when p_seconds >= 60 then p_seconds / 60 || ' min' else p_seconds || ' s' end
$$;

-- A claim ends whatever is awaited of an earlier one.
create or replace function end_other_proofs(p_tenant int, p_tenant_name text, p_target int, p_but bigint, p_traceparent text) returns void
language plpgsql as $$
declare
  w action_watches;
  v_policy jsonb;
begin
  for w in select * from action_watches x
            where x.tenant_id = p_tenant and x.target_id = p_target and x.stage in (4, 5, 6) and x.action_id <> p_but order by x.action_id for update loop
    v_policy := (select p.body from action_policies p where p.tenant_id = p_tenant and p.id = w.policy_id);
    perform apply_watch(p_tenant, p_tenant_name, w, v_policy, watch_verdict(w, v_policy, 5::smallint), 0::smallint, null, 'CONTROLLER_PLUG_AND_PLAY',
                        p_traceparent);
  end loop;
end
$$;

-- What attributes that a device sends say about the claim of its target. Returns whether it shall be asked for them again.
create or replace function watch_attributes(
  p_tenant int, p_tenant_name text, p_target int, p_keys text[], p_values text[], p_traceparent text
) returns boolean
language plpgsql as $$
declare
  w action_watches;
  v_policy jsonb;
  v_rules int;
  v_held int;
  v_key text;
  v_value text;
  v_wanted text;
  v_verdict text;
begin
  select * into w from action_watches x where x.tenant_id = p_tenant and x.target_id = p_target and x.stage in (4, 5, 6)
   order by x.action_id desc limit 1 for update;
  if not found then return false; end if;
  v_policy := (select p.body from action_policies p where p.tenant_id = p_tenant and p.id = w.policy_id);
  select count(*), count(*) filter (where h.holds), min(e ->> 'key') filter (where h.holds = false) into v_rules, v_held, v_key
    from jsonb_array_elements(v_policy #> '{proof,expected}') e
    left join unnest(p_keys, p_values) n (key, value) on n.key = e ->> 'key' and n.value is not null
    cross join lateral (select case when n.value is null then null when e ->> 'match' = 'prefix' then starts_with(n.value, e ->> 'value')
                                    else n.value = e ->> 'value' end as holds) h;
  if v_rules = 0 then return w.stage = 4 and v_policy #>> '{proof,require}' = 'version'; end if;
  if v_key is not null then
    v_verdict := watch_verdict(w, v_policy, 1::smallint);
    select n.value, e ->> 'value' into v_value, v_wanted
      from unnest(p_keys, p_values) n (key, value), jsonb_array_elements(v_policy #> '{proof,expected}') e
     where n.key = v_key and e ->> 'key' = v_key limit 1;
    perform apply_watch(p_tenant, p_tenant_name, w, v_policy, v_verdict, 1::smallint,
      'The device shows ' || v_key || ' ' || v_value || ' instead of ' || v_wanted || ': it fell back.', 'CONTROLLER_PLUG_AND_PLAY', p_traceparent);
    return v_verdict = 'reboot';
  elsif v_held = v_rules then
    perform apply_watch(p_tenant, p_tenant_name, w, v_policy, watch_verdict(w, v_policy, 0::smallint), 1::smallint, null, 'CONTROLLER_PLUG_AND_PLAY',
                        p_traceparent);
    return false;
  end if;
  return w.stage = 4;
end
$$;

-- What the version that a device reports says about the claim of its target.
create or replace function watch_version(p_tenant int, p_tenant_name text, p_target int, p_set bigint, p_name text, p_version text, p_traceparent text) returns void
language plpgsql as $$
declare
  w action_watches;
  v_policy jsonb;
  v_match boolean;
begin
  select * into w from action_watches x where x.tenant_id = p_tenant and x.target_id = p_target and x.stage in (4, 5, 6)
   order by x.action_id desc limit 1 for update;
  if not found then return; end if;
  v_policy := (select p.body from action_policies p where p.tenant_id = p_tenant and p.id = w.policy_id);
  v_match := exists (select from actions a where a.tenant_id = p_tenant and a.id = w.action_id and a.set_id = p_set);
  perform apply_watch(p_tenant, p_tenant_name, w, v_policy, watch_verdict(w, v_policy, case when v_match then 0 else 1 end::smallint), 2::smallint,
    case when not v_match then 'The device runs ' || p_name || ' ' || p_version || ': it fell back.' end, 'CONTROLLER_PLUG_AND_PLAY', p_traceparent);
end
$$;

-- A person decides about a claim or a proven update that is still watched.
create or replace function prove_action(
  p_tenant int, p_tenant_name text, p_controller_id text, p_action bigint, p_proven boolean, p_remark text, p_scope bigint[], p_by text,
  p_traceparent text
) returns text
language plpgsql as $$
declare
  v_outcome text := lock_action(p_tenant, p_controller_id, p_action, p_scope);
  w action_watches;
  v_policy jsonb;
begin
  if v_outcome is not null then
    return v_outcome;
  end if;
  select * into w from action_watches x where x.tenant_id = p_tenant and x.action_id = p_action and x.stage in (4, 5, 6) for update;
  if not found then
    return 'notProving';
  end if;
  v_policy := (select p.body from action_policies p where p.tenant_id = p_tenant and p.id = w.policy_id);
  perform apply_watch(p_tenant, p_tenant_name, w, v_policy, watch_verdict(w, v_policy, case when p_proven then 3 else 4 end::smallint), 4::smallint,
    p_by || ' says that the update is ' || case when p_proven then 'proven' else 'refuted' end || ': ' || p_remark, p_by, p_traceparent);
  return 'ok';
end
$$;
