-- These functions create targets that come in pieces all together (contract extensions.md, targets as CSV).

-- Stores lines for later. Repeating it changes nothing.
create or replace function stage_targets(
  p_tenant int, p_import text, p_first_id int, p_lines int[], p_controller_ids text[], p_names text[], p_descriptions text[],
  p_addresses text[], p_digests bytea[], p_ciphers bytea[], p_types bigint[]
) returns void
language sql as $$
  insert into target_imports (tenant_id, import_id, line, id, controller_id, name, description, address, token_digest, token_cipher, type_id)
  select p_tenant, p_import, i.line, p_first_id + i.n - 1, i.controller_id, i.name, i.description, i.address, i.digest, i.cipher, i.type
    from unnest(p_lines, p_controller_ids, p_names, p_descriptions, p_addresses, p_digests, p_ciphers, p_types)
         with ordinality as i (line, controller_id, name, description, address, digest, cipher, type, n)
  on conflict do nothing
$$;

-- Returns why lines of an import cannot become targets, for each line where that is so.
create or replace function check_import(p_tenant int, p_import text, p_scope bigint[]) returns void
language plpgsql set plan_cache_mode = force_custom_plan as $$
begin
  update target_imports i
     set problem = case
           when p_scope is not null and (i.type_id = any (p_scope)) is not true then 'insufficientPermission'
           when i.type_id is not null and not exists (select from management.target_types_v1 y where y.tenant_id = p_tenant and y.id = i.type_id)
             then 'entityNotFound'
           else 'entityAlreadyExists'
         end
    from (select s.line, row_number() over (partition by s.controller_id order by s.line) as nth
            from target_imports s where s.tenant_id = p_tenant and s.import_id = p_import) d
   where i.tenant_id = p_tenant and i.import_id = p_import and d.line = i.line
     and (d.nth > 1
       or exists (select from targets t where t.tenant_id = p_tenant and t.controller_id = i.controller_id)
       or i.type_id is not null and not exists (select from management.target_types_v1 y where y.tenant_id = p_tenant and y.id = i.type_id)
       or p_scope is not null and (i.type_id = any (p_scope)) is not true);
end
$$;

-- Creates rows, states and one event row of new targets whose ids are given.
create or replace function create_imported(
  p_tenant int, p_tenant_name text, p_ids int[], p_controller_ids text[], p_names text[], p_descriptions text[], p_addresses text[],
  p_digests bytea[], p_ciphers bytea[], p_types bigint[], p_by text, p_traceparent text
) returns int
language plpgsql as $$
declare
  v_count int;
begin
  with created as (
    insert into targets (tenant_id, id, controller_id, name, description, address, token_digest, token_cipher, target_type_id,
                         created_by, last_modified_by)
    select p_tenant, i.id, i.controller_id, i.name, i.description, i.address, i.digest, i.cipher, i.type, p_by, p_by
      from unnest(p_ids, p_controller_ids, p_names, p_descriptions, p_addresses, p_digests, p_ciphers, p_types)
             as i (id, controller_id, name, description, address, digest, cipher, type)
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
  select count(*) into v_count from created;
  return v_count;
end
$$;

-- Ends an import: all of its lines become targets, or none; with p_skip those that are valid. With p_discard none does, but the problems are
-- returned. Everything is one transaction; each thousand is an event row of its own, so that none is too large to be sent.
create or replace function finish_import(
  p_tenant int, p_tenant_name text, p_import text, p_skip boolean, p_discard boolean, p_scope bigint[], p_by text, p_traceparent text, p_max bigint
) returns jsonb
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_answer jsonb := command_answer(p_tenant, p_import);
  v_piece record;
  v_problems int;
  v_good int;
  v_created int := 0;
begin
  if v_answer is not null then
    return v_answer;
  end if;
  perform check_import(p_tenant, p_import, p_scope);
  select count(*) filter (where i.problem is not null), count(*) filter (where i.problem is null) into v_problems, v_good
    from target_imports i where i.tenant_id = p_tenant and i.import_id = p_import;
  if not p_discard and (p_skip or v_problems = 0) and v_good > 0 then
    if not targets_may_grow(p_tenant, v_good, p_max) then
      delete from target_imports i where i.tenant_id = p_tenant and i.import_id = p_import;
      return jsonb_build_object('outcome', 'quota', 'good', v_good);
    end if;
    for v_piece in
      select array_agg(g.id order by g.line) as ids, array_agg(g.controller_id order by g.line) as controller_ids,
             array_agg(g.name order by g.line) as names, array_agg(g.description order by g.line) as descriptions,
             array_agg(g.address order by g.line) as addresses, array_agg(g.token_digest order by g.line) as digests,
             array_agg(g.token_cipher order by g.line) as ciphers, array_agg(g.type_id order by g.line) as types
        from (select i.*, (row_number() over (order by i.line) - 1) / 1000 as piece
                from target_imports i where i.tenant_id = p_tenant and i.import_id = p_import and i.problem is null) g
       group by g.piece order by g.piece
    loop
      v_created := v_created + create_imported(p_tenant, p_tenant_name, v_piece.ids, v_piece.controller_ids, v_piece.names,
        v_piece.descriptions, v_piece.addresses, v_piece.digests, v_piece.ciphers, v_piece.types, p_by, p_traceparent);
    end loop;
  end if;
  select jsonb_build_object('outcome', 'ok', 'created', v_created, 'failed', v_problems, 'problems', coalesce(jsonb_agg(x.p order by x.line), '[]'))
    into v_answer
    from (select i.line, jsonb_build_object('line', i.line, 'controllerId', i.controller_id, 'type', i.type_id, 'code', i.problem) as p
            from target_imports i where i.tenant_id = p_tenant and i.import_id = p_import and i.problem is not null
           order by i.line limit 100) x;
  delete from target_imports i where i.tenant_id = p_tenant and i.import_id = p_import;
  return keep_answer(p_tenant, p_import, v_answer);
end
$$;

-- Removes lines that have been left behind for an hour, at most p_limit of them.
create or replace function sweep_imports(p_limit int) returns int
language plpgsql as $$
declare
  v_count int;
begin
  with old as (
    select i.tenant_id, i.import_id, i.line from target_imports i
     where i.at < now() - interval '1 hour' order by i.at limit p_limit for update skip locked
  )
  delete from target_imports i using old o where i.tenant_id = o.tenant_id and i.import_id = o.import_id and i.line = o.line;
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
