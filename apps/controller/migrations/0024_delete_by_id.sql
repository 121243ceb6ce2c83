-- expand
-- Targets that are deleted by their internal ids: of a list that was made before, where a controllerId may be another target's by now.

-- The work of both deletions, for targets whose state rows the caller has locked.
create function delete_locked_targets(p_tenant int, p_tenant_name text, p_targets int[], p_by text, p_traceparent text) returns int
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_actions bigint[];
  v_count int;
begin
  -- "(select …)" around arrays: the planner then expects a handful of elements and goes by key, however large the table is
  with gone as (
    delete from actions a where a.tenant_id = p_tenant and a.target_id = any ((select p_targets)::int[])
    returning a.id, a.rollout_id, a.group_id, a.status, a.force_type
  ), deltas as (
    insert into group_deltas (tenant_id, rollout_id, group_id, from_bucket, to_bucket, n)
    select p_tenant, rollout_id, group_id, action_bucket(status, force_type), null, count(*)
      from gone where rollout_id is not null group by 2, 3, 4
  )
  select array_agg(id) into v_actions from gone;
  delete from action_history h where h.tenant_id = p_tenant and h.action_id = any ((select v_actions)::bigint[]);

  with gone as (
    delete from targets t where t.tenant_id = p_tenant and t.id = any ((select p_targets)::int[]) returning t.id, t.controller_id, t.revision
  ), forgotten as (
    insert into credential_changes (tenant_id, controller_id) select p_tenant, controller_id from gone
  ), event as (
    insert into outbox (tenant_id, topic, type, common, items, traceparent)
    select p_tenant, 'target-events', 'io.update.target.deleted.v1', json_build_object('tenant', p_tenant_name),
           json_agg(json_build_object(
             'subject', 'targets/' || controller_id, 'sequence', revision + 1,
             'data', json_build_object('controllerId', controller_id, 'targetId', id, 'initiatedBy', p_by)) order by id),
           p_traceparent
      from gone having count(*) > 0
  )
  select count(*) into v_count from gone;
  return v_count;
end
$$;

create or replace function delete_targets(
  p_tenant int, p_tenant_name text, p_controller_ids text[], p_scope bigint[], p_by text, p_traceparent text
) returns int
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_targets int[];
begin
  perform refresh_statistics();
  select array_agg(l.target_id) into v_targets
    from (select s.target_id
            from targets t join target_state s on s.tenant_id = t.tenant_id and s.target_id = t.id
           where t.tenant_id = p_tenant and t.controller_id = any ((select p_controller_ids)::text[])
             and (p_scope is null or t.target_type_id = any (p_scope))
           order by s.target_id for update of s) l;
  if v_targets is null then
    return 0;
  end if;
  return delete_locked_targets(p_tenant, p_tenant_name, v_targets, p_by, p_traceparent);
end
$$;

-- As above; an id is never given twice.
create function delete_targets_by_id(p_tenant int, p_tenant_name text, p_ids int[], p_scope bigint[], p_by text, p_traceparent text) returns int
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_targets int[];
begin
  perform refresh_statistics();
  select array_agg(l.target_id) into v_targets
    from (select s.target_id
            from targets t join target_state s on s.tenant_id = t.tenant_id and s.target_id = t.id
           where t.tenant_id = p_tenant and t.id = any ((select p_ids)::int[])
             and (p_scope is null or t.target_type_id = any (p_scope))
           order by s.target_id for update of s) l;
  if v_targets is null then
    return 0;
  end if;
  return delete_locked_targets(p_tenant, p_tenant_name, v_targets, p_by, p_traceparent);
end
$$;
