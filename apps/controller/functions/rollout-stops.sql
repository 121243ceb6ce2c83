-- A call does one chunk of a rollout's end. Its fence is closed; the lock order is that of rollout-chunks.sql.

-- Ends the next actions of a rollout that is being stopped or deleted: those that have not begun are cancelled; of the others the cancellation is
-- requested where that is wanted, or they are closed by force, as those of a deleted rollout are (contract rollouts.md §0#7, §4.1). It is rejected
-- while the fence is open: actions created behind the cursor would stay. Only the last attempt for a target can be open, so a page has one action of each
-- target at most, and its end cuts off none.
create or replace function stop_chunk(
  p_tenant int, p_tenant_name text, p_rollout bigint, p_cursor int, p_limit int, p_cancel boolean, p_force boolean, p_by text,
  p_traceparent text,
  out fenced boolean, out "cursor" int, out done boolean, out removed int, out canceled int
)
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_ids bigint[];
  v_targets int[];
  v_count int;
begin
  perform refresh_statistics();
  fenced := false; "cursor" := p_cursor; done := false; removed := 0; canceled := 0;
  perform from rollout_fences f where f.tenant_id = p_tenant and f.rollout_id = p_rollout and f.open;
  if found then
    fenced := true;
    return;
  end if;
  select array_agg(page.id) filter (where page.active or page.status = 8), array_agg(page.target_id) filter (where page.active or page.status = 8),
         max(page.target_id), count(*)
    into v_ids, v_targets, "cursor", v_count
    from (select a.id, a.target_id, a.active, a.status from actions a
           where a.tenant_id = p_tenant and a.rollout_id = p_rollout and a.target_id > p_cursor and a.retried_by is null
           order by a.target_id limit p_limit) page;
  "cursor" := coalesce("cursor", p_cursor);
  done := v_count < p_limit;
  if v_ids is null then
    return;
  end if;
  perform from target_state s where s.tenant_id = p_tenant and s.target_id = any ((select v_targets)::int[])
    order by s.target_id for no key update;

  -- "(select 8)": as in start_chunk, the partial index of scheduled actions must not be considered here.
  with gone as (
    delete from actions a where a.tenant_id = p_tenant and a.id = any ((select v_ids)::bigint[]) and a.status = (select 8)
    returning a.id, a.controller_id, a.set_id, a.group_id, a.force_type, a.weight, a.initiated_by, a.revision
  ), events as (
    insert into outbox (tenant_id, topic, type, common, items, traceparent)
    select p_tenant, 'action-events', 'io.update.action.deleted.v1',
           action_event_common(p_tenant_name, g.set_id, min(s.name), min(s.version), p_rollout, g.group_id, g.initiated_by),
           json_agg(deleted_action_item(g.id, g.controller_id, g.revision, 8::smallint, g.force_type, g.weight) order by g.id), p_traceparent
      from gone g left join management.distribution_sets_v1 s on s.tenant_id = p_tenant and s.id = g.set_id
     group by g.set_id, g.group_id, g.initiated_by
  ), history as (
    delete from action_history h using gone g where h.tenant_id = p_tenant and h.action_id = g.id
  ), deltas as (
    insert into group_deltas (tenant_id, rollout_id, group_id, from_bucket, to_bucket, n)
    select p_tenant, p_rollout, group_id, 0, null, count(*) from gone group by group_id
  )
  select count(*) into removed from gone;
  if p_cancel or p_force then
    canceled := ask_to_cancel(p_tenant, p_tenant_name, v_ids, p_by,
      'Update Server: cancel action because its rollout was ' || case when p_force then 'deleted' else 'stopped' end, p_traceparent);
  end if;
  if p_force then
    perform quit_by_force(p_tenant, p_tenant_name, v_ids, p_by, p_traceparent);
  end if;
end
$$;
