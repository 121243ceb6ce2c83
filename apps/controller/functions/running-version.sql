-- Records which set a device reports as running (contract device.md §5.4). `p_action` is the id of the action that records it; null only asks whether
-- one is needed.
create or replace function report_running_version(
  p_tenant int, p_tenant_name text, p_controller_id text, p_name text, p_version text, p_action bigint, p_max_actions int, p_by text,
  p_traceparent text
) returns text
language plpgsql as $$
declare
  t target_state;
  d record;
  v_messages text[] := array['Assignment initiated by user ''' || p_controller_id || '''',
                             'Update Server: Action reported as offline deployment'];
begin
  select s.* into t from targets g join target_state s on s.tenant_id = g.tenant_id and s.target_id = g.id
   where g.tenant_id = p_tenant and g.controller_id = p_controller_id for no key update of s;
  if not found then
    return 'targetNotFound';
  end if;
  select * into d from management.distribution_sets_v1 v
   where v.tenant_id = p_tenant and v.name = p_name and v.version = p_version and not v.deleted;
  if not found then
    return 'setNotFound';
  end if;
  if exists (select from action_watches w where w.tenant_id = p_tenant and w.target_id = t.target_id) then
    perform watch_version(p_tenant, p_tenant_name, t.target_id, d.id, d.name, d.version, p_traceparent);
    select * into t from target_state s where s.tenant_id = p_tenant and s.target_id = t.target_id;
  end if;
  if not d.valid then
    return 'setInvalid';
  elsif not d.complete then
    return 'setIncomplete';
  elsif t.update_status = 2 or t.assigned_set_id = d.id then
    return 'unchanged';
  elsif p_max_actions > 0 and
        (select count(*) from (select from actions a where a.tenant_id = p_tenant and a.target_id = t.target_id limit p_max_actions) c)
        >= p_max_actions then
    return 'tooManyActions';
  elsif p_action is null then
    return 'idNeeded';
  end if;

  insert into actions (tenant_id, id, target_id, controller_id, set_id, status, active, force_type, migration_step, initiated_by,
                       created_by, last_modified_by)
  values (p_tenant, p_action, t.target_id, p_controller_id, d.id, 0, false, 1, d.migration_step, p_controller_id, p_by, p_by);
  insert into action_history (tenant_id, action_id, revision, status, messages, occurred_at)
  values (p_tenant, p_action, 1, 0, v_messages, now());
  -- Ids come in blocks, so this one need not be the newest of the set's.
  update target_state
     set assigned_set_id = d.id, installed_set_id = d.id, installed_at = now(), update_status = 3, revision = revision + 1,
         installed_action_id = (select max(o.id) from actions o where o.tenant_id = p_tenant and o.target_id = t.target_id
                                   and o.set_id = d.id and o.status = 0)
   where tenant_id = p_tenant and target_id = t.target_id;
  insert into outbox (tenant_id, topic, type, common, items, traceparent)
  select p_tenant, 'action-events', 'io.update.action.created.v1',
         action_event_common(p_tenant_name, d.id, d.name, d.version, null, null, p_controller_id),
         json_build_array(json_build_array(a.id, a.controller_id, 1, null, a.status, a.active, a.force_type, a.weight, null, v_messages,
                                           (extract(epoch from now()) * 1000)::bigint, a.status)),
         p_traceparent
    from actions a where a.tenant_id = p_tenant and a.id = p_action;
  return 'created';
end
$$;
