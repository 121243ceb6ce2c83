-- expand
-- Metadata that administrators give targets (spec 001 §2.4); devices see none of it.

create table target_metadata (
  tenant_id int not null,
  target_id int not null,
  key       text not null check (length(key) between 1 and 128),
  value     text check (length(value) <= 4000),
  primary key (tenant_id, target_id, key),
  foreign key (tenant_id, target_id) references targets on delete cascade
);
-- As attributes are searched, by the first characters of the value: the whole may be longer than an index takes.
create index target_metadata_search
  on target_metadata (tenant_id, lower(key), left(lower(value), 200) text_pattern_ops, target_id);
create statistics target_metadata_pairs (mcv) on lower(key), left(lower(value), 200) from target_metadata;

-- All or none; a key that is there already is refused. Additions to one target go one after the other, so that the limit holds.
create function add_target_metadata(
  p_tenant int, p_command text, p_controller_id text, p_keys text[], p_values text[], p_most int, p_scope bigint[], p_by text
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
  if (select count(*) from target_metadata m where m.tenant_id = p_tenant and m.target_id = v_target) + cardinality(p_keys) > p_most then
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

-- Metadata moves the audit of its target (contract management.md §5.11).
create function target_changed(p_tenant int, p_target int, p_by text) returns void
language sql as $$
  update targets set last_modified_by = p_by, last_modified_at = now(), revision = revision + 1 where tenant_id = p_tenant and id = p_target
$$;

-- A value that is not given stays. p_remove: the entry goes instead. The target first, like everybody.
create function change_target_metadata(
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
