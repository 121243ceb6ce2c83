-- Things are devices that speak DMF (contract rollouts.md §8): their address is amqp://<virtual host>/<exchange>.

-- Has something sent to a thing by message: `what` is 'action' (what it shall do, again) or 'attributes' (that it shall send its attributes). Other
-- devices ask by themselves, so that there is no row for them.
create or replace function notify_thing(p_tenant int, p_controller_id text, p_what text) returns void language sql as $$
  insert into outbox (tenant_id, topic, type, common, items)
  select p_tenant, 'target-events', 'feed.thing', json_build_object('controllerId', p_controller_id, 'what', p_what), '[]'
    from targets t where t.tenant_id = p_tenant and t.controller_id = p_controller_id and t.address like 'amqp://%'
$$;

-- Brings a registered thing up to date, and has what it shall do sent to it. p_type null leaves the type, '' removes it; an unknown one changes nothing.
create or replace function update_thing(p_tenant int, p_controller_id text, p_address text, p_name text, p_type text) returns text
language plpgsql as $$
declare
  v_target int;
begin
  select s.target_id into v_target
    from targets t join target_state s on s.tenant_id = t.tenant_id and s.target_id = t.id
   where t.tenant_id = p_tenant and t.controller_id = p_controller_id for no key update of s;
  if not found then return 'targetNotFound'; end if;
  update target_state set update_status = 1, revision = revision + 1
   where tenant_id = p_tenant and target_id = v_target and update_status = 0;
  update targets t
     set address = p_address, name = coalesce(p_name, t.name),
         target_type_id = case when p_type = '' then null
                               else coalesce((select y.id from management.target_types_v1 y
                                               where y.tenant_id = p_tenant and lower(y.name) = lower(p_type)), t.target_type_id) end,
         revision = t.revision + 1
   where t.tenant_id = p_tenant and t.id = v_target;
  perform record_poll(p_tenant, v_target);
  perform notify_thing(p_tenant, p_controller_id, 'action');
  return 'ok';
end
$$;
