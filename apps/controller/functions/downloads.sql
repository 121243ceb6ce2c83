-- Adds DOWNLOAD entries for full downloads, of any tenants, each with the limit of its tenant; entries over that limit are dropped (contract
-- device.md §6.4). Actions that were closed within the last minute get theirs too: entries come after their downloads, and a fast device has reported
-- the end by then. The close stays the last modification of such an action, or every entry would extend the minute. Entries are written before their
-- downloads begin, so batches are small, and planning them anew each time was two thirds of a call. One plan serves all calls, by index alone: a plan
-- that was made while the tables were empty could read all actions later on. Downloads also tell watches that their devices go on (functions/watches.sql).
create or replace function record_downloads(
  p_command text, p_tenants int[], p_actions bigint[], p_paths text[], p_at timestamptz[], p_max_entries int[]
) returns jsonb
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  v_answer jsonb := command_answer(0, p_command);
  v_tenants int[];
  v_watched bigint[];
begin
  if v_answer is not null then
    return v_answer;
  end if;
  perform 1
     from (select distinct a.tenant_id, a.target_id
             from unnest((select p_tenants), (select p_actions)) as i (tenant_id, id)
             join actions a on a.tenant_id = i.tenant_id and a.id = i.id) t
     join target_state s on s.tenant_id = t.tenant_id and s.target_id = t.target_id
    order by s.tenant_id, s.target_id for no key update of s;

  with recorded as materialized (
    select a.tenant_id, a.id, a.controller_id, a.set_id, a.status, a.force_type, a.weight, a.rollout_id, a.group_id, a.initiated_by,
           a.policy_id, a.tally, a.attempt, i.path, i.at, i.max, a.active, a.revision as was,
           a.revision + row_number() over (partition by a.tenant_id, a.id order by i.n) as revision
      from unnest((select p_tenants), (select p_actions), (select p_paths), (select p_at), (select p_max_entries)) with ordinality
             as i (tenant_id, id, path, at, max, n)
      join actions a on a.tenant_id = i.tenant_id and a.id = i.id
     where a.active or (a.status <> 8 and a.last_modified_at > now() - interval '1 minute')
  ), kept as materialized (
    -- What ends a silence may exceed the quota, as reports may (functions/report.sql).
    select * from recorded where max <= 0 or revision <= max * (case when tally = 3 then 2 else 1 end)
  ), changed as (
    update actions a
       set revision = k.revision, tally = case when a.tally = 3 then 0 else a.tally end,
           last_modified_at = case when a.active then now() else a.last_modified_at end
      from (select tenant_id, id, max(revision) as revision from kept group by 1, 2) k
     where a.tenant_id = k.tenant_id and a.id = k.id
  ), history as (
    insert into action_history (tenant_id, action_id, revision, status, messages, occurred_at)
    select tenant_id, id, revision, 7, array['Update Server: Target downloads ' || path], at from kept
  ), event as (
    insert into outbox (tenant_id, topic, type, common, items)
    select k.tenant_id, 'action-events', 'io.update.action.status_reported.v1',
           action_event_common(min(n.name), k.set_id, min(s.name), min(s.version), k.rollout_id, k.group_id, k.initiated_by),
           json_agg(case when k.tally = 3 and k.revision = k.was + 1
             then json_build_array(k.id, k.controller_id, k.revision, k.status, k.status, k.active, k.force_type, k.weight, null,
               array['Update Server: Target downloads ' || k.path], (extract(epoch from k.at) * 1000)::bigint, 7,
               json_build_object('silent', false, 'attempt', k.attempt))
             else json_build_array(k.id, k.controller_id, k.revision, k.status, k.status, k.active, k.force_type, k.weight, null,
               array['Update Server: Target downloads ' || k.path], (extract(epoch from k.at) * 1000)::bigint, 7) end order by k.id, k.revision)
      from kept k
      join management.tenants_v1 n on n.tenant_id = k.tenant_id
      left join management.distribution_sets_v1 s on s.tenant_id = k.tenant_id and s.id = k.set_id
     group by k.tenant_id, k.set_id, k.rollout_id, k.group_id, k.initiated_by
  )
  select jsonb_build_object('noted', count(*)),
         array_agg(k.tenant_id order by k.tenant_id, k.id) filter (where k.policy_id is not null and k.active),
         array_agg(k.id order by k.tenant_id, k.id) filter (where k.policy_id is not null and k.active)
    into v_answer, v_tenants, v_watched
    from kept k;
  if v_watched is not null then perform watch_downloads(v_tenants, v_watched); end if;
  return keep_answer(0, p_command, v_answer);
end
$$;
