-- This function records what the targets of a tenant use of their quotas (contract management.md §9, §10.3).

-- Does the next steps of the scans, over p_limit targets at most; returns how many. A step is followed by a pause of a millisecond for each of its
-- targets, whichever replica does the next one; a complete scan by a millisecond for each target of the tenant, and five seconds.
create or replace function walk_target_usage(p_limit int) returns int language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  u target_usage;
  v_scanned int := 0;
  v_page int;
  v_last int;
  v_found int[];
begin
  if not pg_try_advisory_xact_lock(hashtextextended('controller target usage', 0)) then return 0; end if;
  insert into target_usage (tenant_id) select distinct c.tenant_id from target_counts c on conflict do nothing;
  for u in select x.* from target_usage x where x.due_at <= now() order by x.due_at, x.tenant_id limit 50 loop
    select count(*), max(p.id), array[max(p.attributes), max(p.actions), max(p.entries), max(p.messages)]
      into v_page, v_last, v_found
      from (select t.id, a.actions, a.entries, h.messages,
                   (select count(*) from target_attributes x where x.tenant_id = u.tenant_id and x.target_id = t.id) as attributes
              from (select g.id from targets g where g.tenant_id = u.tenant_id and g.id > u.cursor_id
                     order by g.id limit p_limit - v_scanned) t
             cross join lateral (
               select count(*) as actions, max(o.revision) as entries, max(o.id) as newest, max(o.created_at) as newest_at
                 from actions o where o.tenant_id = u.tenant_id and o.target_id = t.id offset 0) a
             cross join lateral (
               select max(cardinality(e.messages)) as messages from action_history e
                where e.tenant_id = u.tenant_id and e.action_id = a.newest and e.reported_at >= a.newest_at offset 0) h) p;
    v_found := array(select greatest(i.so_far, i.found, 0) from unnest(u.so_far, v_found) with ordinality as i (so_far, found, place)
                      order by i.place);
    if v_page < p_limit - v_scanned then
      update target_usage
         set attributes = v_found[1], actions = v_found[2], status_entries = v_found[3], messages = v_found[4],
             so_far = '{0,0,0,0}', cursor_id = -1,
             due_at = clock_timestamp() + interval '5 seconds' + interval '1 millisecond'
                      * (select greatest(coalesce(sum(c.n), 0), 0) from target_counts c where c.tenant_id = u.tenant_id)::float8
       where tenant_id = u.tenant_id;
    else
      update target_usage
         set so_far = v_found, cursor_id = v_last, due_at = clock_timestamp() + interval '1 millisecond' * v_page
       where tenant_id = u.tenant_id;
    end if;
    v_scanned := v_scanned + v_page;
    exit when v_scanned >= p_limit;
  end loop;
  return v_scanned;
end
$$;
