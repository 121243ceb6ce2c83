-- What is awaited of actions with a policy (contract beyond.md §1 to §3). Codes of stages, tallies and outcomes are those of packages/contracts/src/codes.ts;
-- what an event comes to is decided by decide_watch (functions/watch-decisions.sql). Callers hold the lock of the target's state.

-- Returns the id of a policy, given as text; equal texts share one. Null for none.
create or replace function intern_policy(p_tenant int, p_body text) returns int language plpgsql as $$
declare
  v_digest bytea := sha256(convert_to(p_body, 'UTF8'));
  v_id int;
begin
  if p_body is null then return null; end if;
  select p.id into v_id from action_policies p where p.tenant_id = p_tenant and p.digest = v_digest;
  if found then return v_id; end if;
  insert into action_policies (tenant_id, digest, body) values (p_tenant, v_digest, p_body::jsonb)
  on conflict (tenant_id, digest) do nothing returning id into v_id;
  if v_id is null then -- Somebody was faster; the next statement sees it.
    select p.id into v_id from action_policies p where p.tenant_id = p_tenant and p.digest = v_digest;
  end if;
  return v_id;
end
$$;

-- The same for a list of policies, in its order; null for none.
create or replace function intern_policies(p_tenant int, p_bodies text) returns int[] language plpgsql as $$
begin
  if p_bodies is null then return null; end if;
  return array(select intern_policy(p_tenant, b.body::text) from json_array_elements(p_bodies::json) with ordinality b (body, n) order by b.n);
end
$$;

