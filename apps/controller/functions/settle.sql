-- What watched actions come to by themselves, when their time is over (contract beyond.md §1.3, §3), and next attempts.

-- Watches whose time is over, at most p_limit. Every tenant that has any gets an equal share of a round, so that the many of some delay nobody else's. A
-- share that is not used up is lost: who has more gets the next round, which follows at once. If there are more tenants than places, those come first that
-- have waited longest.
create or replace function due_watches(p_limit int) returns setof action_watches
language sql stable
set enable_seqscan = off as $$
  with recursive tenants as (
    (select w.tenant_id, w.due_at from action_watches w where w.due_at is not null order by w.tenant_id, w.due_at limit 1)
    union all
    select n.tenant_id, n.due_at
      from tenants t
     cross join lateral (
       select w.tenant_id, w.due_at from action_watches w where w.due_at is not null and w.tenant_id > t.tenant_id order by w.tenant_id, w.due_at limit 1) n
  ), served as materialized (
    select t.tenant_id, greatest(1, p_limit / count(*) over ()) as share from tenants t where t.due_at <= now() order by t.due_at limit p_limit
  )
  select d.*
    from served t
    cross join lateral (
      select w.* from action_watches w
       where w.tenant_id = t.tenant_id and w.due_at <= now()
       order by w.due_at
       limit t.share) d
$$;

