-- Next attempts of actions that have failed (contract beyond.md §3, docs/adr/0050).

-- Says of each of the actions, in their order, why there is no next attempt now: null where there may be one. It is 'later' where the rollout's fence is being
-- moved right now and, if p_waits, where the rollout is paused. The caller holds the locks of the targets' states; afterwards those of the fences, too.
create or replace function attempt_problems(p_tenant int, p_actions bigint[], p_max_actions int, p_waits boolean) returns text[]
language plpgsql as $$
declare
  v_fences bigint[];
begin
  -- Never waited for: a fence comes before targets in the order of locks, and this transaction holds these already.
  select array_agg(h.rollout_id) into v_fences
    from (select f.rollout_id from rollout_fences f
           where f.tenant_id = p_tenant and f.open
             and f.rollout_id = any (array(select distinct a.rollout_id from actions a where a.tenant_id = p_tenant and a.id = any (p_actions)))
             and exists (select from rollout_engine.rollouts_v1 r
                          where r.tenant_id = p_tenant and r.id = f.rollout_id and r.status not in ('stopping', 'stopped', 'deleting', 'deleted')
                            and not (p_waits and r.status = 'paused'))
             for share skip locked) h;
  return array(
    select case
        when t.target_id is null then 'other' -- it is gone
        when p_waits and r.status = 'paused' then 'later'
        when a.rollout_id is not null and (
               r.status is null or r.status in ('stopping', 'stopped', 'deleting', 'deleted')
               or exists (select from rollout_fences f where f.tenant_id = p_tenant and f.rollout_id = a.rollout_id and not f.open)) then 'stopped'
        when a.rollout_id is not null and not a.rollout_id = any (coalesce(v_fences, '{}')) then 'later'
        when d.id is null or d.deleted or not d.valid then 'set'
        when t.assigned_set_id <> a.set_id
             or exists (select from actions o where o.tenant_id = p_tenant and o.target_id = a.target_id and o.active) then 'other'
        when p_max_actions > 0 and p_max_actions <= (
               select count(*) from (select from actions o where o.tenant_id = p_tenant and o.target_id = a.target_id limit p_max_actions) c) then 'quota'
      end
      from unnest(p_actions) with ordinality i (action_id, place)
      left join actions a on a.tenant_id = p_tenant and a.id = i.action_id
      left join target_state t on t.tenant_id = p_tenant and t.target_id = a.target_id
      left join rollout_engine.rollouts_v1 r on r.tenant_id = p_tenant and r.id = a.rollout_id
      left join management.distribution_sets_v1 d on d.tenant_id = p_tenant and d.id = a.set_id
     order by i.place);
end
$$;

-- Starts the next attempts of actions of different targets that have failed: new actions, with new ids (docs/adr/0050). Returns of each, in their order, why
-- there is none, as attempt_problems does. The caller holds the locks of the targets' states.
create or replace function start_attempts(
  p_tenant int, p_tenant_name text, p_actions bigint[], p_ids bigint[], p_max_actions int, p_waits boolean, p_by text, p_traceparent text
) returns text[]
language plpgsql as $$
declare
  v_problems text[] := attempt_problems(p_tenant, p_actions, p_max_actions, p_waits);
