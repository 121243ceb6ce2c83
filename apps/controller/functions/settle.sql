-- What watched actions come to by themselves, when their time is over (contract beyond.md §1.3).

-- Watches whose time is over, at most p_limit. Every tenant that has any gets an equal share of a round, so that the many of some delay nobody else's. A
-- share that is not used up is lost: who has more gets the next round, which follows at once. If there are more tenants than places, those come first that
-- have waited longest.
create or replace function due_watches(p_limit int) returns setof action_watches
language sql stable
set enable_seqscan = off as $$
  with recursive tenants as (
    (select w.tenant_id, w.due_at from action_watches w where w.due_at is not null order by w.tenant_id, w.due_at limit 1)
    union all
    select n.tenant_id, n.due_at
      from tenants t
     cross join lateral (
       select w.tenant_id, w.due_at from action_watches w where w.due_at is not null and w.tenant_id > t.tenant_id order by w.tenant_id, w.due_at limit 1) n
  ), served as materialized (
    select t.tenant_id, greatest(1, p_limit / count(*) over ()) as share from tenants t where t.due_at <= now() order by t.due_at limit p_limit
  )
  select d.*
    from served t
    cross join lateral (
      select w.* from action_watches w
       where w.tenant_id = t.tenant_id and w.due_at <= now()
       order by w.due_at
       limit t.share) d
$$;

-- Returns the tenants that have something due, and how many ids their retries among it will need. In a paused rollout and in a suspended tenant these wait
-- on: an id that is taken for nothing is lost, and a tenant has some two thousand million of them for ever.
create or replace function due_by_tenant(p_limit int) returns table (tenant_id int, ids int)
language sql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
  select d.tenant_id, (count(*) filter (where d.stage = 7 and t.tenant_id is not null and r.status is distinct from 'paused'))::int
    from due_watches(p_limit) d
    left join management.tenants_v1 t on t.tenant_id = d.tenant_id and t.status = 'active'
    left join lateral (
      select x.status from actions a join rollout_engine.rollouts_v1 x on x.tenant_id = a.tenant_id and x.id = a.rollout_id
       where a.tenant_id = d.tenant_id and a.id = d.action_id and d.stage = 7 offset 0) r on true
   group by d.tenant_id order by d.tenant_id
$$;

