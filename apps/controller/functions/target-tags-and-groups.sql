-- Gives a tag to targets or removes it. Returns the tag if it does not exist, or the first ids that name no target within the scope; with p_only_all
-- nothing is changed then. Repeating it changes nothing more.
create or replace function change_target_tag(p_tenant int, p_tag bigint, p_controller_ids text[], p_scope bigint[], p_assign boolean, p_only_all boolean)
returns table (outcome text, missing text[])
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_targets int[];
  v_missing text[];
  v_changed int[];
begin
  perform from management.target_tags_v1 g where g.tenant_id = p_tenant and g.id = p_tag;
  if not found then
    return query select 'tagNotFound', null::text[];
    return;
  end if;
  -- A target must not vanish before its link exists, and its changes get their events in their order.
  select array_agg(l.id) into v_targets
    from (select t.id from targets t
           where t.tenant_id = p_tenant and t.controller_id = any (p_controller_ids)
             and (p_scope is null or t.target_type_id = any (p_scope))
           order by t.id for no key update) l;
  select array_agg(m.id) into v_missing
    from (select i.id from (select distinct u.id from unnest(p_controller_ids) as u(id)) i
           where not exists (select from targets t
                              where t.tenant_id = p_tenant and t.controller_id = i.id and t.id = any (v_targets))
           order by i.id limit 10) m;
  if v_missing is not null and p_only_all then
    return query select 'targetNotFound', v_missing;
    return;
  end if;
  if p_assign then
    with linked as (
      insert into target_tag_links (tenant_id, target_id, tag_id)
      select p_tenant, u.id, p_tag from unnest(v_targets) as u(id) on conflict do nothing returning target_id)
    select array_agg(target_id) into v_changed from linked;
  else
    with unlinked as (
      delete from target_tag_links l where l.tenant_id = p_tenant and l.tag_id = p_tag and l.target_id = any (v_targets) returning l.target_id)
    select array_agg(target_id) into v_changed from unlinked;
  end if;
  update targets t set revision = t.revision + 1 where t.tenant_id = p_tenant and t.id = any ((select v_changed)::int[]);
  perform record_target_changes(p_tenant, v_changed, '{tags}', null);
  return query select case when v_missing is null then 'ok' else 'targetNotFound' end, v_missing;
end
$$;

-- Removes links to deleted tags, at most p_limit of them. It reads once per tag, not per link, because tags are few.
create or replace function sweep_target_tags(p_limit int) returns int
language plpgsql as $$
declare
  v_count int;
begin
  with recursive used(tenant_id, tag_id) as (
    (select l.tenant_id, l.tag_id from target_tag_links l order by l.tenant_id, l.tag_id limit 1)
    union all
    select n.tenant_id, n.tag_id
      from used u, lateral (
        select l.tenant_id, l.tag_id from target_tag_links l
         where (l.tenant_id, l.tag_id) > (u.tenant_id, u.tag_id) order by l.tenant_id, l.tag_id limit 1) n
  ), gone as (
    select u.tenant_id, u.tag_id from used u
     where not exists (select from management.target_tags_v1 g where g.tenant_id = u.tenant_id and g.id = u.tag_id)
  ), piece as (
    select l.tenant_id, l.target_id, l.tag_id
      from gone g join target_tag_links l on l.tenant_id = g.tenant_id and l.tag_id = g.tag_id
     limit p_limit for update of l skip locked
  )
  delete from target_tag_links l using piece s
   where l.tenant_id = s.tenant_id and l.target_id = s.target_id and l.tag_id = s.tag_id;
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

-- Puts targets into a group or, with null, into none, all of them at once. They are named by controllerId or by id; those that are unknown, out of
-- the scope or in that group already stay as they are. Returns how many have changed.
create or replace function change_target_group(p_tenant int, p_controller_ids text[], p_ids int[], p_group text, p_scope bigint[], p_by text)
returns int
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_changed int[];
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
  ), changed as (
    update targets t
       set target_group = p_group, last_modified_by = p_by, last_modified_at = now(), revision = t.revision + 1
      from locked l where t.tenant_id = p_tenant and t.id = l.id
    returning t.id
  )
  select array_agg(id) into v_changed from changed;
  perform record_target_changes(p_tenant, v_changed, '{group}', p_by);
  return coalesce(cardinality(v_changed), 0);
end
$$;
