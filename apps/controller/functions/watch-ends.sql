-- What the verdicts about watched actions do (contract beyond.md §1.3, §2). Callers hold the lock of the target's state.

-- What a verdict that ends a proof, or a limit, makes of its action: `ending` is the place in proofEnds, `status` null where it stays.
create or replace function watch_ending(p_verdict text)
returns table (ending smallint, status smallint, tally smallint, entry smallint, effect text, reason text)
language sql immutable parallel safe as $$
  select v.ending::smallint, v.status::smallint, v.tally::smallint, v.entry::smallint, v.effect, v.reason
    from (values ('prove', 1, null, 0, 0, 'installed', null), ('accept', 2, null, 0, 0, 'installed', null),
                 ('refute', 3, 1, 0, 1, 'refuted', 'refuted'), ('expire', 2, 1, 0, 1, 'refuted', 'unproven'), ('giveUp', 5, 1, 0, 1, 'refuted', 'timeout'),
                 ('void', 4, null, 2, 2, 'none', null), ('silence', null, null, 3, 2, 'none', null)) v (verdict, ending, status, tally, entry, effect, reason)
   where v.verdict = p_verdict
$$;

-- The words of a verdict in the history, where nobody has others.
create or replace function watch_text(p_verdict text, p_by smallint, w action_watches) returns text language sql stable as $$
  select case p_verdict
    when 'prove' then case when p_by = 3 then 'The device goes on: the success counts as proven.' else 'The success is proven: the device shows what it should.' end
    when 'accept' then 'The success was not proven in time; it counts all the same.'
    when 'expire' then 'The success was not proven in time.'
    when 'giveUp' then 'The device has not finished in time: given up.'
    when 'refute' then 'The device does not run the update.'
    when 'void' then 'A newer update was claimed before the success of this one was proven.'
    when 'silence' then 'Nothing heard for ' || span_text(extract(epoch from now() - w.since)::bigint) || ' while '
                     || (array['the update was not fetched', 'downloading', 'installing'])[w.stage] || '.'
  end
$$;

