-- expand
-- Commands on targets. Lock order as everywhere: target_state by target id, ascending, then targets.

-- The stored answer of a command, or null for the first call. Two calls at the same moment: the second waits here, and the next
-- statement's snapshot then sees the answer of the first.
create function command_answer(p_tenant int, p_command text) returns jsonb
language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('command ' || p_tenant || ' ' || p_command, 0));
  return (select c.answer from commands c where c.tenant_id = p_tenant and c.command_id = p_command order by c.at limit 1);
end
$$;

create function keep_answer(p_tenant int, p_command text, p_answer jsonb) returns jsonb
language plpgsql as $$
begin
  insert into commands (tenant_id, command_id, answer) values (p_tenant, p_command, p_answer);
  return p_answer;
end
$$;

-- All or none. The answer holds ids, never tokens: those are read back from their rows.
create function create_targets(
  p_tenant int, p_tenant_name text, p_command text, p_first_id int, p_controller_ids text[], p_names text[], p_descriptions text[],
  p_addresses text[], p_digests bytea[], p_ciphers bytea[], p_types bigint[], p_by text, p_traceparent text
) returns jsonb
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_answer jsonb := command_answer(p_tenant, p_command);
  v_unknown bigint;
begin
  if v_answer is not null then
    return v_answer;
  end if;
  select n.type into v_unknown from unnest(p_types) n (type)
   where n.type is not null and not exists (select from management.target_types_v1 y where y.tenant_id = p_tenant and y.id = n.type)
   limit 1;
  if found then
    return jsonb_build_object('outcome', 'typeNotFound', 'type', v_unknown);
  end if;

  with items as (
    select p_first_id + n - 1 as id, i.*
      from unnest(p_controller_ids, p_names, p_descriptions, p_addresses, p_digests, p_ciphers, p_types)
           with ordinality as i (controller_id, name, description, address, digest, cipher, type, n)
  ), created as (
    insert into targets (tenant_id, id, controller_id, name, description, address, token_digest, token_cipher, target_type_id,
                         created_by, last_modified_by)
    select p_tenant, id, controller_id, name, description, address, digest, cipher, type, p_by, p_by from items
    returning id, controller_id, name, revision
  ), states as (
    insert into target_state (tenant_id, target_id) select p_tenant, id from created
  ), event as (
    insert into outbox (tenant_id, topic, type, common, items, traceparent)
    select p_tenant, 'target-events', 'io.update.target.created.v1', json_build_object('tenant', p_tenant_name),
           json_agg(json_build_object(
             'subject', 'targets/' || controller_id, 'sequence', revision,
             'data', json_build_object('controllerId', controller_id, 'targetId', id, 'name', name,
                                       'updateStatus', 'unknown', 'initiatedBy', p_by)) order by id),
           p_traceparent
      from created having count(*) > 0
  )
  select jsonb_build_object('outcome', 'ok', 'ids', coalesce(jsonb_agg(id order by id), '[]')) into v_answer from created;
  return keep_answer(p_tenant, p_command, v_answer);
end
$$;

-- Null leaves a member as it is; p_type -1 takes the type away. p_scope: the target types that the caller may touch, null for all.
create function update_target(
  p_tenant int, p_controller_id text, p_name text, p_description text, p_address text, p_digest bytea, p_cipher bytea,
  p_request_attributes boolean, p_type bigint, p_scope bigint[], p_by text
) returns text
language plpgsql as $$
declare
  v_target int;
  v_digest bytea;
begin
  select s.target_id into v_target
    from targets t join target_state s on s.tenant_id = t.tenant_id and s.target_id = t.id
   where t.tenant_id = p_tenant and t.controller_id = p_controller_id and (p_scope is null or t.target_type_id = any (p_scope))
     for no key update of s;
  if not found then
    return 'targetNotFound';
  end if;
  if p_type > 0 and not exists (select from management.target_types_v1 y where y.tenant_id = p_tenant and y.id = p_type) then
    return 'typeNotFound';
  end if;
  select t.token_digest into v_digest from targets t where t.tenant_id = p_tenant and t.id = v_target;

  update targets
     set name = coalesce(p_name, name), description = coalesce(p_description, description), address = coalesce(p_address, address),
         token_digest = coalesce(p_digest, token_digest), token_cipher = coalesce(p_cipher, token_cipher),
         target_type_id = case when p_type = -1 then null else coalesce(p_type, target_type_id) end,
         last_modified_by = p_by, last_modified_at = now(), revision = revision + 1
   where tenant_id = p_tenant and id = v_target;
  if p_request_attributes then
    update target_state set request_attributes = true, revision = revision + 1 where tenant_id = p_tenant and target_id = v_target;
  end if;
  if p_digest is distinct from v_digest and p_digest is not null then
    insert into credential_changes (tenant_id, controller_id) values (p_tenant, p_controller_id);
  end if;
  return 'ok';
end
$$;

-- With everything they own: actions, history, state, polls, attributes. Rollout groups count them out.
create function delete_targets(
  p_tenant int, p_tenant_name text, p_controller_ids text[], p_scope bigint[], p_by text, p_traceparent text
) returns int
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_targets int[];
  v_actions bigint[];
  v_count int;
begin
  select array_agg(l.target_id) into v_targets
    from (select s.target_id
            from targets t join target_state s on s.tenant_id = t.tenant_id and s.target_id = t.id
           where t.tenant_id = p_tenant and t.controller_id = any (p_controller_ids)
             and (p_scope is null or t.target_type_id = any (p_scope))
           order by s.target_id for update of s) l;
  if v_targets is null then
    return 0;
  end if;

  with gone as (
    delete from actions a where a.tenant_id = p_tenant and a.target_id = any (v_targets)
    returning a.id, a.rollout_id, a.group_id, a.status, a.force_type
  ), deltas as (
    insert into group_deltas (tenant_id, rollout_id, group_id, from_bucket, to_bucket, n)
    select p_tenant, rollout_id, group_id, action_bucket(status, force_type), null, count(*)
      from gone where rollout_id is not null group by 2, 3, 4
  )
  select array_agg(id) into v_actions from gone;
  delete from action_history h where h.tenant_id = p_tenant and h.action_id = any (v_actions);

  with gone as (
    delete from targets t where t.tenant_id = p_tenant and t.id = any (v_targets) returning t.id, t.controller_id, t.revision
  ), forgotten as (
    insert into credential_changes (tenant_id, controller_id) select p_tenant, controller_id from gone
  ), event as (
    insert into outbox (tenant_id, topic, type, common, items, traceparent)
    select p_tenant, 'target-events', 'io.update.target.deleted.v1', json_build_object('tenant', p_tenant_name),
           json_agg(json_build_object(
             'subject', 'targets/' || controller_id, 'sequence', revision + 1,
             'data', json_build_object('controllerId', controller_id, 'targetId', id, 'initiatedBy', p_by)) order by id),
           p_traceparent
      from gone having count(*) > 0
  )
  select count(*) into v_count from gone;
  return v_count;
end
$$;
