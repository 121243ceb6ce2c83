-- Each call does one chunk of a rollout's work. The fence comes first (FOR SHARE: closing it waits for running chunks), then the state rows of the
-- chunk's targets by id, ascending: this is the lock order of everything that changes actions.

-- Creates SCHEDULED actions for the next members of a group. Idempotent by (rollout, target); deleted targets are skipped. With p_joined the members have
-- joined the last group of a running dynamic rollout (contract rollouts.md §4.6): a target that got an action of a newer rollout since it was found is
-- skipped. This is checked under the target's lock: whichever of the two comes second sees the other, and the newer one wins.
create or replace function schedule_members(
  p_tenant int, p_tenant_name text, p_rollout bigint, p_group bigint, p_epoch bigint, p_cursor bigint, p_limit int, p_first_id bigint,
  p_set bigint, p_set_name text, p_set_version text, p_migration_step boolean, p_force_type smallint, p_force_time timestamptz,
  p_weight int,
  p_schedule text, p_duration text, p_timezone text, p_window_ends timestamptz, p_initiator text, p_traceparent text, p_joined boolean,
  out fenced boolean, out "cursor" bigint, out done boolean, out created int
)
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_targets int[];
  v_count int;
  v_created timestamptz;
  v_ms bigint := (extract(epoch from now()) * 1000)::bigint;
begin
  perform refresh_statistics();
  fenced := false; "cursor" := p_cursor; created := 0;
  perform 1 from rollout_fences f where f.tenant_id = p_tenant and f.rollout_id = p_rollout and f.epoch = p_epoch and f.open for share;
  if not found then
    fenced := true; done := false;
    return;
  end if;

  select array_agg(m.target_id order by m.target_id), max(m.ordinal), count(*) into v_targets, "cursor", v_count
    from (select g.target_id, g.ordinal from rollout_engine.group_members_v1 g
           where g.tenant_id = p_tenant and g.rollout_id = p_rollout and g.group_id = p_group and g.ordinal > p_cursor
           order by g.ordinal limit p_limit) m;
  "cursor" := coalesce("cursor", p_cursor);
  done := v_count < p_limit;
  if v_count = 0 then
    return;
  end if;

  perform 1 from target_state s where s.tenant_id = p_tenant and s.target_id = any ((select v_targets)::int[]) order by s.target_id for no key update;

  if p_joined then
    select r.created_at into v_created from rollout_engine.rollouts_v1 r where r.tenant_id = p_tenant and r.id = p_rollout;
    select array_agg(x.id order by x.id) into v_targets
      from unnest((select v_targets)) as x (id)
     where not exists (
       select from actions a join rollout_engine.rollouts_v1 r on r.tenant_id = a.tenant_id and r.id = a.rollout_id
        where a.tenant_id = p_tenant and a.target_id = x.id and (r.created_at, r.id) > (v_created, p_rollout));
    if v_targets is null then
      return;
    end if;
  end if;

  with created_actions as (
    insert into actions (tenant_id, id, target_id, controller_id, set_id, status, active, force_type, force_time, weight, migration_step,
                         maintenance_schedule, maintenance_duration, maintenance_timezone, maintenance_ends_at,
                         rollout_id, group_id, initiated_by, created_by, last_modified_by)
    select p_tenant, p_first_id + m.n - 1, m.target_id, t.controller_id, p_set, 8, false, p_force_type, p_force_time, p_weight,
           p_migration_step, p_schedule, p_duration, p_timezone, p_window_ends, p_rollout, p_group, p_initiator, p_initiator, p_initiator
      from unnest((select v_targets)) with ordinality as m (target_id, n)
      cross join lateral (select x.controller_id from targets x where x.tenant_id = p_tenant and x.id = m.target_id offset 0) t
    on conflict (tenant_id, rollout_id, target_id) where rollout_id is not null and retried_by is null do nothing
    returning id, target_id, controller_id
  ), deltas as (
    insert into group_deltas (tenant_id, rollout_id, group_id, from_bucket, to_bucket, n)
    select p_tenant, p_rollout, p_group, null, 0, count(*) from created_actions having count(*) > 0
  ), event as (
    insert into outbox (tenant_id, topic, type, common, items, traceparent)
    select p_tenant, 'action-events', 'io.update.action.created.v1',
           action_event_common(p_tenant_name, p_set, p_set_name, p_set_version, p_rollout, p_group, p_initiator),
           json_agg(json_build_array(id, controller_id, 1, null, 8, false, p_force_type, p_weight, null, null, v_ms, 8)), p_traceparent
      from created_actions having count(*) > 0
  )
  select array_agg(target_id), count(*) into v_targets, created from created_actions;

  if created > 0 then
    perform cancel_scheduled_actions(p_tenant, p_tenant_name, v_targets, p_rollout, p_initiator, p_traceparent);
  end if;
