-- expand
-- Groups of targets (contract management.md §11): one name per target, given by administrators, whose parts are set apart by '/'.

alter table targets add column target_group text check (length(target_group) between 1 and 256);

-- Groups are asked for in any case, alone or with those below them; the exact name behind it is what the list of groups walks along.
create index targets_group on targets (tenant_id, lower(target_group) text_pattern_ops, target_group text_pattern_ops)
  where target_group is not null;

-- As the function of the same name without groups; null is none.
create function create_targets(
  p_tenant int, p_tenant_name text, p_command text, p_first_id int, p_controller_ids text[], p_names text[], p_descriptions text[],
  p_addresses text[], p_digests bytea[], p_ciphers bytea[], p_types bigint[], p_by text, p_traceparent text, p_max bigint, p_groups text[]
) returns jsonb language plpgsql as $$
declare
  v_answer jsonb := command_answer(p_tenant, p_command);
begin
  if v_answer is not null then return v_answer; end if;
  v_answer := create_targets(p_tenant, p_tenant_name, p_command, p_first_id, p_controller_ids, p_names, p_descriptions, p_addresses,
                             p_digests, p_ciphers, p_types, p_by, p_traceparent, p_max);
  if v_answer ->> 'outcome' = 'ok' then
    update targets t set target_group = n.name
      from unnest(p_controller_ids, p_groups) as n (id, name)
     where n.name is not null and t.tenant_id = p_tenant and t.controller_id = n.id;
  end if;
  return v_answer;
end
$$;

-- As the function of the same name without the group. Null leaves it as it is, '' takes it away.
create function update_target(
  p_tenant int, p_controller_id text, p_name text, p_description text, p_address text, p_digest bytea, p_cipher bytea,
  p_request_attributes boolean, p_type bigint, p_scope bigint[], p_by text, p_group text
) returns text language plpgsql as $$
declare
  v_outcome text := update_target(p_tenant, p_controller_id, p_name, p_description, p_address, p_digest, p_cipher, p_request_attributes,
                                  p_type, p_scope, p_by);
begin
  if v_outcome = 'ok' and p_group is not null then
    update targets set target_group = nullif(p_group, '') where tenant_id = p_tenant and controller_id = p_controller_id;
  end if;
  return v_outcome;
end
$$;

-- Puts targets into a group or, with null, into none, all of them at once. They are named by controllerId or by id; those that are unknown,
-- out of the scope or where they shall be already stay as they are. Answers with how many have changed.
create function change_target_group(p_tenant int, p_controller_ids text[], p_ids int[], p_group text, p_scope bigint[], p_by text)
returns int
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_count int;
begin
  with named as (
    select t.id from targets t where t.tenant_id = p_tenant and t.controller_id = any (p_controller_ids)
    union
    select i.id from unnest(p_ids) as i (id)
  ), locked as materialized (
    select t.id from targets t
     where t.tenant_id = p_tenant and t.id in (select n.id from named n)
       and (p_scope is null or t.target_type_id = any (p_scope)) and t.target_group is distinct from p_group
     order by t.id for no key update
  )
  update targets t
     set target_group = p_group, last_modified_by = p_by, last_modified_at = now(), revision = t.revision + 1
    from locked l where t.tenant_id = p_tenant and t.id = l.id;
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
