-- Changes many targets at once, by internal ids: those of a list that was made before. p_change is addTag or removeTag (p_value: the tag), setType
-- (p_value: the type; null: none) or requestAttributes. The outcome says what does not exist; `reached` lists the targets that are there and within the
-- scope, `changed` how many were not so before; each of those has its revision raised and tells an event. Repeating it changes nothing more.
create or replace function change_targets_by_id(p_tenant int, p_ids int[], p_change text, p_value bigint, p_scope bigint[], p_by text)
returns table (outcome text, reached int[], changed int)
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_targets int[];
  v_changed int[];
begin
  if p_change in ('addTag', 'removeTag')
     and not exists (select from management.target_tags_v1 g where g.tenant_id = p_tenant and g.id = p_value) then
    return query select 'tagNotFound', null::int[], 0;
    return;
  end if;
  if p_change = 'setType' and p_value is not null
     and not exists (select from management.target_types_v1 y where y.tenant_id = p_tenant and y.id = p_value) then
    return query select 'typeNotFound', null::int[], 0;
    return;
  end if;
  -- the lock of a target is its state row; commands on many targets take them in the order of ids
  select array_agg(l.target_id) into v_targets
    from (select s.target_id
            from targets t join target_state s on s.tenant_id = t.tenant_id and s.target_id = t.id
           where t.tenant_id = p_tenant and t.id = any ((select p_ids)::int[])
             -- a repeated chunk finds targets that the first one has taken out of the scope
             and (p_scope is null or t.target_type_id = any (p_scope)
                  or p_change = 'setType' and t.target_type_id is not distinct from p_value)
           order by s.target_id for no key update of s) l;
  -- Their own rows are locked before anything changes, in the same order, so that their changes get their events in their order.
  perform from targets t where t.tenant_id = p_tenant and t.id = any ((select v_targets)::int[]) order by t.id for no key update;
  if p_change = 'addTag' then
    with linked as (
      insert into target_tag_links (tenant_id, target_id, tag_id)
      select p_tenant, u.id, p_value from unnest(v_targets) as u(id) on conflict do nothing returning target_id)
    select array_agg(target_id) into v_changed from linked;
  elsif p_change = 'removeTag' then
    with unlinked as (
      delete from target_tag_links l
       where l.tenant_id = p_tenant and l.tag_id = p_value and l.target_id = any ((select v_targets)::int[]) returning l.target_id)
    select array_agg(target_id) into v_changed from unlinked;
  elsif p_change = 'setType' then
    with typed as (
      update targets t
         set target_type_id = p_value, last_modified_by = p_by, last_modified_at = now(), revision = t.revision + 1
       where t.tenant_id = p_tenant and t.id = any ((select v_targets)::int[]) and t.target_type_id is distinct from p_value
      returning t.id)
    select array_agg(id) into v_changed from typed;
  elsif p_change = 'requestAttributes' then
    with requested as (
      update target_state s
         set request_attributes = true, revision = s.revision + 1
       where s.tenant_id = p_tenant and s.target_id = any ((select v_targets)::int[]) and not s.request_attributes
      returning s.target_id)
    select array_agg(target_id) into v_changed from requested;
  else
    raise exception 'there is no change %', p_change;
  end if;
  if p_change = 'requestAttributes' then
    perform notify_things(p_tenant, v_changed, 'attributes');
  end if;
  if p_change <> 'setType' then
    update targets t set revision = t.revision + 1 where t.tenant_id = p_tenant and t.id = any ((select v_changed)::int[]);
  end if;
  perform record_target_changes(
    p_tenant, v_changed, array[case p_change when 'setType' then 'targetType' when 'requestAttributes' then p_change else 'tags' end], p_by);
  return query select 'ok', coalesce(v_targets, '{}'), coalesce(cardinality(v_changed), 0);
end
$$;
