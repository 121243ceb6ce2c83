-- These functions keep what insights show of targets and actions (contract management.md §10.6): monthly counts from the events of the outbox, and the
-- present state of the fleet by walks. All of it is background work; nothing here is called by a request.

-- Whether an action of this status has ended, in the terms of its bucket (functions/shared.sql).
create or replace function action_ended(p_status smallint, p_force_type smallint) returns boolean
language sql immutable parallel safe as 'select action_bucket(p_status, p_force_type) in (2, 3, 4)';

-- Adds the next p_limit rows of the outbox up, with the failures of rollouts among them (functions/rollout-failures.sql), as far as no older transaction
-- still runs, and makes the fleets due that they are about. One replica does it at a time. Returns how many rows it has read, p_limit if more are left.
-- A row may tell of thousands of actions, so rows are not kept for the sums, a page ends at a megabyte, and the text of a row is not parsed if it has no
-- inactive action, as most reports, or if its first one is new and scheduled: then all are, because a row tells of what one statement has created.
-- A success that turns out to be a failure counts no more in the month in which it came: each action counts once, as it has ended last (contract
-- management.md §10.6).
create or replace function fold_monthly_counts(p_limit int) returns int
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  f monthly_counts_folded;
  v_folded int;
  v_failures json;
begin
  select * into f from monthly_counts_folded for update skip locked;
  if not found then return 0; end if;
  with part as materialized (
    select o.tenant_id, o.txid, o.id, date_trunc('month', o.at at time zone 'UTC')::date as month, o.at >= f.began_at as counts,
           case o.type when 'io.update.target.created.v1' then json_array_length(o.items) else 0 end as targets_created,
           case o.type when 'io.update.target.deleted.v1' then json_array_length(o.items) else 0 end as targets_deleted,
           case o.type when 'io.update.action.created.v1' then json_array_length(o.items) else 0 end as actions_created,
           e.finished, e.error, e.canceled, e.taken_back, o.page_rows,
           case when e.error > 0 and o.common ->> 'rolloutId' is not null then o.items end as failed, o.common, o.at
      from (select * from (
              select x.*, row_number() over page as n, sum(pg_column_size(x.items)) over page as bytes, count(*) over () as page_rows
                from (select * from outbox x
                       where (x.txid, x.id) > (f.txid, f.id) and x.txid < pg_snapshot_xmin(pg_current_snapshot())
                       order by x.txid, x.id limit p_limit) x
              window page as (order by x.txid, x.id)) y
             where y.n = 1 or y.bytes <= 1000000) o
      left join lateral (
        select count(*) filter (where i.bucket = 2) as finished, count(*) filter (where i.bucket = 3) as error,
               count(*) filter (where i.bucket = 4) as canceled,
               array_agg(coalesce(to_timestamp(i.claimed / 1000.0), o.at)) filter (where i.was = 2) as taken_back
          from (select action_bucket((a.item ->> 4)::smallint, (a.item ->> 6)::smallint) as bucket,
                       action_bucket((a.item ->> 3)::smallint, (a.item ->> 6)::smallint) as was, (a.item ->> 13)::bigint as claimed
                  from json_array_elements(case when o.type in ('io.update.action.created.v1', 'io.update.action.status_changed.v1',
                                                                'io.update.action.proof_changed.v1', 'io.update.action.silence_changed.v1',
                                                                'io.update.action.retry_changed.v1')
                                                 and o.items::text like '%, false, %'
                                                 and o.items::text !~ '^\[\[\d+, "[^"]*", 1, null, 8, ' then o.items end) as a (item)) i
         where i.bucket in (2, 3, 4) and i.bucket <> i.was
      ) e on true
  ), happened as (
    select tenant_id, month, targets_created, targets_deleted, actions_created, finished, error, canceled from part
     where counts and (targets_created > 0 or targets_deleted > 0 or actions_created > 0 or finished + error + canceled > 0)
    union all
    select p.tenant_id, date_trunc('month', t.at at time zone 'UTC')::date, 0, 0, 0, -1, 0, 0
      from part p cross join lateral unnest(p.taken_back) as t (at) where t.at >= f.began_at
  ), counted as (
    insert into monthly_counts as c (tenant_id, month, targets_created, targets_deleted, actions_created, actions_finished, actions_error,
                                     actions_canceled)
    select h.tenant_id, h.month, sum(h.targets_created), sum(h.targets_deleted), sum(h.actions_created), sum(h.finished), sum(h.error),
           sum(h.canceled)
      from happened h
      join management.tenants_v1 t on t.tenant_id = h.tenant_id and t.status <> 'deleting'
     group by 1, 2
    on conflict (tenant_id, month) do update
       set targets_created = c.targets_created + excluded.targets_created, targets_deleted = c.targets_deleted + excluded.targets_deleted,
           actions_created = c.actions_created + excluded.actions_created, actions_finished = c.actions_finished + excluded.actions_finished,
           actions_error = c.actions_error + excluded.actions_error, actions_canceled = c.actions_canceled + excluded.actions_canceled
  ), made_due as (
    insert into fleet_walks as w (tenant_id)
    select distinct p.tenant_id from part p
      join management.tenants_v1 t on t.tenant_id = p.tenant_id and t.status <> 'deleting'
    on conflict (tenant_id) do update set changed = true, due_at = least(w.due_at, greatest(w.rest_until, now())) where not w.changed
  ), moved as (
    update monthly_counts_folded m set txid = last.txid, id = last.id
      from (select txid, id from part order by txid desc, id desc limit 1) last
  )
  select case when count(*) < max(page_rows) then p_limit else count(*) end,
         (select json_agg(json_build_array(p.tenant_id, p.common -> 'rolloutId', p.common -> 'rolloutGroupId',
                                           (extract(epoch from p.at) * 1000)::bigint, a.item -> 0, a.item -> 1, a.item -> 8,
                                           -- A report without messages of the device has one of the server, which says nothing; what the server
                                           -- itself ends, because a success is not proven or a device is given up, has a reason.
                                           case when a.item -> 12 ->> 'reason' is not null or a.item -> 9 ->> 0 not like 'Update Server: %'
                                                then a.item -> 9 -> 0 end))
            from part p
            join management.tenants_v1 t on t.tenant_id = p.tenant_id and t.status <> 'deleting'
            cross join lateral json_array_elements(p.failed) as a (item)
           where action_bucket((a.item ->> 4)::smallint, (a.item ->> 6)::smallint) = 3
             and action_bucket((a.item ->> 3)::smallint, (a.item ->> 6)::smallint) <> 3)
    into v_folded, v_failures
    from part;
  if v_failures is not null then perform add_rollout_failures(v_failures); end if;
  return v_folded;
