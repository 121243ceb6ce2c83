-- These functions create, change and delete targets, and count those of a tenant.

-- Counts in the slot of the connection. The slot is always the last row that a command locks.
create or replace function count_targets() returns trigger language plpgsql as $$
begin
  insert into controller.target_counts as c (tenant_id, slot, n) -- for every writer, whatever the search path
  select x.tenant_id, pg_backend_pid() % 16, case when tg_op = 'INSERT' then count(*) else -count(*) end
    from changed x group by x.tenant_id order by x.tenant_id
  on conflict (tenant_id, slot) do update set n = c.n + excluded.n;
  return null;
end
$$;

-- Only where they are missing: replacing a trigger waits for everybody who writes targets, and keeps others waiting behind it.
do $$
begin
  if not exists (select from pg_trigger where tgrelid = 'targets'::regclass and tgname = 'targets_counted_in') then
    create trigger targets_counted_in after insert on targets
      referencing new table as changed for each statement execute function count_targets();
  end if;
  if not exists (select from pg_trigger where tgrelid = 'targets'::regclass and tgname = 'targets_counted_out') then
    create trigger targets_counted_out after delete on targets
      referencing old table as changed for each statement execute function count_targets();
  end if;
end
$$;

-- Returns whether the tenant may have p_n more targets. True holds until the transaction ends, and the limit is exact: far from it single targets are
-- added side by side, under a shared lock and only as long as one for every possible connection would still fit; everything else is added alone, and
-- counts anew once it has waited for the others. p_max of 0 or less means no limit and no lock.
create or replace function targets_may_grow(p_tenant int, p_n bigint, p_max bigint) returns boolean language plpgsql as $$
declare
  v_lock bigint := hashtextextended('targets ' || p_tenant, 0);
  v_connections constant bigint := 10000;
  v_count bigint;
begin
  if p_max <= 0 then return true; end if;
  select coalesce(sum(c.n), 0) into v_count from target_counts c where c.tenant_id = p_tenant;
  -- A full tenant is full: uncommitted changes can only add to it, or make room for the next time.
  if v_count + p_n > p_max then return false; end if;
  if p_n = 1 and v_count + v_connections < p_max then
    begin
      perform pg_advisory_xact_lock_shared(v_lock);
      select coalesce(sum(c.n), 0) into v_count from target_counts c where c.tenant_id = p_tenant;
      if v_count + v_connections < p_max then return true; end if;
      raise exception using errcode = 'HQ001', message = 'near the limit by now'; -- releases the lock: two that hold it would wait for each other
    exception when sqlstate 'HQ001' then null;
    end;
  end if;
  perform pg_advisory_xact_lock(v_lock);
  select coalesce(sum(c.n), 0) into v_count from target_counts c where c.tenant_id = p_tenant;
  return v_count + p_n <= p_max;
end
$$;

-- Creates targets, all or none. The answer holds ids, never tokens: those are read back from their rows. p_max is how many the tenant may have; 0 or
-- less means no limit. A repeated command gets its first answer even if the tenant is full by now. In p_groups null means no group.
create or replace function create_targets(
  p_tenant int, p_tenant_name text, p_command text, p_first_id int, p_controller_ids text[], p_names text[], p_descriptions text[],
  p_addresses text[], p_digests bytea[], p_ciphers bytea[], p_types bigint[], p_by text, p_traceparent text, p_max bigint, p_groups text[]
) returns jsonb
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_answer jsonb := command_answer(p_tenant, p_command);
  v_unknown bigint;
