-- These functions remove closed actions: by the rules of their tenant, to make room for new ones, or on request (contract rollouts.md §6.7, §6.10).
-- They never remove an action that is open or has not begun.

-- Removes those of p_ids that are closed, in a status of p_statuses, and unchanged since the moment of the same place in p_before, with their
-- history. The progress of a finished rollout stays as it is; the groups of a running one subtract the removed actions, as they do with deleted
-- targets (contract rollouts.md §4.3, §4.10).
create or replace function remove_closed_actions(p_tenant int, p_ids bigint[], p_statuses smallint[], p_before timestamptz[]) returns int
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_gone bigint[];
  v_targets int[];
begin
  select array_agg(distinct a.target_id) into v_targets
    from actions a where a.tenant_id = p_tenant and a.id = any ((select p_ids)::bigint[]);
  if v_targets is null then
    return 0;
  end if;
  perform from target_state s where s.tenant_id = p_tenant and s.target_id = any ((select v_targets)::int[])
    order by s.target_id for no key update;

  -- "(select 8)": as in start_chunk, the partial index of scheduled actions must not be considered here.
  with gone as (
    delete from actions a
     where a.tenant_id = p_tenant and a.id = any ((select p_ids)::bigint[]) and not a.active and a.status <> (select 8)
       and a.tally in (0, 2) -- nothing is awaited of it
       and (a.policy_id is null or not exists (select from action_watches w where w.tenant_id = p_tenant and w.action_id = a.id))
       and exists (select from unnest((select p_statuses), (select p_before)) r (status, before)
                    where r.status = a.status and a.last_modified_at < r.before)
    returning a.id, a.target_id, a.controller_id, a.set_id, a.rollout_id, a.group_id, a.status, a.active, a.force_type, a.weight, a.initiated_by,
              a.revision, a.tally, a.retried_by
  ), events as (
    insert into outbox (tenant_id, topic, type, common, items)
    select p_tenant, 'action-events', 'io.update.action.deleted.v1',
           action_event_common((select n.name from management.tenants_v1 n where n.tenant_id = p_tenant), g.set_id, min(s.name), min(s.version),
                               g.rollout_id, g.group_id, g.initiated_by),
           json_agg(deleted_action_item(g.id, g.controller_id, g.revision, g.status, g.force_type, g.weight) order by g.id)
      from gone g left join management.distribution_sets_v1 s on s.tenant_id = p_tenant and s.id = g.set_id
     group by g.set_id, g.rollout_id, g.group_id, g.initiated_by
  ), deltas as (
    insert into group_deltas (tenant_id, rollout_id, group_id, from_bucket, to_bucket, n)
    select p_tenant, g.rollout_id, g.group_id, action_bucket(g.status, g.force_type, g.tally), null, count(*)
      from gone g where g.retried_by is null and g.rollout_id in (select x.rollout_id from (select distinct rollout_id from gone) x
                                          where rollout_goes_on(p_tenant, x.rollout_id))
     group by 2, 3, 4
  )
  select array_agg(id), array_agg(distinct target_id) into v_gone, v_targets from gone;
  if v_gone is null then
    return 0;
  end if;
  delete from action_history h where h.tenant_id = p_tenant and h.action_id = any ((select v_gone)::bigint[]);
  update target_state s
     set installed_action_id = (select max(o.id) from actions o where o.tenant_id = p_tenant and o.target_id = s.target_id
                                   and o.set_id = s.installed_set_id and o.status = 0),
         revision = s.revision + 1
   where s.tenant_id = p_tenant and s.target_id = any ((select v_targets)::int[]) and s.installed_action_id = any ((select v_gone)::bigint[]);
  return cardinality(v_gone);
end
$$;

-- Does the next step of the scan that is due first: it reads p_limit actions of one tenant, whatever their status, so that a step is bounded by its
-- rows. The rules come from the settings, one row for each status of a tenant. Only one replica works at a time: the lock is the lease and ends with
-- the transaction; the next step begins at the cursor. A tenant's complete scan is followed by a pause.
create or replace function clean_actions(
  p_tenants int[], p_statuses smallint[], p_expiries_ms bigint[], p_limit int, p_pause_ms int,
  out scanned int, out removed int
)
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  c action_cleanups;
  v_statuses smallint[];
  v_before timestamptz[];
  v_last bigint;
  v_ids bigint[];
