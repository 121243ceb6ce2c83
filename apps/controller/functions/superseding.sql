-- A new assignment supersedes open actions (contract device.md §7.4): this requests their cancellation from the device, or with autoclose closes them
-- at once. Actions of migration steps stay. The caller holds the locks of these targets' state. `p_rollout`'s own actions are spared. With
-- multi-assignment nothing is superseded.
create or replace function supersede_open_actions(
  p_tenant int, p_tenant_name text, p_targets int[], p_rollout bigint, p_autoclose boolean, p_by text, p_traceparent text
) returns void
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_ids bigint[];
  v_previous smallint[];
begin
  if several_assignments(p_tenant) then
    return;
  end if;
  with open as materialized (
    select a.id, a.status
      from unnest((select p_targets)) as t (id)
      cross join lateral (
        select o.id, o.status from actions o
         where o.tenant_id = p_tenant and o.target_id = t.id and o.active and not o.migration_step
           and o.rollout_id is distinct from p_rollout and (p_autoclose or o.status <> 5)
        offset 0) a
  ), changed as (
    update actions a
       set status = case when p_autoclose then 4 else 5 end, active = not p_autoclose, revision = a.revision + 1,
           last_modified_by = p_by, last_modified_at = now()
      from open where a.tenant_id = p_tenant and a.id = open.id
    returning a.id, open.status
  )
  select array_agg(id), array_agg(status) into v_ids, v_previous from changed;
  perform record_action_changes(p_tenant, p_tenant_name, 'io.update.action.status_changed.v1', v_ids, v_previous, null,
    array[case when p_autoclose then 'Update Server: close obsolete action due to new update'
               else 'Update Server: cancel obsolete action due to new update' end], p_traceparent);
end
$$;

-- Cancels the rollout actions of these targets that have not started (contract rollouts.md §4.4): the last one to claim a target wins. With
-- multi-assignment they stay.
create or replace function cancel_scheduled_actions(
  p_tenant int, p_tenant_name text, p_targets int[], p_rollout bigint, p_by text, p_traceparent text
) returns void
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_ids bigint[];
  v_previous smallint[];
begin
  if several_assignments(p_tenant) then
    return;
  end if;
  with waiting as materialized (
    select a.id, a.status
      from unnest((select p_targets)) as t (id)
      cross join lateral (
        select o.id, o.status from actions o
         where o.tenant_id = p_tenant and o.target_id = t.id and o.scheduled and not o.migration_step
           and o.rollout_id is distinct from p_rollout
        offset 0) a
  ), changed as (
    update actions a
       set status = 4, active = false, revision = a.revision + 1, last_modified_by = p_by, last_modified_at = now()
      from waiting where a.tenant_id = p_tenant and a.id = waiting.id
    returning a.id, waiting.status
  )
  select array_agg(id), array_agg(status) into v_ids, v_previous from changed;
  perform record_action_changes(p_tenant, p_tenant_name, 'io.update.action.status_changed.v1', v_ids, v_previous, null,
    array['Update Server: cancel obsolete action due to new update'], p_traceparent);
end
$$;