end
$$;

create or replace function schedule_chunk(
  p_tenant int, p_tenant_name text, p_rollout bigint, p_group bigint, p_epoch bigint, p_cursor bigint, p_limit int, p_first_id bigint,
  p_set bigint, p_set_name text, p_set_version text, p_migration_step boolean, p_force_type smallint, p_force_time timestamptz,
  p_weight int,
  p_schedule text, p_duration text, p_timezone text, p_window_ends timestamptz, p_initiator text, p_traceparent text,
  out fenced boolean, out "cursor" bigint, out done boolean, out created int
)
language sql as $$
  select * from schedule_members(p_tenant, p_tenant_name, p_rollout, p_group, p_epoch, p_cursor, p_limit, p_first_id, p_set, p_set_name, p_set_version,
    p_migration_step, p_force_type, p_force_time, p_weight, p_schedule, p_duration, p_timezone, p_window_ends, p_initiator, p_traceparent, false)
$$;

create or replace function join_chunk(
  p_tenant int, p_tenant_name text, p_rollout bigint, p_group bigint, p_epoch bigint, p_cursor bigint, p_limit int, p_first_id bigint,
  p_set bigint, p_set_name text, p_set_version text, p_migration_step boolean, p_force_type smallint, p_force_time timestamptz,
  p_weight int,
  p_schedule text, p_duration text, p_timezone text, p_window_ends timestamptz, p_initiator text, p_traceparent text,
  out fenced boolean, out "cursor" bigint, out done boolean, out created int
)
language sql as $$
  select * from schedule_members(p_tenant, p_tenant_name, p_rollout, p_group, p_epoch, p_cursor, p_limit, p_first_id, p_set, p_set_name, p_set_version,
    p_migration_step, p_force_type, p_force_time, p_weight, p_schedule, p_duration, p_timezone, p_window_ends, p_initiator, p_traceparent, true)
$$;

-- Starts the next SCHEDULED actions of a group. A target that has the set assigned is finished at once (contract rollouts.md §4.4); the others
-- supersede the target's open actions. With multi-assignment, a target that has the set assigned gets it once more, and the action of one that has
-- too many open fails.
create or replace function start_chunk(
  p_tenant int, p_tenant_name text, p_rollout bigint, p_group bigint, p_epoch bigint, p_cursor int, p_limit int,
  p_set bigint, p_set_name text, p_set_version text, p_autoclose boolean, p_confirmation_flow boolean,
  p_confirmation boolean, p_initiator text, p_message text, p_traceparent text, p_safety text, p_types bigint[], p_type_safeties text[],
  out fenced boolean, out "cursor" int, out done boolean, out started int, out skipped int
)
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_targets int[];
  v_ids bigint[];
  v_skip bigint[];
  v_full bigint[];
  v_count int;
  v_started json;
  v_skipped json;
  v_refused json;
  v_several boolean := several_assignments(p_tenant);
  v_refusal text := 'Update Server: The target has as many open actions as it may have (' || max_open_actions() || ').';
  v_errors int := 0;
  v_policy int;
  v_policies int[]; -- of the types in p_types
  v_installed boolean := coalesce(p_safety::jsonb ->> 'skip' = 'installed', false);
  v_there text := 'Update Server: Distribution Set is already ' || case when v_installed then 'installed' else 'assigned' end || '. Skipping this action.';
  v_ms bigint := (extract(epoch from now()) * 1000)::bigint;