begin
  if v_answer is not null then
    return v_answer;
  end if;
  if not targets_may_grow(p_tenant, cardinality(p_controller_ids), p_max) then
    return jsonb_build_object('outcome', 'quota');
  end if;
  perform refresh_statistics();
  select n.type into v_unknown from unnest(p_types) n (type)
   where n.type is not null and not exists (select from management.target_types_v1 y where y.tenant_id = p_tenant and y.id = n.type)
   limit 1;
  if found then
    return jsonb_build_object('outcome', 'typeNotFound', 'type', v_unknown);
  end if;

  with items as (
    select p_first_id + n - 1 as id, i.*
      from unnest(p_controller_ids, p_names, p_descriptions, p_addresses, p_digests, p_ciphers, p_types, p_groups)
           with ordinality as i (controller_id, name, description, address, digest, cipher, type, target_group, n)
  ), created as (
    insert into targets (tenant_id, id, controller_id, name, description, address, token_digest, token_cipher, target_type_id,
                         target_group, created_by, last_modified_by)
    select p_tenant, id, controller_id, name, description, address, digest, cipher, type, target_group, p_by, p_by from items
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

-- Changes a target. Null leaves a member as it is; p_type -1 removes the type, and p_group '' the group. p_scope lists the target types that the
-- caller may touch; null means all.
create or replace function update_target(
  p_tenant int, p_controller_id text, p_name text, p_description text, p_address text, p_digest bytea, p_cipher bytea,
  p_request_attributes boolean, p_type bigint, p_scope bigint[], p_by text, p_group text
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
         target_group = nullif(coalesce(p_group, target_group), ''),
         last_modified_by = p_by, last_modified_at = now(), revision = revision + 1
   where tenant_id = p_tenant and id = v_target;
  if p_request_attributes then
    update target_state set request_attributes = true, revision = revision + 1 where tenant_id = p_tenant and target_id = v_target;
    perform notify_thing(p_tenant, p_controller_id, 'attributes');
  end if;
  if p_digest is distinct from v_digest and p_digest is not null then
    insert into credential_changes (tenant_id, controller_id) values (p_tenant, p_controller_id);
  end if;
  perform record_target_changes(p_tenant, array[v_target], array_remove(array[
    case when p_name is not null then 'name' end, case when p_description is not null then 'description' end,
    case when p_address is not null then 'address' end, case when p_digest is not null then 'securityToken' end,
    case when p_request_attributes is not null then 'requestAttributes' end, case when p_type is not null then 'targetType' end,
    case when p_group is not null then 'group' end], null), p_by);
  return 'ok';
end
$$;

-- Does the work of both deletions, for targets whose state rows the caller has locked.
create or replace function delete_locked_targets(p_tenant int, p_tenant_name text, p_targets int[], p_by text, p_traceparent text) returns int
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_actions bigint[];
  v_count int;
begin
  -- "(select …)" around arrays lets the planner expect a handful of elements and go by key, however large the table is.
  with gone as (
    delete from actions a where a.tenant_id = p_tenant and a.target_id = any ((select p_targets)::int[])
    returning a.id, a.rollout_id, a.group_id, a.status, a.force_type, a.tally, a.retried_by
  ), deltas as (
    insert into group_deltas (tenant_id, rollout_id, group_id, from_bucket, to_bucket, n)
    select p_tenant, rollout_id, group_id, action_bucket(status, force_type, tally), null, count(*)
      from gone where rollout_id is not null and retried_by is null group by 2, 3, 4
  ), watches as (
    delete from action_watches w where w.tenant_id = p_tenant and w.target_id = any ((select p_targets)::int[])
  )
  select array_agg(id) into v_actions from gone;
  delete from action_history h where h.tenant_id = p_tenant and h.action_id = any ((select v_actions)::bigint[]);

  with gone as (
    delete from targets t where t.tenant_id = p_tenant and t.id = any ((select p_targets)::int[]) returning t.id, t.controller_id, t.revision, t.address
  ), things as (
    -- Things are told by message, at the address that is gone with the row.
    insert into outbox (tenant_id, topic, type, common, items)
    select p_tenant, 'target-events', 'feed.things-deleted',
           json_build_object('tenant', p_tenant_name, 'things', json_agg(json_build_array(controller_id, address) order by id)), '[]'
      from gone where address like 'amqp://%' having count(*) > 0
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

-- Deletes targets with everything they own: actions, history, state, polls, attributes. Rollout groups subtract them.
create or replace function delete_targets(
  p_tenant int, p_tenant_name text, p_controller_ids text[], p_scope bigint[], p_by text, p_traceparent text
) returns int
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_targets int[];
begin
  perform refresh_statistics();
  select array_agg(l.target_id) into v_targets
    from (select s.target_id
            from targets t join target_state s on s.tenant_id = t.tenant_id and s.target_id = t.id
           where t.tenant_id = p_tenant and t.controller_id = any ((select p_controller_ids)::text[])
             and (p_scope is null or t.target_type_id = any (p_scope))
           order by s.target_id for update of s) l;
  if v_targets is null then
    return 0;
  end if;
  return delete_locked_targets(p_tenant, p_tenant_name, v_targets, p_by, p_traceparent);
end
$$;

-- Does the same as delete_targets, by internal ids: for a list that was made before, in which a controllerId may be another target's by now. An id is
-- never assigned twice.
create or replace function delete_targets_by_id(p_tenant int, p_tenant_name text, p_ids int[], p_scope bigint[], p_by text, p_traceparent text) returns int
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_targets int[];
begin
  perform refresh_statistics();
  select array_agg(l.target_id) into v_targets
    from (select s.target_id
            from targets t join target_state s on s.tenant_id = t.tenant_id and s.target_id = t.id
           where t.tenant_id = p_tenant and t.id = any ((select p_ids)::int[])
             and (p_scope is null or t.target_type_id = any (p_scope))
           order by s.target_id for update of s) l;
  if v_targets is null then
    return 0;
  end if;
  return delete_locked_targets(p_tenant, p_tenant_name, v_targets, p_by, p_traceparent);
end
$$;