end
$$;

-- Answers the release before, which asks whether anything of the time before the counting is left (ADR 56).
create or replace function find_monthly_counts(p_limit int) returns boolean
language sql immutable as 'select false';

-- Writes what a whole walk has counted as what the tenant has at the end of this day (UTC), the 200 most frequent sets of each kind by their ids, and the
-- others as key 0. Of these sets only the 1,000 largest numbers of one target type are kept apart, because types have no limit of their own. What is
-- older than 400 days goes with the first walk of a day.
create or replace function keep_fleet_day(p_tenant int) returns void
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_day date := (clock_timestamp() at time zone 'UTC')::date;
  v_first boolean;
begin
  insert into fleet_day_walks as w (tenant_id, day, counted_at) values (p_tenant, v_day, clock_timestamp())
    on conflict (tenant_id, day) do update set counted_at = excluded.counted_at
    returning xmax = 0 into v_first;
  with counted as materialized (
    select p.kind, case when p.place <= 200 and p.share <= 1000 then p.key else 0 end as key, p.type_id, sum(p.n) as n
      from (select k.*, dense_rank() over (partition by k.kind order by k.of_set desc, k.key desc) as place,
                   row_number() over (partition by k.kind order by k.n desc, k.key desc, k.type_id) as share
              from (select c.kind, c.key, c.type_id, c.n, sum(c.n) over (partition by c.kind, c.key) as of_set
                      from fleet_counts c where c.tenant_id = p_tenant and c.kind in (1, 2) and c.n > 0) k) p
     group by 1, 2, 3
  ), gone as (
    delete from fleet_days d
     where d.tenant_id = p_tenant and d.kind in (1, 2) and d.day = v_day
       and not exists (select from counted c where c.kind = d.kind and c.key = d.key and c.type_id = d.type_id)
  )
  insert into fleet_days as d (tenant_id, kind, day, key, type_id, n)
    select p_tenant, c.kind, v_day, c.key, c.type_id, c.n from counted c
    on conflict (tenant_id, kind, day, key, type_id) do update set n = excluded.n where d.n <> excluded.n;
  if v_first then
    delete from fleet_days d where d.tenant_id = p_tenant and d.kind in (1, 2) and d.day < v_day - 400;
    delete from fleet_day_walks w where w.tenant_id = p_tenant and w.day < v_day - 400;
  end if;
end
$$;

