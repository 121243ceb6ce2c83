-- Changes of many targets that concern their actions (contract console.md §4, M16), by internal ids. `reached` lists the targets that are there and
-- within the scope, `changed` how many actions were asked to end, or targets switched. Repeating a call changes nothing more.

-- Locks the state of these targets, as far as they are there and within the scope, in the order of ids, and answers which they are.
create or replace function lock_targets(p_tenant int, p_ids int[], p_scope bigint[]) returns int[]
language sql set plan_cache_mode = force_custom_plan as $$
  select coalesce(array_agg(l.target_id), '{}')
    from (select s.target_id
            from targets t join target_state s on s.tenant_id = t.tenant_id and s.target_id = t.id
           where t.tenant_id = p_tenant and t.id = any ((select p_ids)::int[]) and (p_scope is null or t.target_type_id = any (p_scope))
           order by s.target_id for no key update of s) l
$$;

-- Asks the devices to end all open actions that are not being cancelled already.
create or replace function cancel_actions_of_targets(
  p_tenant int, p_tenant_name text, p_ids int[], p_scope bigint[], p_by text, p_traceparent text, out reached int[], out changed int
)
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_ids bigint[];
begin
  perform refresh_statistics();
  reached := lock_targets(p_tenant, p_ids, p_scope);
  select array_agg(a.id) into v_ids from actions a where a.tenant_id = p_tenant and a.target_id = any ((select reached)::int[]) and a.active;
  changed := ask_to_cancel(p_tenant, p_tenant_name, v_ids, p_by, 'Update Server: manual cancelation requested', p_traceparent);
end
$$;

-- Lets the targets confirm their actions by themselves from now on, those that wait for it too; who does so already keeps its remark.
create or replace function activate_auto_confirm_of_targets(
  p_tenant int, p_tenant_name text, p_ids int[], p_scope bigint[], p_by text, p_traceparent text, out reached int[], out changed int
)
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_targets int[];
  v_ids bigint[];
  v_previous smallint[];
begin
  perform refresh_statistics();
  reached := lock_targets(p_tenant, p_ids, p_scope);
  -- their own rows are locked before anything changes, in the same order, so that their changes get their events in their order
  perform from targets t where t.tenant_id = p_tenant and t.id = any ((select reached)::int[]) order by t.id for no key update;
  with switched as (
    insert into auto_confirmations (tenant_id, target_id, created_by)
    select p_tenant, u.id, p_by from unnest(reached) as u (id) on conflict (tenant_id, target_id) do nothing returning target_id)
  select array_agg(target_id) into v_targets from switched;
  update targets t set revision = t.revision + 1 where t.tenant_id = p_tenant and t.id = any ((select v_targets)::int[]);
  perform record_target_changes(p_tenant, v_targets, '{autoConfirm}', p_by);
  with confirmed as (
    update actions a set status = 3, revision = a.revision + 1, last_modified_by = p_by, last_modified_at = now()
     where a.tenant_id = p_tenant and a.target_id = any ((select v_targets)::int[]) and a.active and a.status = 11
    returning a.id, 11::smallint as previous
  )
  select array_agg(id), array_agg(previous) into v_ids, v_previous from confirmed;
  perform record_action_changes(p_tenant, p_tenant_name, 'io.update.action.status_changed.v1', v_ids, v_previous, null,
    array[auto_confirmation_message(null, p_by, null)], p_traceparent);
  changed := coalesce(cardinality(v_targets), 0);
end
$$;