begin
  scanned := 0; removed := 0;
  if not pg_try_advisory_xact_lock(hashtextextended('controller action cleanup', 0)) then
    return;
  end if;
  insert into action_cleanups (tenant_id) select distinct t.id from unnest(p_tenants) t (id) on conflict do nothing;
  select x.* into c from action_cleanups x
   where x.tenant_id = any (p_tenants) and x.due_at <= now() order by x.due_at, x.tenant_id limit 1;
  if not found then
    return;
  end if;
  perform refresh_statistics();
  select array_agg(r.status), array_agg(now() - make_interval(secs => r.expiry_ms / 1000.0)) into v_statuses, v_before
    from unnest(p_tenants, p_statuses, p_expiries_ms) r (tenant_id, status, expiry_ms) where r.tenant_id = c.tenant_id;

  select count(*), max(p.id), array_agg(p.id order by p.id) filter (where p.expired) into scanned, v_last, v_ids
    from (select a.id,
                 case when a.active or a.status = 8 then false
                      when not exists (select from unnest(v_statuses, v_before) r (status, before)
                                        where r.status = a.status and a.last_modified_at < r.before) then false
                      else a.rollout_id is null or not rollout_goes_on(a.tenant_id, a.rollout_id) end as expired
            from actions a where a.tenant_id = c.tenant_id and a.id > c.cursor_id order by a.id limit p_limit) p;
  if v_ids is not null then
    removed := remove_closed_actions(c.tenant_id, v_ids, v_statuses, v_before);
  end if;
  update action_cleanups x
     set cursor_id = case when scanned < p_limit then -1 else v_last end,
         due_at = case when scanned < p_limit then clock_timestamp() + make_interval(secs => p_pause_ms / 1000.0) else clock_timestamp() end
   where x.tenant_id = c.tenant_id;
end
$$;

-- Makes room on each of p_targets for as many more actions as the same place of p_needed says, where these would be more than p_max. It evicts as
-- many of the oldest as are too many, at least p_percent of p_max, as far as they are closed and their rollout is over. A target for which these are
-- not enough keeps them. Returns the number of evicted actions.
create or replace function evict_actions(p_tenant int, p_targets int[], p_needed int[], p_max int, p_percent int) returns int
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

-- Removes listed actions, all or none: if one is unknown, out of the caller's scope, open, still watched by its policy, or in a status that p_statuses does
-- not list, none is removed. With p_controller_id actions of other targets are skipped.
create or replace function delete_actions(p_tenant int, p_controller_id text, p_ids bigint[], p_statuses smallint[], p_scope bigint[]) returns jsonb
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_target int;
  v_targets int[];
  v_missing bigint;
  v_refused bigint;
begin
  perform refresh_statistics();
  if p_controller_id is not null then
    select t.id into v_target from targets t
     where t.tenant_id = p_tenant and t.controller_id = p_controller_id and (p_scope is null or t.target_type_id = any (p_scope));
    if not found then
      return jsonb_build_object('outcome', 'targetNotFound');
    end if;
  end if;
  select array_agg(distinct a.target_id) into v_targets from actions a
   where a.tenant_id = p_tenant and a.id = any ((select p_ids)::bigint[]) and (v_target is null or a.target_id = v_target);
  perform from target_state s where s.tenant_id = p_tenant and s.target_id = any ((select v_targets)::int[])
    order by s.target_id for no key update;
  select min(i.id) filter (where a.id is null), min(a.id) filter (where a.active or a.status <> all (p_statuses) or a.status = 8 or a.awaited)
    into v_missing, v_refused
    from unnest((select p_ids)) i (id)
    left join lateral (
      select o.id, o.active, o.status,
             o.policy_id is not null and exists (select from action_watches w where w.tenant_id = p_tenant and w.action_id = o.id) as awaited
        from actions o join targets t on t.tenant_id = o.tenant_id and t.id = o.target_id
       where o.tenant_id = p_tenant and o.id = i.id and (v_target is null or o.target_id = v_target)
         and (p_scope is null or t.target_type_id = any (p_scope))
      offset 0) a on true;
  if v_missing is not null and v_target is null then
    return jsonb_build_object('outcome', 'actionNotFound', 'id', v_missing);
  end if;
  if v_refused is not null then
    return jsonb_build_object('outcome', 'notDeletable', 'id', v_refused);
  end if;
  return jsonb_build_object('outcome', 'ok', 'removed', remove_closed_actions(
    p_tenant, (select array_agg(a.id) from actions a where a.tenant_id = p_tenant and a.id = any ((select p_ids)::bigint[])
                  and (v_target is null or a.target_id = v_target)),
    p_statuses, array_fill('infinity'::timestamptz, array[cardinality(p_statuses)])));
end
$$;

-- Leaves a target its newest p_keep actions, and those of the older ones that may not be removed.
create or replace function delete_older_actions(p_tenant int, p_controller_id text, p_keep int, p_statuses smallint[], p_scope bigint[], p_limit int)
returns jsonb
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_target int;
begin
  select t.id into v_target from targets t
   where t.tenant_id = p_tenant and t.controller_id = p_controller_id and (p_scope is null or t.target_type_id = any (p_scope));
  if not found then
    return jsonb_build_object('outcome', 'targetNotFound');
  end if;
  return jsonb_build_object('outcome', 'ok', 'removed', remove_closed_actions(
    p_tenant, array(select o.id from (select a.id from actions a where a.tenant_id = p_tenant and a.target_id = v_target
                                       order by a.id desc offset p_keep limit p_limit) o),
    p_statuses, array_fill('infinity'::timestamptz, array[cardinality(p_statuses)])));
end
$$;