-- Carries out verdicts about watches of different targets, whose state the caller has locked, in one statement: the action, its target, the watch, the
-- history, the counts and the events. `p_by` holds places in proofSources; `p_text` is what stands in the history, or null for the verdicts' own words.
create or replace function end_watches(
  p_tenant int, p_tenant_name text, p_actions bigint[], p_verdicts text[], p_by smallint[], p_text text, p_principal text, p_traceparent text
) returns void
language plpgsql as $$
begin
  with decided as materialized (
    select a, w, s, v.verdict, v.by, e.ending, e.status as next_status, e.tally, e.entry, p.body as policy,
           a.id, a.target_id, a.status, a.rollout_id, a.group_id, a.set_id, a.force_type,
           case when e.effect <> 'none' then target_after(p_tenant, a, s, e.effect) else s end as t,
           case when e.effect = 'refuted' and p.body ? 'retry' then retry_due(p.body, a.attempt, null, true, a.controller_id) end as retry_at,
           e.effect = 'refuted' and w.stage = 6 and s.installed_set_id = a.set_id as falls_back, e.reason
      from unnest(p_actions, p_verdicts, p_by) as v (action_id, verdict, by)
     cross join lateral watch_ending(v.verdict) e
      join action_watches w on w.tenant_id = p_tenant and w.action_id = v.action_id
      join actions a on a.tenant_id = p_tenant and a.id = v.action_id
      join target_state s on s.tenant_id = p_tenant and s.target_id = a.target_id
      join action_policies p on p.tenant_id = p_tenant and p.id = w.policy_id
  ), ended as materialized (
    select d.*, coalesce(d.next_status, d.status) as to_status, (d.a).active and d.verdict = 'silence' as to_active,
           case when d.retry_at is null then d.tally else 4::smallint end as to_tally,
           case when d.verdict = 'prove' then coalesce((d.policy #>> '{proof,watchHours}')::int, 0) else 0 end as watch_hours,
           array['Update Server: ' || coalesce(p_text, watch_text(d.verdict, d.by, d.w))] as messages
      from decided d
  ), acts as (
    update actions x
       set status = e.to_status, active = e.to_active, tally = e.to_tally, outcome = coalesce(e.ending * 10 + e.by, x.outcome), revision = x.revision + 1,
           last_modified_by = p_principal, last_modified_at = now()
      from ended e where x.tenant_id = p_tenant and x.id = e.id
  ), targets as (
    update target_state x
       set update_status = (e.t).update_status, assigned_set_id = (e.t).assigned_set_id,
           installed_set_id = case when e.falls_back then (e.w).previous_set_id else (e.t).installed_set_id end,
           installed_at = case when e.verdict in ('prove', 'accept') then (e.w).claimed_at else (e.t).installed_at end,
           installed_action_id = case when not e.falls_back then (e.t).installed_action_id else (
             select max(o.id) from actions o
              where o.tenant_id = p_tenant and o.target_id = e.target_id and o.set_id = (e.w).previous_set_id and o.status = 0) end,
           request_attributes = (e.t).request_attributes, revision = x.revision + 1
      from ended e
     where x.tenant_id = p_tenant and x.target_id = e.target_id
       and (e.verdict in ('prove', 'accept') or e.falls_back or e.t is distinct from e.s)
  ), kept as (
    update action_watches x
       set stage = case when e.retry_at is not null then 7 when e.watch_hours > 0 then 6 else x.stage end,
           silent = e.verdict = 'silence', wants_polls = false, since = case when e.verdict = 'silence' then x.since else now() end,
           due_at = coalesce(e.retry_at, case
             when e.verdict = 'silence' then x.began_at + make_interval(secs => (e.policy #>> '{limits,giveUpSeconds}')::float8)
             else now() + make_interval(hours => e.watch_hours) end)
      from ended e
     where x.tenant_id = p_tenant and x.action_id = e.id and (e.retry_at is not null or e.verdict = 'silence' or e.watch_hours > 0)
  ), gone as (
    delete from action_watches x using ended e
     where x.tenant_id = p_tenant and x.action_id = e.id and e.retry_at is null and e.verdict <> 'silence' and e.watch_hours = 0
  ), history as (
    insert into action_history (tenant_id, action_id, revision, status, messages, occurred_at)
    select p_tenant, e.id, (e.a).revision + 1, e.entry, e.messages, now() from ended e
  ), deltas as (
    insert into group_deltas (tenant_id, rollout_id, group_id, from_bucket, to_bucket, n)
    select p_tenant, e.rollout_id, e.group_id, action_bucket(e.status, e.force_type), action_bucket(e.to_status, e.force_type), count(*)
      from ended e
     where e.rollout_id is not null and action_bucket(e.status, e.force_type) <> action_bucket(e.to_status, e.force_type)
     group by 2, 3, 4, 5
  )
  insert into outbox (tenant_id, topic, type, common, items, traceparent)
  select p_tenant, 'action-events', i.type,
         action_event_common(p_tenant_name, i.set_id, min(n.name), min(n.version), i.rollout_id, i.group_id, i.initiated_by),
         json_agg(i.item order by i.id), p_traceparent
    from (select e.id, e.set_id, e.rollout_id, e.group_id, (e.a).initiated_by,
                 case when e.verdict in ('silence', 'giveUp') then 'io.update.action.silence_changed.v1' else 'io.update.action.proof_changed.v1' end as type,
                 json_build_array(e.id, (e.a).controller_id, (e.a).revision + 1, e.status, e.to_status, e.to_active, e.force_type, (e.a).weight, null,
                   e.messages, (extract(epoch from now()) * 1000)::bigint, e.entry,
                   json_strip_nulls(json_build_object(
                     'proof', (array['proving', 'proven', 'unproven', 'refuted', 'void'])[e.ending + 1],
                     'by', case when e.ending is not null then (array['none', 'attributes', 'runningVersion', 'alive', 'person'])[e.by + 1] end,
                     'silent', case when e.verdict = 'silence' then true end, 'reason', e.reason,
                     'attempt', (e.a).attempt, 'nextAttemptAt', floor(extract(epoch from e.retry_at) * 1000)::bigint)),
                   -- when the success came that counts no more (functions/insights.sql)
                   case when e.status = 0 and e.to_status <> 0 then (extract(epoch from (e.w).claimed_at) * 1000)::bigint end) as item
            from ended e) i
    left join management.distribution_sets_v1 n on n.tenant_id = p_tenant and n.id = i.set_id
   group by i.type, i.set_id, i.rollout_id, i.group_id, i.initiated_by;
end
$$;

-- Carries out a verdict about one watch.
create or replace function apply_watch(
  p_tenant int, p_tenant_name text, w action_watches, p_policy jsonb, p_verdict text, p_by smallint, p_text text, p_principal text, p_traceparent text
) returns void
language plpgsql as $$
begin
  if p_verdict = 'ignore' then
    return;
  elsif p_verdict = 'end' then
    delete from action_watches x where x.tenant_id = p_tenant and x.action_id = w.action_id;
  elsif p_verdict = 'observe' then
    -- Until now the end of the proof was all that was due. Nothing that an index holds changes where polls are awaited, so this costs no index anything.
    with observed as (
      update action_watches x
         set stage = 5, since = now(), evidence_at = now(), polls = 0, counts_from = now(), wants_polls = x.polls_wanted > 0,
             due_at = least(x.due_at, case when x.polls_wanted = 0 then now() + make_interval(mins => (p_policy #>> '{proof,stable,minutes}')::int) end)
       where x.tenant_id = p_tenant and x.action_id = w.action_id
    )
    update actions set outcome = p_by where tenant_id = p_tenant and id = w.action_id;
  elsif p_verdict = 'reboot' then
    if w.stage <> 4 then -- A device that shows its old version again and again changes nothing.
      w.stage := 4;
      update action_watches x
         set stage = 4, since = now(), evidence_at = null, polls = 0, wants_polls = x.polls_wanted > 0,
             counts_from = case when p_policy #>> '{proof,require}' = 'alive' then x.counts_from end, due_at = watch_due(w, p_policy)
       where x.tenant_id = p_tenant and x.action_id = w.action_id;
    end if;
    update target_state s set request_attributes = true, revision = s.revision + 1
     where s.tenant_id = p_tenant and s.target_id = w.target_id and not s.request_attributes;
  else
    perform end_watches(p_tenant, p_tenant_name, array[w.action_id], array[p_verdict], array[p_by], p_text, p_principal, p_traceparent);
  end if;
end
$$;

-- A length of time in the largest unit that it has one of: `2 h`, `90 s` is `1 min`.
create or replace function span_text(p_seconds bigint) returns text language plpgsql immutable parallel safe as $$
begin
  return case when p_seconds >= 172800 then p_seconds / 86400 || ' days' when p_seconds >= 3600 then p_seconds / 3600 || ' h'
              when p_seconds >= 60 then p_seconds / 60 || ' min' else p_seconds || ' s' end;
end
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

-- What attributes that a device sends say about the claim of its target. Returns whether it shall be asked for them again. It is part of every request of a
-- device that is watched, so nothing but the watch is read by a query. The watch is not locked before it changes: whoever counts a poll meanwhile moves it on
-- only where no attribute is expected.
create or replace function watch_attributes(
  p_tenant int, p_tenant_name text, p_target int, p_keys text[], p_values text[], p_traceparent text
) returns boolean
language plpgsql as $$
declare
  r record;
  v_expected jsonb;
  v_rule jsonb;
  v_shown text;
  v_held int := 0;
  v_rules int;
  v_other jsonb; -- the first rule that does not hold, and what the device shows instead
  v_instead text;
  v_verdict text;
begin
  select x as watch, p.body as policy into r
    from action_watches x join action_policies p on p.tenant_id = x.tenant_id and p.id = x.policy_id
   where x.tenant_id = p_tenant and x.target_id = p_target and x.stage in (4, 5, 6); -- one at most: a claim ends the others
  if not found then return false; end if;
  v_expected := r.policy #> '{proof,expected}';
  v_rules := coalesce(jsonb_array_length(v_expected), 0);
  if v_rules = 0 then return (r.watch).stage = 4 and r.policy #>> '{proof,require}' = 'version'; end if;
  for n in 0 .. v_rules - 1 loop
    v_rule := v_expected -> n;
    v_shown := p_values[array_position(p_keys, v_rule ->> 'key')];
    if v_shown is null then
      continue;
    elsif (case when v_rule ->> 'match' = 'prefix' then starts_with(v_shown, v_rule ->> 'value') else v_shown = v_rule ->> 'value' end) then
      v_held := v_held + 1;
    elsif v_other is null or v_rule ->> 'key' < v_other ->> 'key' then
      v_other := v_rule; v_instead := v_shown;
    end if;
  end loop;
  if v_other is not null then
    v_verdict := watch_verdict(r.watch, r.policy, 1::smallint);
    perform apply_watch(p_tenant, p_tenant_name, r.watch, r.policy, v_verdict, 1::smallint,
      'The device shows ' || (v_other ->> 'key') || ' ' || v_instead || ' instead of ' || (v_other ->> 'value') || ': it fell back.',
      'CONTROLLER_PLUG_AND_PLAY', p_traceparent);
    return v_verdict = 'reboot';
  elsif v_held = v_rules then
    -- What a match comes to depends on the stage alone, so no fact is computed.
    v_verdict := decide_watch(0::smallint, (r.watch).stage, false, false, false, false, false, false, false);
    if v_verdict <> 'ignore' then
      perform apply_watch(p_tenant, p_tenant_name, r.watch, r.policy, v_verdict, 1::smallint, null, 'CONTROLLER_PLUG_AND_PLAY', p_traceparent);
    end if;
    return false;
  end if;
  return (r.watch).stage = 4;
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
