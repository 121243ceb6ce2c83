-- expand
-- Makes room on each of p_targets for as many more actions as the same place of p_needed says, where these would be more than p_max: as many
-- of its oldest go as are too many, at least p_percent of p_max, as far as they are closed and their rollout is over. A target that these
-- would not help keeps them. Answers how many went. The function of the same name without p_needed is that of the version before.
create function make_room(p_tenant int, p_targets int[], p_needed int[], p_max int, p_percent int) returns int
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_ids bigint[];
begin
  perform refresh_statistics();
  select array_agg(i.id) into v_ids
    from (select x.id, m.n + x.needed - p_max as too_many
            from unnest((select p_targets), (select p_needed)) x (id, needed)
           cross join lateral (
             select count(*)::int as n
               from (select from actions a where a.tenant_id = p_tenant and a.target_id = x.id limit p_max) c) m
           where m.n + x.needed > p_max) full_ones
   cross join lateral (
     select array_agg(c.id) as ids
       from (select a.id from actions a
              where a.tenant_id = p_tenant and a.target_id = full_ones.id and not a.active and a.status <> 8
                and (a.rollout_id is null or not rollout_goes_on(a.tenant_id, a.rollout_id))
              order by a.id limit greatest(full_ones.too_many, ceil(p_max * p_percent / 100.0)::int)) c) o
   cross join lateral unnest(o.ids) i (id)
   where cardinality(o.ids) >= full_ones.too_many;
  return remove_closed_actions(p_tenant, v_ids, array(select generate_series(0, 11)::smallint), array_fill('infinity'::timestamptz, array[12]));
end
$$;