begin
  -- They count no more, and the new ones in their place; so both are never in the index of attempts.
  update actions x set retried_by = i.id, tally = 0
    from unnest(p_actions, p_ids, v_problems) i (action_id, id, problem)
   where i.problem is null and x.tenant_id = p_tenant and x.id = i.action_id;
  with begun as materialized (
    select a as failed, i.id, a.id as failed_id, a.target_id, a.rollout_id, a.group_id, a.set_id, a.attempt + 1 as attempt,
           coalesce(a.retry_of, a.id) as retry_of, coalesce(p_by, a.created_by) as by,
           array['Update Server: Attempt ' || a.attempt + 1 || case when m.attempts is null then '' else ' of ' || greatest(m.attempts, a.attempt) + 1 end
                 || '.'] as messages
      from unnest(p_actions, p_ids, v_problems) i (action_id, id, problem)
      join actions a on a.tenant_id = p_tenant and a.id = i.action_id
      left join action_policies p on p.tenant_id = p_tenant and p.id = a.policy_id
     cross join lateral (select (p.body #>> '{retry,max}')::int as attempts) m
     where i.problem is null
  ), created as (
    insert into actions (tenant_id, id, target_id, controller_id, set_id, status, active, force_type, force_time, weight, migration_step,
                         maintenance_schedule, maintenance_duration, maintenance_timezone, maintenance_ends_at, multi_assignment,
                         rollout_id, group_id, policy_id, attempt, retry_of, initiated_by, created_by, last_modified_by)
    select p_tenant, b.id, b.target_id, (b.failed).controller_id, b.set_id, 3, true, (b.failed).force_type, (b.failed).force_time, (b.failed).weight,
           (b.failed).migration_step, (b.failed).maintenance_schedule, (b.failed).maintenance_duration, (b.failed).maintenance_timezone,
           (b.failed).maintenance_ends_at, (b.failed).multi_assignment, b.rollout_id, b.group_id, (b.failed).policy_id, b.attempt, b.retry_of,
           (b.failed).initiated_by, b.by, b.by
      from begun b
  ), gone as (
    delete from action_watches w using begun b where w.tenant_id = p_tenant and w.action_id = b.failed_id
  ), deltas as (
    insert into group_deltas (tenant_id, rollout_id, group_id, from_bucket, to_bucket, n)
    select p_tenant, b.rollout_id, b.group_id, 3, 1, count(*) from begun b where b.rollout_id is not null group by b.rollout_id, b.group_id
  ), targets as (
    update target_state s set assigned_set_id = b.set_id, update_status = 2, revision = s.revision + 1
      from begun b where s.tenant_id = p_tenant and s.target_id = b.target_id
  ), history as (
    insert into action_history (tenant_id, action_id, revision, status, messages, occurred_at)
    select p_tenant, b.id, 1, 3, b.messages, now() from begun b
  )
  insert into outbox (tenant_id, topic, type, common, items, traceparent)
  select p_tenant, 'action-events', 'io.update.action.created.v1',
         action_event_common(p_tenant_name, b.set_id, min(d.name), min(d.version), b.rollout_id, b.group_id, (b.failed).initiated_by),
         json_agg(json_build_array(b.id, (b.failed).controller_id, 1, null, 3, true, (b.failed).force_type, (b.failed).weight, null, b.messages,
                                   (extract(epoch from now()) * 1000)::bigint, 3, json_build_object('attempt', b.attempt, 'retryOf', b.retry_of))
                  order by b.id),
         p_traceparent
    from begun b
    left join management.distribution_sets_v1 d on d.tenant_id = p_tenant and d.id = b.set_id
   group by b.set_id, b.rollout_id, b.group_id, (b.failed).initiated_by;
  perform begin_watches(p_tenant, p_ids);
  return v_problems;
end
$$;

-- Lets retries wait on, ever more seldom looked at, because a paused rollout may have a hundred thousand of them, and rounds are for all tenants.
create or replace function put_off_retries(p_tenant int, p_actions bigint[]) returns void language sql as $$
  update action_watches x set due_at = now() + least(interval '2 minutes', greatest(interval '10 seconds', (now() - x.since) / 4))
    from unnest(p_actions) i (action_id) where x.tenant_id = p_tenant and x.action_id = i.action_id
$$;

-- Carries out retries that are due of different targets, or ends the wait for them. In a paused rollout they wait on.
create or replace function settle_retries(p_tenant int, p_tenant_name text, p_actions bigint[], p_ids bigint[], p_max_actions int) returns void
language plpgsql as $$
declare
  v_problems text[] := start_attempts(p_tenant, p_tenant_name, p_actions, p_ids, p_max_actions, true, null, null);
begin
  perform put_off_retries(p_tenant, array_agg(i.action_id)) from unnest(p_actions, v_problems) i (action_id, problem) where i.problem = 'later';
  with ended as materialized (
    select a, a.id, a.set_id, a.rollout_id, a.group_id, a.initiated_by, i.problem,
           array['Update Server: No further attempt: ' || case i.problem when 'stopped' then 'the rollout is stopped.'
             when 'set' then 'the distribution set is no longer valid.' when 'quota' then 'the target has as many actions as it may have.'
             else 'the target has another assignment.' end] as messages
      from unnest(p_actions, v_problems) i (action_id, problem)
      join actions a on a.tenant_id = p_tenant and a.id = i.action_id
     where i.problem <> 'later'
  ), gone as (
    delete from action_watches w using ended e where w.tenant_id = p_tenant and w.action_id = e.id
  ), acts as (
    update actions x set tally = 0, outcome = case e.problem when 'quota' then 60 else x.outcome end, revision = x.revision + 1, last_modified_at = now()
      from ended e where x.tenant_id = p_tenant and x.id = e.id
  ), history as (
    insert into action_history (tenant_id, action_id, revision, status, messages, occurred_at)
    select p_tenant, e.id, (e.a).revision + 1, (e.a).status, e.messages, now() from ended e
  )
  insert into outbox (tenant_id, topic, type, common, items)
  select p_tenant, 'action-events', 'io.update.action.retry_changed.v1',
         action_event_common(p_tenant_name, e.set_id, min(d.name), min(d.version), e.rollout_id, e.group_id, e.initiated_by),
         json_agg(json_build_array(e.id, (e.a).controller_id, (e.a).revision + 1, (e.a).status, (e.a).status, false, (e.a).force_type, (e.a).weight, null,
                                   e.messages, (extract(epoch from now()) * 1000)::bigint, (e.a).status,
                                   json_strip_nulls(json_build_object('attempt', (e.a).attempt, 'reason', e.problem)))
                  order by e.id)
    from ended e
    left join management.distribution_sets_v1 d on d.tenant_id = p_tenant and d.id = e.set_id
   group by e.set_id, e.rollout_id, e.group_id, e.initiated_by;
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
  v_outcome := (start_attempts(p_tenant, p_tenant_name, array[p_action], array[p_id], p_max_actions, false, p_by, p_traceparent))[1];
  -- nobody moves a rollout's fence but who starts or stops it, and an attempt comes long after its start
  return case when v_outcome is null then 'ok' when v_outcome = 'quota' then 'tooManyActions' when v_outcome = 'later' then 'stopped' else v_outcome end;
end
$$;