-- Settles what is due, at most p_limit, each once: the lock of the transaction is the lease, and each watch is read again under the lock of its target.
-- Targets that somebody else is changing right now are left for the next round. What is due is settled by statements for a whole tenant; of a target that
-- has several, the first ones of all targets go before the second ones. Ids for retries come in blocks, one for each tenant that had some due;
-- without one a retry waits for the next round, and where a tenant has none left as one of a paused rollout does. Outside their maintenance window no
-- clock of an installation runs, and cron is not for SQL: those with a window come with the moment at which their time is over, and wait until then; one
-- that has come due since these were read waits for the next round.
create or replace function settle_watches(
  p_limit int, p_id_tenants int[], p_first_ids bigint[], p_id_counts int[], p_max_actions int[],
  p_window_tenants int[], p_window_actions bigint[], p_window_ends timestamptz[]
) returns int
language plpgsql
set plan_cache_mode = force_custom_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  v_tenants int[];
  v_targets int[];
  v_actions bigint[];
  v_verdicts text[];
  v_by smallint[];
  v_tenant int;
  v_name text;
  v_place int;
  v_used int[] := array_fill(0, array[coalesce(cardinality(p_id_tenants), 0)]);
  v_retries int;
  v_waiting bigint[];
  v_ids int;
  v_settled int := 0;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('controller settle', 0)) then
    return 0;
  end if;
  perform refresh_statistics();
  update action_watches x set due_at = least(l.until, x.began_at + (p.body #>> '{limits,giveUpSeconds}')::float8 * interval '1 second')
    from unnest(p_window_tenants, p_window_actions, p_window_ends) l (tenant_id, action_id, until), action_policies p
   where p.tenant_id = x.tenant_id and p.id = x.policy_id and x.tenant_id = l.tenant_id and x.action_id = l.action_id and l.until > now();
  select array_agg(d.tenant_id order by d.tenant_id, d.target_id, d.action_id), array_agg(d.target_id order by d.tenant_id, d.target_id, d.action_id),
         array_agg(d.action_id order by d.tenant_id, d.target_id, d.action_id)
    into v_tenants, v_targets, v_actions
    from due_watches(p_limit) d;
  if v_tenants is null then
    return 0;
  end if;
  select array_agg(l.tenant_id order by l.tenant_id, l.target_id, l.action_id), array_agg(l.target_id order by l.tenant_id, l.target_id, l.action_id),
         array_agg(l.action_id order by l.tenant_id, l.target_id, l.action_id)
    into v_tenants, v_targets, v_actions
    from (select s.tenant_id, s.target_id, i.action_id
            from unnest(v_tenants, v_targets, v_actions) as i (tenant_id, target_id, action_id)
            join target_state s on s.tenant_id = i.tenant_id and s.target_id = i.target_id
           order by s.tenant_id, s.target_id for no key update of s skip locked) l;
  perform from unnest(v_tenants, v_targets, v_actions) as i (tenant_id, target_id, action_id)
     join action_watches x on x.tenant_id = i.tenant_id and x.action_id = i.action_id
    order by i.tenant_id, i.target_id, i.action_id for update of x;
  for v_tenant, v_actions in
    select i.tenant_id, array_agg(i.action_id order by i.target_id)
      from (select u.*, row_number() over (partition by u.tenant_id, u.target_id order by u.action_id) as turn
              from unnest(v_tenants, v_targets, v_actions) as u (tenant_id, target_id, action_id)) i
     group by i.tenant_id, i.turn order by i.tenant_id, i.turn
  loop
    v_name := (select n.name from management.tenants_v1 n where n.tenant_id = v_tenant and n.status = 'active');
    if v_name is null then -- A suspended tenant: nothing happens to its actions; it goes on when the tenant does.
      update action_watches x set due_at = now() + interval '1 minute'
        from unnest(v_actions) i (action_id) where x.tenant_id = v_tenant and x.action_id = i.action_id and coalesce(x.due_at <= now(), false);
      continue;
    end if;
    select array_agg(d.action_id), array_agg(d.verdict), array_agg(d.by)
      into v_actions, v_verdicts, v_by
      from (select x.action_id, watch_verdict(x, p.body, 2::smallint) as verdict, x.stage, a.maintenance_schedule is not null as windowed,
                   coalesce(a.outcome % 10, 3)::smallint as by
              from unnest(v_actions) with ordinality i (action_id, place)
             -- By its key: otherwise all that is due might be read by its time, once for each of these.
             cross join lateral (select o.* from action_watches o where o.tenant_id = v_tenant and o.action_id = i.action_id offset 0) x
              join actions a on a.tenant_id = v_tenant and a.id = i.action_id
              join action_policies p on p.tenant_id = v_tenant and p.id = x.policy_id
             where x.due_at <= now()
             order by i.place) d
     where not (d.verdict = 'silence' and d.stage = 3 and d.windowed)
        or exists (select from unnest(p_window_tenants, p_window_actions) k (tenant_id, action_id)
                    where k.tenant_id = v_tenant and k.action_id = d.action_id);
    continue when v_actions is null;
    delete from action_watches x using unnest(v_actions, v_verdicts) i (action_id, verdict)
     where i.verdict = 'end' and x.tenant_id = v_tenant and x.action_id = i.action_id;
    update action_watches x set due_at = watch_due(x, p.body)
      from unnest(v_actions, v_verdicts) i (action_id, verdict), action_policies p
     where i.verdict = 'wait' and x.tenant_id = v_tenant and x.action_id = i.action_id and p.tenant_id = v_tenant and p.id = x.policy_id;
    perform end_watches(v_tenant, v_name, array_agg(i.action_id), array_agg(i.verdict), array_agg(case when i.verdict = 'prove' then i.by else 0 end::smallint),
                        null, 'system', null)
       from unnest(v_actions, v_verdicts, v_by) i (action_id, verdict, by)
      where i.verdict in ('prove', 'accept', 'expire', 'giveUp', 'silence')
     having count(*) > 0;
    v_settled := v_settled + cardinality(v_actions);

    v_place := array_position(p_id_tenants, v_tenant);
    select array_agg(i.action_id order by i.place) filter (where not i.waits), count(*) filter (where not i.waits),
           array_agg(i.action_id) filter (where i.waits)
      into v_actions, v_retries, v_waiting
      from (select u.action_id, u.place,
                   coalesce(p_id_counts[v_place] = 0, false) or coalesce(r.status = 'paused', false) as waits
              from unnest(v_actions, v_verdicts) with ordinality u (action_id, verdict, place)
              join actions a on a.tenant_id = v_tenant and a.id = u.action_id
              left join rollout_engine.rollouts_v1 r on r.tenant_id = v_tenant and r.id = a.rollout_id
             where u.verdict = 'retry') i;
    if v_waiting is not null then perform put_off_retries(v_tenant, v_waiting); end if;
    v_ids := case when v_place is null then 0 else least(v_retries, p_id_counts[v_place] - v_used[v_place]) end;
    v_settled := v_settled - (v_retries - v_ids);
    if v_ids > 0 then
      perform settle_retries(v_tenant, v_name, v_actions[:v_ids],
                             array(select p_first_ids[v_place] + v_used[v_place] + n from generate_series(0, v_ids - 1) n), p_max_actions[v_place]);
      v_used[v_place] := v_used[v_place] + v_ids;
    end if;
  end loop;
  return v_settled;
end
$$;
