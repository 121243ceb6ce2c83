-- expand
-- As add_target_metadata, but entries that are there get the given value, null included. p_keys names each key once. Only new entries count for p_most.
create function put_target_metadata(
  p_tenant int, p_command text, p_controller_id text, p_keys text[], p_values text[], p_most bigint, p_scope bigint[], p_by text
) returns text
language plpgsql as $$
declare
  v_answer jsonb := command_answer(p_tenant, p_command);
  v_target int;
begin
  if v_answer is not null then
    return v_answer ->> 'outcome';
  end if;
  select t.id into v_target from targets t
   where t.tenant_id = p_tenant and t.controller_id = p_controller_id and (p_scope is null or t.target_type_id = any (p_scope))
     for no key update;
  if not found then
    return 'targetNotFound';
  end if;
  if p_most > 0
     and (select count(*) from target_metadata m where m.tenant_id = p_tenant and m.target_id = v_target and m.key <> all (p_keys))
         + cardinality(p_keys) > p_most then
    return 'tooMany';
  end if;
  if cardinality(p_keys) > 0 then
    insert into target_metadata (tenant_id, target_id, key, value)
    select p_tenant, v_target, n.key, n.value from unnest(p_keys, p_values) n (key, value)
    on conflict (tenant_id, target_id, key) do update set value = excluded.value;
    perform target_changed(p_tenant, v_target, p_by);
  end if;
  return keep_answer(p_tenant, p_command, '{"outcome": "ok"}') ->> 'outcome';
end
$$;