-- Returns when something happens to the watch by itself, or null.
create or replace function watch_due(w action_watches, p_policy jsonb) returns timestamptz language sql stable as $$
  select case
    when w.stage <= 3 then least(
      case when not w.silent then w.since + make_interval(secs => (p_policy #>> array['limits',
        (array['notFetchedSeconds', 'downloadingSeconds', 'installingSeconds'])[w.stage]])::float8) end,
      w.began_at + make_interval(secs => (p_policy #>> '{limits,giveUpSeconds}')::float8))
    when w.stage in (4, 5) then least(
      w.claimed_at + make_interval(secs => (p_policy #>> '{proof,withinSeconds}')::float8),
      case when w.stage = 5 and w.polls >= w.polls_wanted
           then w.evidence_at + make_interval(mins => (p_policy #>> '{proof,stable,minutes}')::int) end)
    when w.stage = 6 then w.since + make_interval(hours => (p_policy #>> '{proof,watchHours}')::int)
    else w.due_at
  end
$$;

-- Returns what an event comes to for the watch as it is now.
create or replace function watch_verdict(w action_watches, p_policy jsonb, p_event smallint) returns text language sql stable as $$
  select decide_watch(p_event, w.stage,
    coalesce(now() >= w.claimed_at + make_interval(secs => (p_policy #>> '{proof,graceSeconds}')::float8), false),
    coalesce(w.polls >= w.polls_wanted and now() >= w.evidence_at + make_interval(mins => (p_policy #>> '{proof,stable,minutes}')::int), false),
    coalesce(now() >= w.claimed_at + make_interval(secs => (p_policy #>> '{proof,withinSeconds}')::float8), false),
    coalesce(p_policy #>> '{proof,onExpiry}' = 'success', false),
    coalesce(now() >= w.began_at + make_interval(secs => (p_policy #>> '{limits,giveUpSeconds}')::float8), false),
    coalesce(now() >= case w.stage
      when 6 then w.since + make_interval(hours => (p_policy #>> '{proof,watchHours}')::int)
      else w.since + make_interval(secs => (p_policy #>> array['limits',
        (array['notFetchedSeconds', 'downloadingSeconds', 'installingSeconds'])[w.stage]])::float8) end, false),
    w.silent)
$$;

-- Returns when an action that has failed is tried again, or null. Codes are those of the device; `p_ended` says that the server has ended it.
create or replace function retry_due(p_policy jsonb, p_attempt smallint, p_code int, p_ended boolean, p_controller_id text) returns timestamptz
language plpgsql stable as $$
declare
  r jsonb := p_policy -> 'retry';
begin
  if r is null or p_attempt > (r ->> 'max')::int then
    return null;
  elsif p_ended or p_code is null then
    if not (r ->> case when p_ended then 'onSilent' else 'withoutCode' end)::boolean then return null; end if;
  elsif exists (select from jsonb_array_elements(r -> 'notCodes') c where p_code between (c ->> 'from')::int and (c ->> 'to')::int)
        or (r -> 'codes' is not null and not exists (
              select from jsonb_array_elements(r -> 'codes') c where p_code between (c ->> 'from')::int and (c ->> 'to')::int)) then
    return null;
  end if;
  return now() + make_interval(secs =>
    least((r ->> 'maxDelaySeconds')::float8, (r ->> 'delaySeconds')::float8 * (r ->> 'backoff')::float8 ^ (p_attempt - 1))
    * (0.9 + 0.2 * (hashtextextended(p_controller_id, p_attempt) & 1023) / 1023.0));
end
$$;

-- Begins the clocks of actions that have just started, where their policy limits the time. Those that wait for a confirmation begin with it.
create or replace function begin_watches(p_tenant int, p_ids bigint[]) returns void
language plpgsql set plan_cache_mode = force_custom_plan as $$
begin
  insert into action_watches as w (tenant_id, action_id, target_id, policy_id, stage, due_at)
  select a.tenant_id, a.id, a.target_id, a.policy_id, 1,
         now() + make_interval(secs => least((p.body #>> '{limits,notFetchedSeconds}')::float8, (p.body #>> '{limits,giveUpSeconds}')::float8))
    from actions a join action_policies p on p.tenant_id = a.tenant_id and p.id = a.policy_id
   where a.tenant_id = p_tenant and a.id = any ((select p_ids)::bigint[]) and a.active and a.status = (select 3) and p.body ? 'limits'
   order by a.target_id
  on conflict (tenant_id, action_id) do update set stage = 1, silent = false, since = now(), due_at = excluded.due_at;
end
$$;

-- What a policy makes of a report: a success becomes a claim, a failure may wait for its next attempt, and anything else moves the clocks. `p_effect` is
-- the effect on the target that the report would have without a policy.
create or replace function watch_report(
  p_tenant int, a actions, t target_state, p_next smallint, p_entry smallint, p_effect text, p_code int, out effect text, out tally smallint
)
language plpgsql as $$
declare
  v_policy jsonb := (select p.body from action_policies p where p.tenant_id = p_tenant and p.id = a.policy_id);
  v_retry timestamptz;
begin
  effect := p_effect; tally := 0;
  if p_effect = 'installed' and v_policy ? 'proof' and a.force_type <> 3 then
    effect := 'claimed'; tally := 1;
    insert into action_watches as w (tenant_id, action_id, target_id, policy_id, stage, wants_polls, polls_wanted, previous_set_id, claimed_at,
                                     counts_from, due_at)
    -- Polls that count only after evidence are wanted from the start, and counted from no time yet: so the evidence changes no index.
    select p_tenant, a.id, a.target_id, a.policy_id, 4, p.alive or p.polls > 0, case when p.alive then greatest(p.polls, 1) else p.polls end,
           t.installed_set_id, now(),
           case when p.alive then now() + make_interval(secs => p.grace) end, now() + make_interval(secs => p.within)
      from (select v_policy #>> '{proof,require}' = 'alive' as alive, (v_policy #>> '{proof,stable,polls}')::smallint as polls,
                   (v_policy #>> '{proof,graceSeconds}')::float8 as grace, (v_policy #>> '{proof,withinSeconds}')::float8 as within) p
    on conflict (tenant_id, action_id) do update
       set stage = 4, silent = false, since = now(), wants_polls = excluded.wants_polls, polls_wanted = excluded.polls_wanted,
           previous_set_id = excluded.previous_set_id, claimed_at = now(), counts_from = excluded.counts_from, due_at = excluded.due_at;
  elsif p_next = 1 and p_effect = 'failed' then
    v_retry := retry_due(v_policy, a.attempt, p_code, false, a.controller_id);
    if v_retry is not null then
      tally := 4;
      insert into action_watches as w (tenant_id, action_id, target_id, policy_id, stage, due_at)
      values (p_tenant, a.id, a.target_id, a.policy_id, 7, v_retry)
      on conflict (tenant_id, action_id) do update set stage = 7, silent = false, since = now(), due_at = excluded.due_at;
    end if;
  elsif v_policy ? 'limits' and p_next not in (0, 1, 4, 10) then
    -- A device that rejects its cancellation goes on, and its clock begins anew; while it is asked to cancel none runs.
    update action_watches w
       set silent = false, stage = n.stage,
           since = case when n.stage <> w.stage or w.silent or a.status = 5 then now() else w.since end
      from (select case when a.status = 5 and p_next <> 5 then 3 else stage_after(x.stage, p_entry) end::smallint as stage
              from action_watches x where x.tenant_id = p_tenant and x.action_id = a.id) n
     where w.tenant_id = p_tenant and w.action_id = a.id;
    update action_watches w set due_at = case when p_next <> 5 then watch_due(w, v_policy) end where w.tenant_id = p_tenant and w.action_id = a.id;
  end if;
end
$$;

-- Returns what the event of a change by the device says of the watch, where the action counts otherwise afterwards (contract beyond.md §1.4): a claim, the
-- end of a silence, the wait for a next attempt. `a` is the action as it was.
create or replace function tally_change(p_tenant int, a actions, p_tally smallint) returns json language sql stable as $$
  select json_strip_nulls(json_build_object(
    'proof', case p_tally when 1 then 'proving' end,
    'silent', case a.tally when 3 then false end,
    'attempt', a.attempt,
    'nextAttemptAt', case p_tally when 4 then (
      select floor(extract(epoch from w.due_at) * 1000)::bigint from action_watches w where w.tenant_id = p_tenant and w.action_id = a.id) end))
$$;

-- Downloads are entries of the device as its reports are: what has not been fetched is being downloaded now, and a silence ends. Callers have taken the
-- tally back and hold the locks of the targets.
create or replace function watch_downloads(p_tenants int[], p_actions bigint[]) returns void
language plpgsql set plan_cache_mode = force_generic_plan as $$
begin
  update action_watches w
     set stage = stage_after(w.stage, 7::smallint), silent = false, since = now()
    from unnest(p_tenants, p_actions) i (tenant_id, action_id)
   where w.tenant_id = i.tenant_id and w.action_id = i.action_id and w.stage <= 3 and (w.silent or stage_after(w.stage, 7::smallint) <> w.stage);
  update action_watches w set due_at = case when a.status <> 5 then watch_due(w, p.body) end
    from unnest(p_tenants, p_actions) i (tenant_id, action_id), actions a, action_policies p
   where w.tenant_id = i.tenant_id and w.action_id = i.action_id and w.stage <= 3
     and a.tenant_id = w.tenant_id and a.id = w.action_id and p.tenant_id = w.tenant_id and p.id = w.policy_id;
end
$$;

-- A watch follows its action where the change comes from neither a report nor the watch itself: confirmations, retrievals, cancellations, and ends by
-- a newer assignment, a stop or a force quit. So no such path has to know of it.
create or replace function follow_action() returns trigger language plpgsql as $$
declare
  v_policy jsonb;
begin
  if not new.active then
    if new.tally in (0, 3) then
      delete from action_watches w where w.tenant_id = new.tenant_id and w.action_id = new.id;
    end if;
    if new.tally = 3 then
      update actions set tally = 0 where tenant_id = new.tenant_id and id = new.id;
    end if;
  elsif new.status = 3 and old.status = 11 then
    perform begin_watches(new.tenant_id, array[new.id]);
  elsif new.status in (5, 11) then
    update action_watches w set due_at = null where w.tenant_id = new.tenant_id and w.action_id = new.id;
  elsif new.status = 6 then
    v_policy := (select p.body from action_policies p where p.tenant_id = new.tenant_id and p.id = new.policy_id);
    update action_watches w
       set silent = false, stage = greatest(w.stage, 2), since = case when w.stage < 2 or w.silent then now() else w.since end
     where w.tenant_id = new.tenant_id and w.action_id = new.id and w.stage <= 3;
    update action_watches w set due_at = watch_due(w, v_policy) where w.tenant_id = new.tenant_id and w.action_id = new.id and w.stage <= 3;
  end if;
  return null;
end
$$;

create or replace trigger follow_action after update of status, tally on actions for each row
  when (new.policy_id is not null and old.status <> 8 and (old.status <> new.status or old.tally = 3))
  execute function follow_action();

-- Returns the bucket of an action in its group's progress, with its tally (contract beyond.md §1.3).
create or replace function action_bucket(p_status smallint, p_force_type smallint, p_tally smallint) returns smallint
language sql immutable parallel safe as $$
  select case p_tally when 1 then 5 when 2 then 4 when 3 then 6 when 4 then 7 else action_bucket(p_status, p_force_type) end::smallint
$$;

-- Whoever changes the status of an action counts it from one status to the other. Where it counts otherwise before or after, this adds what is
-- missing, in the same transaction: the sum is exact, and no path has to know of tallies.
create or replace function count_tally() returns trigger language plpgsql as $$
declare
  v_was smallint := action_bucket(old.status, old.force_type);
  v_counted_as smallint := action_bucket(old.status, old.force_type, old.tally);
  v_is smallint := action_bucket(new.status, new.force_type);
  v_counts_as smallint := action_bucket(new.status, new.force_type, new.tally);
begin
  if v_counted_as <> v_was then
    insert into group_deltas (tenant_id, rollout_id, group_id, from_bucket, to_bucket, n)
    values (new.tenant_id, new.rollout_id, new.group_id, v_counted_as, v_was, 1);
  end if;
  if v_is <> v_counts_as then
    insert into group_deltas (tenant_id, rollout_id, group_id, from_bucket, to_bucket, n)
    values (new.tenant_id, new.rollout_id, new.group_id, v_is, v_counts_as, 1);
  end if;
  return null;
end
$$;

create or replace trigger count_tally after update of status, tally on actions for each row
  when (new.rollout_id is not null and (old.tally <> 0 or new.tally <> 0) and (old.tally <> new.tally or old.status <> new.status))
  execute function count_tally();