-- Starts the next attempt of an action that has failed: a new action, with a new id (docs/adr/0050). Returns null, 'later' where the rollout's fence is
-- being moved right now, or why there is none. The caller holds the lock of the target's state.
create or replace function start_attempt(
  p_tenant int, p_tenant_name text, a actions, p_id bigint, p_max_actions int, p_by text, p_traceparent text
) returns text
language plpgsql as $$
declare
  v_rollout text;
  v_text text;
  v_max int := (select (p.body #>> '{retry,max}')::int from action_policies p where p.tenant_id = p_tenant and p.id = a.policy_id);
  d record;
  t target_state;
begin
  select * into t from target_state s where s.tenant_id = p_tenant and s.target_id = a.target_id;
  if a.rollout_id is not null then
    select r.status into v_rollout from rollout_engine.rollouts_v1 r where r.tenant_id = p_tenant and r.id = a.rollout_id;
    if v_rollout is null or v_rollout in ('stopping', 'stopped', 'deleting', 'deleted')
       or exists (select from rollout_fences f where f.tenant_id = p_tenant and f.rollout_id = a.rollout_id and not f.open) then
      return 'stopped';
    end if;
    -- Never waited for: a fence comes before targets in the order of locks, and this transaction holds one already.
    perform from rollout_fences f where f.tenant_id = p_tenant and f.rollout_id = a.rollout_id and f.open for share skip locked;
    if not found then return 'later'; end if;
  end if;
  select v.* into d from management.distribution_sets_v1 v where v.tenant_id = p_tenant and v.id = a.set_id;
  if not found or d.deleted or not d.valid then
    return 'set';
  elsif exists (select from actions o where o.tenant_id = p_tenant and o.target_id = a.target_id and o.active)
        or (t.assigned_set_id is not null and t.assigned_set_id <> a.set_id) then
    return 'other';
  elsif p_max_actions > 0 and
        (select count(*) from (select from actions o where o.tenant_id = p_tenant and o.target_id = a.target_id limit p_max_actions) c) >= p_max_actions then
    return 'quota';
  end if;

  v_text := 'Update Server: Attempt ' || a.attempt + 1 || case when v_max is not null then ' of ' || greatest(v_max, a.attempt) + 1 else '' end || '.';
  -- It counts no more, and the new one in its place; so both are never in the index of attempts.
  update actions set retried_by = p_id, tally = 0 where tenant_id = p_tenant and id = a.id;
  insert into actions (tenant_id, id, target_id, controller_id, set_id, status, active, force_type, force_time, weight, migration_step,
                       maintenance_schedule, maintenance_duration, maintenance_timezone, maintenance_ends_at, multi_assignment,
                       rollout_id, group_id, policy_id, attempt, retry_of, initiated_by, created_by, last_modified_by)
  values (p_tenant, p_id, a.target_id, a.controller_id, a.set_id, 3, true, a.force_type, a.force_time, a.weight, a.migration_step,
          a.maintenance_schedule, a.maintenance_duration, a.maintenance_timezone, a.maintenance_ends_at, a.multi_assignment,
          a.rollout_id, a.group_id, a.policy_id, a.attempt + 1, coalesce(a.retry_of, a.id), a.initiated_by, p_by, p_by);
  delete from action_watches w where w.tenant_id = p_tenant and w.action_id = a.id;
  if a.rollout_id is not null then
    insert into group_deltas (tenant_id, rollout_id, group_id, from_bucket, to_bucket, n) values (p_tenant, a.rollout_id, a.group_id, 3, 1, 1);
  end if;
  update target_state s set assigned_set_id = a.set_id, update_status = 2, revision = s.revision + 1
   where s.tenant_id = p_tenant and s.target_id = a.target_id;
  insert into action_history (tenant_id, action_id, revision, status, messages, occurred_at) values (p_tenant, p_id, 1, 3, array[v_text], now());
  insert into outbox (tenant_id, topic, type, common, items, traceparent)
  values (p_tenant, 'action-events', 'io.update.action.created.v1',
          action_event_common(p_tenant_name, a.set_id, d.name, d.version, a.rollout_id, a.group_id, a.initiated_by),
          json_build_array(json_build_array(p_id, a.controller_id, 1, null, 3, true, a.force_type, a.weight, null, array[v_text],
            (extract(epoch from now()) * 1000)::bigint, 3, json_build_object('attempt', a.attempt + 1, 'retryOf', coalesce(a.retry_of, a.id)))),
          p_traceparent);
  if a.policy_id is not null then perform begin_watches(p_tenant, array[p_id]); end if;
  return null;
end
$$;

-- Carries out a retry that is due, or ends the wait for it. In a paused rollout it waits on.
create or replace function settle_retry(p_tenant int, p_tenant_name text, w action_watches, p_id bigint, p_max_actions int) returns void
language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  a actions;
  v_problem text;
begin
  select * into a from actions x where x.tenant_id = p_tenant and x.id = w.action_id for no key update;
  if exists (select from rollout_engine.rollouts_v1 r where r.tenant_id = p_tenant and r.id = a.rollout_id and r.status = 'paused') then
    v_problem := 'later';
  else
    v_problem := start_attempt(p_tenant, p_tenant_name, a, p_id, p_max_actions, a.created_by, null);
  end if;
  if v_problem is null then
    return;
  elsif v_problem = 'later' then
    -- ever more seldom, because a paused rollout may have a hundred thousand of them, and rounds are for all tenants
    update action_watches x set due_at = now() + least(interval '2 minutes', greatest(interval '10 seconds', (now() - x.since) / 4))
     where x.tenant_id = p_tenant and x.action_id = a.id;
    return;
  end if;
  delete from action_watches x where x.tenant_id = p_tenant and x.action_id = a.id;
  update actions set tally = 0, outcome = case v_problem when 'quota' then 60 else outcome end, revision = revision + 1, last_modified_at = now()
   where tenant_id = p_tenant and id = a.id;
  perform record_watch_change(p_tenant, p_tenant_name, a, a.status, false, a.status, 'io.update.action.retry_changed.v1',
    'Update Server: No further attempt: ' || case v_problem when 'stopped' then 'the rollout is stopped.' when 'set' then 'the distribution set is no longer valid.'
      when 'quota' then 'the target has as many actions as it may have.' else 'the target has another assignment.' end,
    json_build_object('attempt', a.attempt, 'reason', v_problem), null);
end
$$;

-- Settles what is due, at most p_limit, each once: the lock of the transaction is the lease, and each watch is read again under the lock of its target.
-- Targets that somebody else is changing right now are left for the next round. What is due is settled by statements for a whole tenant; of a target that
-- has several, the first ones of all targets go before the second ones. Ids for retries come in blocks, one for each tenant that had some due;
-- without one a retry waits for the next round. Outside their maintenance window no clock of an installation runs, and cron is not for SQL: those with a
-- window come with the moment at which their time is over, and wait until then; one that has come due since these were read waits for the next round.
create or replace function settle_watches(
  p_limit int, p_id_tenants int[], p_first_ids bigint[], p_id_counts int[], p_max_actions int[],
  p_window_tenants int[], p_window_actions bigint[], p_window_ends timestamptz[]
) returns int
language plpgsql
set plan_cache_mode = force_custom_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  w action_watches;
  v_tenants int[];
  v_targets int[];
  v_actions bigint[];
  v_verdicts text[];
  v_by smallint[];
  v_tenant int;
  v_name text;
  v_place int;
  v_used int[] := array_fill(0, array[coalesce(cardinality(p_id_tenants), 0)]);
  v_settled int := 0;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('controller settle', 0)) then
    return 0;
  end if;
  perform refresh_statistics();
  update action_watches x set due_at = least(l.until, x.began_at + (p.body #>> '{limits,giveUpSeconds}')::float8 * interval '1 second')
    from unnest(p_window_tenants, p_window_actions, p_window_ends) l (tenant_id, action_id, until), action_policies p
   where p.tenant_id = x.tenant_id and p.id = x.policy_id and x.tenant_id = l.tenant_id and x.action_id = l.action_id and l.until > now();
  select array_agg(d.tenant_id order by d.tenant_id, d.target_id, d.action_id), array_agg(d.target_id order by d.tenant_id, d.target_id, d.action_id),
         array_agg(d.action_id order by d.tenant_id, d.target_id, d.action_id)
    into v_tenants, v_targets, v_actions
    from due_watches(p_limit) d;
  if v_tenants is null then
    return 0;
  end if;
  select array_agg(l.tenant_id order by l.tenant_id, l.target_id, l.action_id), array_agg(l.target_id order by l.tenant_id, l.target_id, l.action_id),
         array_agg(l.action_id order by l.tenant_id, l.target_id, l.action_id)
    into v_tenants, v_targets, v_actions
    from (select s.tenant_id, s.target_id, i.action_id
            from unnest(v_tenants, v_targets, v_actions) as i (tenant_id, target_id, action_id)
            join target_state s on s.tenant_id = i.tenant_id and s.target_id = i.target_id
           order by s.tenant_id, s.target_id for no key update of s skip locked) l;
  perform from unnest(v_tenants, v_targets, v_actions) as i (tenant_id, target_id, action_id)
     join action_watches x on x.tenant_id = i.tenant_id and x.action_id = i.action_id
    order by i.tenant_id, i.target_id, i.action_id for update of x;
  for v_tenant, v_actions in
    select i.tenant_id, array_agg(i.action_id order by i.target_id)
      from (select u.*, row_number() over (partition by u.tenant_id, u.target_id order by u.action_id) as turn
              from unnest(v_tenants, v_targets, v_actions) as u (tenant_id, target_id, action_id)) i
     group by i.tenant_id, i.turn order by i.tenant_id, i.turn
  loop
    v_name := (select n.name from management.tenants_v1 n where n.tenant_id = v_tenant and n.status = 'active');
    if v_name is null then -- A suspended tenant: nothing happens to its actions; it goes on when the tenant does.
      update action_watches x set due_at = now() + interval '1 minute'
        from unnest(v_actions) i (action_id) where x.tenant_id = v_tenant and x.action_id = i.action_id and coalesce(x.due_at <= now(), false);
      continue;
    end if;
    select array_agg(d.action_id), array_agg(d.verdict), array_agg(d.by)
      into v_actions, v_verdicts, v_by
      from (select x.action_id, watch_verdict(x, p.body, 2::smallint) as verdict, x.stage, a.maintenance_schedule is not null as windowed,
                   coalesce(a.outcome % 10, 3)::smallint as by
              from unnest(v_actions) with ordinality i (action_id, place)
             -- By its key: otherwise all that is due might be read by its time, once for each of these.
             cross join lateral (select o.* from action_watches o where o.tenant_id = v_tenant and o.action_id = i.action_id offset 0) x
              join actions a on a.tenant_id = v_tenant and a.id = i.action_id
              join action_policies p on p.tenant_id = v_tenant and p.id = x.policy_id
             where x.due_at <= now()
             order by i.place) d
     where not (d.verdict = 'silence' and d.stage = 3 and d.windowed)
        or exists (select from unnest(p_window_tenants, p_window_actions) k (tenant_id, action_id)
                    where k.tenant_id = v_tenant and k.action_id = d.action_id);
    continue when v_actions is null;
    delete from action_watches x using unnest(v_actions, v_verdicts) i (action_id, verdict)
     where i.verdict = 'end' and x.tenant_id = v_tenant and x.action_id = i.action_id;
    update action_watches x set due_at = watch_due(x, p.body)
      from unnest(v_actions, v_verdicts) i (action_id, verdict), action_policies p
     where i.verdict = 'wait' and x.tenant_id = v_tenant and x.action_id = i.action_id and p.tenant_id = v_tenant and p.id = x.policy_id;
    perform end_watches(v_tenant, v_name, array_agg(i.action_id), array_agg(i.verdict), array_agg(case when i.verdict = 'prove' then i.by else 0 end::smallint),
                        null, 'system', null)
       from unnest(v_actions, v_verdicts, v_by) i (action_id, verdict, by)
      where i.verdict in ('prove', 'accept', 'expire', 'giveUp', 'silence')
     having count(*) > 0;
    v_settled := v_settled + cardinality(v_actions);

    v_place := array_position(p_id_tenants, v_tenant);
    for w in select x.* from unnest(v_actions, v_verdicts) with ordinality i (action_id, verdict, place)
               join action_watches x on x.tenant_id = v_tenant and x.action_id = i.action_id
              where i.verdict = 'retry' order by i.place
    loop
      if v_place is null or v_used[v_place] >= p_id_counts[v_place] then
        v_settled := v_settled - 1;
      else
        perform settle_retry(v_tenant, v_name, w, p_first_ids[v_place] + v_used[v_place], p_max_actions[v_place]);
        v_used[v_place] := v_used[v_place] + 1;
      end if;
    end loop;
  end loop;
  return v_settled;
end
$$;

-- Tries an action again at once, on request: only one that has failed and was not tried again. A person decides, so a paused rollout is no hindrance.
-- Returns 'ok', or why not: 'notRetryable', 'stopped', 'set', 'other', 'tooManyActions'.
create or replace function retry_action(
  p_tenant int, p_tenant_name text, p_controller_id text, p_action bigint, p_id bigint, p_max_actions int, p_scope bigint[], p_by text, p_traceparent text
) returns text
language plpgsql as $$
declare
  v_outcome text := lock_action(p_tenant, p_controller_id, p_action, p_scope);
  a actions;
begin
  if v_outcome is not null then
    return v_outcome;
  end if;
  select * into a from actions x where x.tenant_id = p_tenant and x.id = p_action for no key update;
  if a.status <> 1 or a.active or a.retried_by is not null then
    return 'notRetryable';
  end if;
  -- an id is taken only for a retry that is allowed
  if p_id is null then
    return 'ready';
  end if;
  v_outcome := start_attempt(p_tenant, p_tenant_name, a, p_id, p_max_actions, p_by, p_traceparent);
  -- nobody moves a rollout's fence but who starts or stops it, and an attempt comes long after its start
  return case when v_outcome is null then 'ok' when v_outcome = 'quota' then 'tooManyActions' when v_outcome = 'later' then 'stopped' else v_outcome end;
end
$$;
