-- Takes the next step of the scans of target metadata, of which each tenant has one: it reads p_limit entries at most, and the remaining entries of
-- the last target of the step, and returns how many it has read. One replica does it at a time, and a tenant whose scan has ended is due again after
-- five seconds.
create or replace function walk_target_metadata(p_limit int) returns int language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  u target_metadata_usage;
  v_scanned int := 0;
  v_page int;
  v_last int;
  v_max int;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('management target metadata', 0)) then return 0; end if;
  insert into target_metadata_usage (tenant_id)
  select t.tenant_id from tenants t
   where t.status <> 'deleting' and not exists (select from target_metadata_usage x where x.tenant_id = t.tenant_id);
  for u in select x.* from target_metadata_usage x where x.due_at <= now() order by x.due_at, x.tenant_id limit 50 loop
    select coalesce(sum(g.n), 0), max(g.target_id), max(g.n) into v_page, v_last, v_max
      from (select p.target_id, count(*) as n
              from (select m.target_id from controller.target_metadata_v1 m
                     where m.tenant_id = u.tenant_id and m.target_id > u.cursor_id
                     order by m.target_id, m.key limit p_limit - v_scanned) p
             group by p.target_id) g;
    if v_page < p_limit - v_scanned then
      update target_metadata_usage
         set largest = greatest(u.so_far, v_max, 0), so_far = 0, cursor_id = -1, due_at = clock_timestamp() + interval '5 seconds'
       where tenant_id = u.tenant_id;
    else
      -- The page may have split the last target, so all of its entries are counted.
      select greatest(v_max, count(*)) into v_max from controller.target_metadata_v1 m where m.tenant_id = u.tenant_id and m.target_id = v_last;
      update target_metadata_usage set so_far = greatest(u.so_far, v_max), cursor_id = v_last where tenant_id = u.tenant_id;
    end if;
    v_scanned := v_scanned + v_page;
    exit when v_scanned >= p_limit;
  end loop;
  return v_scanned;
end
$$;
