-- expand
-- What the targets of a tenant use of METADATA_PER_TARGET_MAX_COUNT: the highest number of entries of any of them. Found by a walk over
-- controller's published view, some thousand entries a second in the order of their key, so that no reader looks at a whole fleet.
create table target_metadata_usage (
  tenant_id int not null primary key references tenants on delete cascade,
  cursor_id int not null default -1,              -- the walk stands behind this target
  due_at    timestamptz not null default now(),
  most      int not null default 0,               -- of the last whole walk
  so_far    int not null default 0                -- of the walk that is on its way
);

-- The next step of the walks, p_limit entries at most and what the last target has more; answers how many. One replica does it, and a tenant
-- whose walk has ended rests for five seconds.
create function walk_target_metadata(p_limit int) returns int language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  u target_metadata_usage;
  v_looked int := 0;
  v_page int;
  v_last int;
  v_most int;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('management target metadata', 0)) then return 0; end if;
  insert into target_metadata_usage (tenant_id)
  select t.tenant_id from tenants t
   where t.status <> 'deleting' and not exists (select from target_metadata_usage x where x.tenant_id = t.tenant_id);
  for u in select x.* from target_metadata_usage x where x.due_at <= now() order by x.due_at, x.tenant_id limit 50 loop
    select coalesce(sum(g.n), 0), max(g.target_id), max(g.n) into v_page, v_last, v_most
      from (select p.target_id, count(*) as n
              from (select m.target_id from controller.target_metadata_v1 m
                     where m.tenant_id = u.tenant_id and m.target_id > u.cursor_id
                     order by m.target_id, m.key limit p_limit - v_looked) p
             group by p.target_id) g;
    if v_page < p_limit - v_looked then
      update target_metadata_usage
         set most = greatest(u.so_far, v_most, 0), so_far = 0, cursor_id = -1, due_at = clock_timestamp() + interval '5 seconds'
       where tenant_id = u.tenant_id;
    else
      -- of the last one there may be more
      select greatest(v_most, count(*)) into v_most from controller.target_metadata_v1 m where m.tenant_id = u.tenant_id and m.target_id = v_last;
      update target_metadata_usage set so_far = greatest(u.so_far, v_most), cursor_id = v_last where tenant_id = u.tenant_id;
    end if;
    v_looked := v_looked + v_page;
    exit when v_looked >= p_limit;
  end loop;
  return v_looked;
end
$$;