begin
  perform refresh_statistics();
  fenced := false; "cursor" := p_cursor; started := 0; skipped := 0;
  perform 1 from rollout_fences f where f.tenant_id = p_tenant and f.rollout_id = p_rollout and f.epoch = p_epoch and f.open for share;
  if not found then
    fenced := true; done := false;
    return;
  end if;

  v_policy := intern_policy(p_tenant, p_safety);
  v_policies := array(select intern_policy(p_tenant, y.body) from unnest(p_type_safeties) with ordinality y (body, n) order by y.n);

  -- The scan goes over the group whatever the status, so that a page is bounded by its rows, not by how many of them still wait.
  select array_agg(page.target_id order by page.target_id) filter (where page.status = 8),
         array_agg(page.id order by page.target_id) filter (where page.status = 8), max(page.target_id), count(*)
    into v_targets, v_ids, "cursor", v_count
    from (select a.target_id, a.id, a.status from actions a
           where a.tenant_id = p_tenant and a.rollout_id = p_rollout and a.group_id = p_group and a.target_id > p_cursor
           order by a.target_id limit p_limit) page;
  "cursor" := coalesce("cursor", p_cursor);
  done := v_count < p_limit;
  if v_targets is null then
    return;
  end if;

  select array_agg(l.id) filter (where l.assigned_set_id is distinct from p_set), array_agg(l.id) filter (where l.assigned_set_id = p_set)
    into v_ids, v_skip
    -- Where only what is installed is there already, a set that was merely assigned is given again; one that waits for another set gets this one.
    from (select s.target_id, t.id, case when v_several then null when not v_installed then s.assigned_set_id
                                         when s.installed_set_id = p_set then coalesce(s.assigned_set_id, p_set) end as assigned_set_id
            from unnest((select v_targets), (select v_ids)) as t (target_id, id)
            join target_state s on s.tenant_id = p_tenant and s.target_id = t.target_id
           order by s.target_id for no key update of s) l;
  if v_several then -- A statement of its own counts under the lock that has just been taken.
    select array_agg(x.id) filter (where x.fits), array_agg(x.id) filter (where not x.fits) into v_ids, v_full
      from (select a.id, may_open(p_tenant, a.target_id, 1) as fits
              from actions a where a.tenant_id = p_tenant and a.id = any ((select v_ids)::bigint[])) x;
  end if;

  -- "(select 8)": the partial index of scheduled actions must not be considered here, because on a just filled table it seems empty.
  if v_skip is not null then
    with finished as (
      update actions a set status = 0, active = false, revision = a.revision + 1, last_modified_by = p_initiator, last_modified_at = now()
       where a.tenant_id = p_tenant and a.id = any ((select v_skip)::bigint[]) and a.status = (select 8)
      returning a.id, a.target_id, a.controller_id, a.revision, a.force_type, a.weight
    ), history as (
      insert into action_history (tenant_id, action_id, revision, status, messages, occurred_at)
      select p_tenant, id, revision, 3, array[v_there], now()
        from finished
    ), installed as ( -- installedBase links to the newest FINISHED action of the installed set.
      update target_state s set installed_action_id = f.id, revision = s.revision + 1
        from finished f where s.tenant_id = p_tenant and s.target_id = f.target_id and s.installed_set_id = p_set
    )
    select count(*), json_agg(json_build_array(id, controller_id, revision, 8, 0, false, force_type, weight, null,
             array[v_there], v_ms, 3))
      into skipped, v_skipped from finished;
  end if;

  -- They fail and are not left behind, or the group would never finish; a retry of the rollout finds them.
  if v_full is not null then
    with refused as (
      update actions a set status = 1, active = false, revision = a.revision + 1, last_modified_by = p_initiator, last_modified_at = now()
       where a.tenant_id = p_tenant and a.id = any ((select v_full)::bigint[]) and a.status = (select 8)
      returning a.id, a.controller_id, a.revision, a.force_type, a.weight
    ), history as (
      insert into action_history (tenant_id, action_id, revision, status, messages, occurred_at)
      select p_tenant, id, revision, 1, array[v_refusal], now() from refused
    )
    select count(*), json_agg(json_build_array(id, controller_id, revision, 8, 1, false, force_type, weight, null, array[v_refusal], v_ms, 1))
      into v_errors, v_refused from refused;
  end if;

  if v_ids is not null then
    with running as (
      update actions a
         set status = case when p_confirmation_flow and p_confirmation
                            and (select y.target_id from auto_confirmations y
                                  where y.tenant_id = p_tenant and y.target_id = a.target_id) is null then 11 else 3 end,
             active = true, multi_assignment = v_several,
             -- The policy is chosen within the statement, because a function would be called once per row. 0 names targets without a type.
             policy_id = case when v_policies = '{}' then v_policy else coalesce(v_policies[array_position(p_types, coalesce((
               select g.target_type_id from targets g where g.tenant_id = p_tenant and g.id = a.target_id), 0))], v_policy) end,
             revision = a.revision + 1, last_modified_by = p_initiator, last_modified_at = now()
       where a.tenant_id = p_tenant and a.id = any ((select v_ids)::bigint[]) and a.status = (select 8)
      returning a.id, a.target_id, a.controller_id, a.status, a.revision, a.force_type, a.weight
    ), told as materialized (
      select r.*, case when p_confirmation_flow then 11 else 3 end::smallint as entry,
             first_messages(p_confirmation_flow, p_confirmation, c.message, p_message, p_initiator) as messages
        from running r
        left join lateral (
          select auto_confirmation_message(y.initiator, y.created_by, y.remark) as message from auto_confirmations y
           where p_confirmation_flow and p_confirmation and y.tenant_id = p_tenant and y.target_id = r.target_id
          offset 0) c on true
    ), history as (
      insert into action_history (tenant_id, action_id, revision, status, messages, occurred_at)
      select p_tenant, id, revision, entry, messages, now() from told
    )
    select count(*), array_agg(target_id),
           json_agg(json_build_array(id, controller_id, revision, 8, status, true, force_type, weight, null, messages, v_ms, entry))
      into started, v_targets, v_started from told;
  end if;

  if started > 0 then
    perform supersede_open_actions(p_tenant, p_tenant_name, v_targets, p_rollout, p_autoclose, p_initiator, p_traceparent);
    update target_state s set assigned_set_id = p_set, update_status = 2, revision = s.revision + 1
     where s.tenant_id = p_tenant and s.target_id = any ((select v_targets)::int[]);
    if v_policy is not null or v_policies <> '{}' then perform begin_watches(p_tenant, v_ids); end if;
  end if;

  insert into group_deltas (tenant_id, rollout_id, group_id, from_bucket, to_bucket, n)
  select p_tenant, p_rollout, p_group, 0, d.bucket, d.n from (values (1::smallint, started), (2::smallint, skipped), (3::smallint, v_errors)) d (bucket, n)
   where d.n > 0;

  insert into outbox (tenant_id, topic, type, common, items, traceparent)
  select p_tenant, 'action-events', 'io.update.action.status_changed.v1',
         action_event_common(p_tenant_name, p_set, p_set_name, p_set_version, p_rollout, p_group, p_initiator), i.items, p_traceparent
    from (values (v_skipped), (v_refused), (v_started)) i (items) where i.items is not null;
  skipped := skipped + v_errors;
end
$$;
