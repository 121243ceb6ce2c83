-- Things are devices that speak DMF (contract rollouts.md §8): their address is amqp://<virtual host>/<exchange>.

-- Has something sent to a thing by message: `what` is 'action' (what it shall do, again) or 'attributes' (that it shall send its attributes). Other
-- devices ask by themselves, so that there is no row for them.
create or replace function notify_thing(p_tenant int, p_controller_id text, p_what text) returns void language sql as $$
  insert into outbox (tenant_id, topic, type, common, items)
  select p_tenant, 'target-events', 'feed.thing', json_build_object('controllerId', p_controller_id, 'what', p_what), '[]'
    from targets t where t.tenant_id = p_tenant and t.controller_id = p_controller_id and t.address like 'amqp://%'
$$;

-- Has the same sent to all those of these targets that are things, in one row.
create or replace function notify_things(p_tenant int, p_targets int[], p_what text) returns void
language sql set plan_cache_mode = force_custom_plan as $$
  insert into outbox (tenant_id, topic, type, common, items)
  select p_tenant, 'target-events', 'feed.things', json_build_object('things', json_agg(t.controller_id order by t.id), 'what', p_what), '[]'
    from targets t where t.tenant_id = p_tenant and t.id = any ((select p_targets)::int[]) and t.address like 'amqp://%'
  having count(*) > 0
$$;

-- Brings a registered thing up to date, and has what it shall do sent to it. p_type null leaves the type, '' removes it; an unknown one changes nothing. A
-- new name or type tells an event; the row that has the thing told notifies target filters in any case.
create or replace function update_thing(p_tenant int, p_controller_id text, p_address text, p_name text, p_type text) returns text
language plpgsql as $$
declare
  v_target int;
  v_old targets;
  v_new targets;
begin
  select s.target_id into v_target
    from targets t join target_state s on s.tenant_id = t.tenant_id and s.target_id = t.id
   where t.tenant_id = p_tenant and t.controller_id = p_controller_id for no key update of s;
  if not found then return 'targetNotFound'; end if;
  update target_state set update_status = 1, revision = revision + 1
   where tenant_id = p_tenant and target_id = v_target and update_status = 0;
  select t.* into v_old from targets t where t.tenant_id = p_tenant and t.id = v_target for no key update;
  update targets t
     set address = p_address, name = coalesce(p_name, t.name),
         target_type_id = case when p_type = '' then null
                               else coalesce((select y.id from management.target_types_v1 y
                                               where y.tenant_id = p_tenant and lower(y.name) = lower(p_type)), t.target_type_id) end,
         revision = t.revision + 1
   where t.tenant_id = p_tenant and t.id = v_target
  returning t.* into v_new;
  if (v_new.name, v_new.target_type_id) is distinct from (v_old.name, v_old.target_type_id) then
    perform record_target_changes(p_tenant, array[v_target], array_remove(array[
      case when v_new.name is distinct from v_old.name then 'name' end,
      case when v_new.target_type_id is distinct from v_old.target_type_id then 'targetType' end], null), 'CONTROLLER_PLUG_AND_PLAY');
  end if;
  perform record_poll(p_tenant, v_target);
  perform notify_thing(p_tenant, p_controller_id, 'action');
  return 'ok';
end
$$;