-- Adds the targets behind one id up to another to what the walk has counted so far. All tables are read within the same bounds: joined to a page of
-- unknown place they would be read as a whole for every step. And each is read once, whatever is known of it: a fleet that has just been made seems to
-- have one target within any bounds, and a loop over the page would read the page again for each of its targets.
create or replace function count_fleet_page(p_tenant int, p_after int, p_last int, p_overdue timestamptz) returns void
language plpgsql set plan_cache_mode = force_custom_plan set enable_nestloop = off as $$
begin
  insert into fleet_counts as c (tenant_id, kind, key, type_id, so_far)
  select p_tenant, g.kind, g.key, g.type_id, g.n
    from (select case grouping(p.update_status, p.installed_set_id, p.assigned_set_id, p.overdue) -- a bit for each that is not grouped by
                   when 7 then 0 when 11 then 1 when 13 then 2 else 3 end as kind,
                 case grouping(p.update_status, p.installed_set_id, p.assigned_set_id, p.overdue)
                   when 7 then p.update_status when 11 then p.installed_set_id when 13 then p.assigned_set_id else p.overdue end as key,
                 p.type_id, count(*) as n
            from (select s.update_status, s.installed_set_id, s.assigned_set_id, coalesce(t.target_type_id, 0) as type_id,
                         case when p.last_poll_at < p_overdue then 0 end as overdue
                    from target_state s
                    join targets t on t.tenant_id = p_tenant and t.id = s.target_id and t.id > p_after and t.id <= p_last
                    left join target_polls p
                      on p.tenant_id = p_tenant and p.target_id = s.target_id and p.target_id > p_after and p.target_id <= p_last
                   where s.tenant_id = p_tenant and s.target_id > p_after and s.target_id <= p_last) p
           group by grouping sets ((p.update_status, p.type_id), (p.installed_set_id, p.type_id), (p.assigned_set_id, p.type_id),
                                   (p.overdue, p.type_id))) g
   where g.key is not null
  on conflict (tenant_id, kind, key, type_id) do update set so_far = c.so_far + excluded.so_far;
end
$$;

-- Does the next steps of the walks of these tenants, as far as they are due, over p_limit targets at most; returns how many. A target is overdue if it
-- has polled before the moment given for its tenant. One replica walks over a tenant at a time. A step is followed by a pause of 50 times what it took,
-- so that a walk takes 2 % of a core at most; the last one by five seconds more, and, until something happens to a target of the tenant, by a minute
-- and 200 times what the whole walk took.
create or replace function count_fleets(p_tenants int[], p_overdue timestamptz[], p_limit int) returns int
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  w record;
  v_began timestamptz;
  v_ms double precision;
  v_counted int := 0;
  v_page int;
  v_last int;
begin
  for w in
    select x.tenant_id, x.cursor_id, x.spent_ms, p.overdue
      from unnest(p_tenants, p_overdue) as p (tenant_id, overdue) join fleet_walks x on x.tenant_id = p.tenant_id
     where x.due_at <= now() order by x.due_at, x.tenant_id for update of x skip locked
  loop
    v_began := clock_timestamp();
    if w.cursor_id = -1 then
      update fleet_walks set changed = false where tenant_id = w.tenant_id;
    end if;
    select count(*), max(x.id) into v_page, v_last
      from (select t.id from targets t where t.tenant_id = w.tenant_id and t.id > w.cursor_id order by t.id limit p_limit - v_counted) x;
    perform count_fleet_page(w.tenant_id, w.cursor_id, v_last, w.overdue);
    if v_page < p_limit - v_counted then
      delete from fleet_counts where tenant_id = w.tenant_id and so_far = 0;
      update fleet_counts set n = so_far, so_far = 0 where tenant_id = w.tenant_id;
      perform keep_fleet_day(w.tenant_id);
      v_ms := extract(epoch from clock_timestamp() - v_began) * 1000;
      update fleet_walks
         set cursor_id = -1, counted_at = clock_timestamp(), spent_ms = 0,
             rest_until = clock_timestamp() + interval '1 millisecond' * (5000 + 50 * v_ms),
             due_at = clock_timestamp() + interval '1 millisecond'
                      * case when changed then 5000 + 50 * v_ms else 60000 + 200 * (w.spent_ms + v_ms) end
       where tenant_id = w.tenant_id;
    else
      v_ms := extract(epoch from clock_timestamp() - v_began) * 1000;
      update fleet_walks
         set cursor_id = v_last, spent_ms = w.spent_ms + v_ms, due_at = clock_timestamp() + interval '1 millisecond' * 50 * v_ms
       where tenant_id = w.tenant_id;
    end if;
    v_counted := v_counted + v_page;
    exit when v_counted >= p_limit;
  end loop;
  return v_counted;
end
$$;
