-- expand
-- Which targets have which tags (spec 001 §2.7). The tags themselves are management's; a link to a tag that is gone shows nowhere and
-- is swept away.

create table target_tag_links (
  tenant_id int not null,
  target_id int not null,
  tag_id    bigint not null,
  primary key (tenant_id, target_id, tag_id),
  foreign key (tenant_id, target_id) references targets on delete cascade
);
create index target_tag_links_tag on target_tag_links (tenant_id, tag_id, target_id);

-- Gives a tag to targets or takes it away. Answers with the tag that is not there, or the first ids that name no target within the
-- scope; p_only_all: then nothing is changed. Repeating it changes nothing more.
create function change_target_tag(p_tenant int, p_tag bigint, p_controller_ids text[], p_scope bigint[], p_assign boolean, p_only_all boolean)
returns table (outcome text, missing text[])
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_targets int[];
  v_missing text[];
begin
  perform from management.target_tags_v1 g where g.tenant_id = p_tenant and g.id = p_tag;
  if not found then
    return query select 'tagNotFound', null::text[];
    return;
  end if;
  -- key share: a target must not vanish before its link is there
  select array_agg(l.id) into v_targets
    from (select t.id from targets t
           where t.tenant_id = p_tenant and t.controller_id = any (p_controller_ids)
             and (p_scope is null or t.target_type_id = any (p_scope))
           order by t.id for key share) l;
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
    insert into target_tag_links (tenant_id, target_id, tag_id)
    select p_tenant, u.id, p_tag from unnest(v_targets) as u(id) on conflict do nothing;
  else
    delete from target_tag_links l where l.tenant_id = p_tenant and l.tag_id = p_tag and l.target_id = any (v_targets);
  end if;
  return query select case when v_missing is null then 'ok' else 'targetNotFound' end, v_missing;
end
$$;

-- Links to tags that are gone, at most p_limit of them. One look per tag, not per link: tags are few.
create function sweep_target_tags(p_limit int) returns int
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
