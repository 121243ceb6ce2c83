-- A change of metadata changes the audit members of its target (contract management.md §5.11).
create or replace function target_changed(p_tenant int, p_target int, p_by text) returns void
language plpgsql as $$
begin
  update targets set last_modified_by = p_by, last_modified_at = now(), revision = revision + 1 where tenant_id = p_tenant and id = p_target;
  perform record_target_changes(p_tenant, array[p_target], '{metadata}', p_by);
end
$$;

-- Adds all entries or none; an existing key is rejected. Additions to one target go one after the other, so that the limit holds.
create or replace function add_target_metadata(
  p_tenant int, p_command text, p_controller_id text, p_keys text[], p_values text[], p_max int, p_scope bigint[], p_by text
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
  if exists (select from target_metadata m where m.tenant_id = p_tenant and m.target_id = v_target and m.key = any (p_keys))
     or (select count(distinct k) from unnest(p_keys) k) < cardinality(p_keys) then
    return 'taken';
  end if;
  if (select count(*) from target_metadata m where m.tenant_id = p_tenant and m.target_id = v_target) + cardinality(p_keys) > p_max then
    return 'tooMany';
  end if;
  if cardinality(p_keys) > 0 then
    insert into target_metadata (tenant_id, target_id, key, value)
    select p_tenant, v_target, n.key, n.value from unnest(p_keys, p_values) n (key, value);
    perform target_changed(p_tenant, v_target, p_by);
  end if;
  return keep_answer(p_tenant, p_command, '{"outcome": "ok"}') ->> 'outcome';
end
$$;

-- Does the same as add_target_metadata, but existing entries get the given value, null included. p_keys names each key once. Only new entries count
-- for p_max.
create or replace function put_target_metadata(
  p_tenant int, p_command text, p_controller_id text, p_keys text[], p_values text[], p_max bigint, p_scope bigint[], p_by text
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
  if p_max > 0
     and (select count(*) from target_metadata m where m.tenant_id = p_tenant and m.target_id = v_target and m.key <> all (p_keys))
         + cardinality(p_keys) > p_max then
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

-- Changes an entry; a value that is not given stays. With p_remove the entry is removed. The target is locked first, as everywhere.
create or replace function change_target_metadata(
  p_tenant int, p_controller_id text, p_key text, p_value text, p_remove boolean, p_scope bigint[], p_by text
) returns table (outcome text, value text)
language plpgsql as $$
declare
  v_target int;
  v_value text;
begin
  select t.id into v_target from targets t
   where t.tenant_id = p_tenant and t.controller_id = p_controller_id and (p_scope is null or t.target_type_id = any (p_scope))
     for no key update;
  if not found then
    return query select 'targetNotFound', null::text;
    return;
  end if;
  if p_remove then
    delete from target_metadata m where m.tenant_id = p_tenant and m.target_id = v_target and m.key = p_key;
  else
    update target_metadata m set value = coalesce(p_value, m.value)
     where m.tenant_id = p_tenant and m.target_id = v_target and m.key = p_key
    returning m.value into v_value;
  end if;
  if not found then
    return query select 'keyNotFound', null::text;
    return;
  end if;
  perform target_changed(p_tenant, v_target, p_by);
  return query select 'ok', v_value;
end
$$;
