-- These functions store attributes that devices send (contract device.md §4).

-- p_mode is 0 for merge, 1 for replace, 2 for remove. A null value removes its key (merge) or is skipped (replace).
create or replace function put_attributes(
  p_tenant int, p_controller_id text, p_mode smallint, p_keys text[], p_values text[],
  p_max_entries int, -- 0 or less means no limit
  p_tenant_name text, p_traceparent text
) returns text language plpgsql as $$
declare
  v_target int;
  v_gone text[] := '{}';  -- these keys are removed
  v_before int;
  v_after int;
  v_deleted int;
  v_written int := 0;
  v_revision int;
  v_ask boolean := false; -- asked again, because a claim is not proven yet
begin
  select s.target_id into v_target from targets g join target_state s on s.tenant_id = g.tenant_id and s.target_id = g.id
   where g.tenant_id = p_tenant and g.controller_id = p_controller_id for no key update of s;
  if not found then return 'targetNotFound'; end if;

  if p_mode = 0 then
    v_gone := array(select n.key from unnest(p_keys, p_values) n (key, value) where n.value is null);
  elsif p_mode = 1 then
    v_gone := array(select x.key from target_attributes x
                     where x.tenant_id = p_tenant and x.target_id = v_target
                       and not exists (select from unnest(p_keys, p_values) n (key, value) where n.key = x.key and n.value is not null));
  else
    v_gone := p_keys;
  end if;

  select count(*) into v_before from target_attributes x where x.tenant_id = p_tenant and x.target_id = v_target;
  select count(*) into v_after from (
    select x.key from target_attributes x where x.tenant_id = p_tenant and x.target_id = v_target and x.key <> all (v_gone)
    union
    select n.key from unnest(p_keys, p_values) n (key, value) where n.value is not null and p_mode <> 2) k;
  if p_max_entries > 0 and v_after > p_max_entries and v_after > v_before then return 'tooManyEntries'; end if;

  delete from target_attributes where tenant_id = p_tenant and target_id = v_target and key = any (v_gone);
  get diagnostics v_deleted = row_count;
  if p_mode <> 2 then
    insert into target_attributes as x (tenant_id, target_id, key, value)
    select p_tenant, v_target, n.key, n.value from unnest(p_keys, p_values) n (key, value) where n.value is not null
    on conflict (tenant_id, target_id, key) do update set value = excluded.value where x.value <> excluded.value;
    get diagnostics v_written = row_count;
  end if;

  if exists (select from action_watches w where w.tenant_id = p_tenant and w.target_id = v_target) then
    v_ask := watch_attributes(p_tenant, p_tenant_name, v_target, case when p_mode <> 2 then p_keys else '{}' end, p_values, p_traceparent);
  end if;
  update target_state set request_attributes = false, revision = revision + 1
   where tenant_id = p_tenant and target_id = v_target and request_attributes and not v_ask;
  if v_deleted + v_written = 0 then return 'ok'; end if;

  update targets set last_modified_by = 'CONTROLLER_PLUG_AND_PLAY', last_modified_at = now(), revision = revision + 1
   where tenant_id = p_tenant and id = v_target returning revision into v_revision;
  insert into outbox (tenant_id, topic, type, common, items, traceparent)
  select p_tenant, 'target-events', 'io.update.target.attributes_changed.v1', json_build_object('tenant', p_tenant_name),
         json_build_array(json_build_object(
           'subject', 'targets/' || p_controller_id,
           'sequence', v_revision,
           'data', json_build_object(
             'controllerId', p_controller_id,
             'attributes', coalesce((select json_object_agg(x.key, x.value order by x.key) from target_attributes x
                                      where x.tenant_id = p_tenant and x.target_id = v_target), '{}')))),
         p_traceparent;
  return 'ok';
end
$$;
