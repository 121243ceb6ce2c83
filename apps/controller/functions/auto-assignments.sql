-- Assigns the set of a target filter to the next candidates of a pass. rollout-engine has found them in one statement; here each is read again under
-- its lock, so that a repeated, late or doubled call gives no target a second action. The filter's lock comes first, shared: a transaction that ends
-- or changes an auto-assignment takes it exclusively, and the next statement sees what it has committed. With multi-assignment, a target that has too
-- many open actions is skipped.
create or replace function auto_assign_chunk(
  p_tenant int, p_tenant_name text, p_filter bigint, p_epoch bigint, p_pass bigint, p_cursor int, p_limit int, p_first_id bigint,
  p_set bigint, p_set_name text, p_set_version text, p_set_type bigint, p_migration_step boolean, p_force_type smallint, p_weight int,
  p_schedule text, p_duration text, p_timezone text, p_window_ends timestamptz,
  p_confirmation boolean, p_max_actions int, p_autoclose boolean, p_confirmation_flow boolean, p_initiator text, p_message text,
  p_traceparent text, p_safety text, p_types bigint[], p_type_safeties text[],
  out fenced boolean, out "cursor" int, out done boolean, out created int
)
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_targets int[];
  v_new int[];
  v_count int;
  v_several boolean := several_assignments(p_tenant);
  v_policy int;
  v_policies int[]; -- of the types in p_types
  v_ids bigint[];
  v_ms bigint := (extract(epoch from now()) * 1000)::bigint;
begin
  perform refresh_statistics();
  fenced := false; "cursor" := p_cursor; created := 0;
  perform pg_advisory_xact_lock_shared(hashtextextended('harrier auto-assignment ' || p_tenant || '/' || p_filter, 0));
  perform 1 from rollout_engine.target_filters_v1 f
    join management.tenants_v1 n on n.tenant_id = f.tenant_id and n.status = 'active'
    join management.distribution_sets_v1 d on d.tenant_id = f.tenant_id and d.id = f.auto_assign_set_id
   where f.tenant_id = p_tenant and f.id = p_filter and f.auto_assign_epoch = p_epoch and f.auto_assign_set_id = p_set
     and d.valid and not d.deleted;
  if not found then
    fenced := true; done := false;
    return;
  end if;

  select array_agg(c.target_id order by c.target_id), max(c.target_id), count(*) into v_targets, "cursor", v_count
    from (select k.target_id from rollout_engine.auto_assign_candidates_v1 k
           where k.tenant_id = p_tenant and k.filter_id = p_filter and k.pass = p_pass and k.target_id > p_cursor
           order by k.target_id limit p_limit) c;
  "cursor" := coalesce("cursor", p_cursor);
  done := v_count < p_limit;
  if v_count = 0 then
    return;
  end if;

  select array_agg(l.target_id) into v_targets
    from (select s.target_id from target_state s
           where s.tenant_id = p_tenant and s.target_id = any ((select v_targets)::int[])
             and s.assigned_set_id is distinct from p_set
           order by s.target_id for no key update) l;
  -- It was checked a moment ago whether the type fits; it is checked again, because an administrator may have changed it.
  select array_agg(t.id order by t.id) into v_new
    from unnest((select v_targets)) as x (id)
    cross join lateral (select y.id, y.target_type_id from targets y where y.tenant_id = p_tenant and y.id = x.id offset 0) t
   where not exists (select from actions a where a.tenant_id = p_tenant and a.set_id = p_set and a.target_id = x.id)
     and (t.target_type_id is null or exists (
           select from management.target_type_set_types_v1 c
            where c.tenant_id = p_tenant and c.target_type_id = t.target_type_id and c.set_type_id = p_set_type))
     and (p_max_actions <= 0
          or (select count(*) from (select from actions a where a.tenant_id = p_tenant and a.target_id = x.id limit p_max_actions) m)
             < p_max_actions)
     and (not v_several or may_open(p_tenant, x.id, 1));
  if v_new is null then
    return;
  end if;

  perform supersede_open_actions(p_tenant, p_tenant_name, v_new, -1, p_autoclose, p_initiator, p_traceparent);
  perform cancel_scheduled_actions(p_tenant, p_tenant_name, v_new, -1, p_initiator, p_traceparent);
  update target_state s set assigned_set_id = p_set, update_status = 2, revision = s.revision + 1
   where s.tenant_id = p_tenant and s.target_id = any ((select v_new)::int[]);

  v_policy := intern_policy(p_tenant, p_safety);
  v_policies := array(select intern_policy(p_tenant, y.body) from unnest(p_type_safeties) with ordinality y (body, n) order by y.n);
  with items as materialized (
    select p_first_id + x.n - 1 as id, t.id as target_id, t.controller_id, first_status(p_confirmation_flow, p_confirmation, c.message) as status,
           case when p_confirmation_flow then 11 else 3 end::smallint as entry,
           first_messages(p_confirmation_flow, p_confirmation, c.message, p_message, p_initiator) as messages
      from unnest((select v_new)) with ordinality as x (id, n)
      cross join lateral (select y.id, y.controller_id from targets y where y.tenant_id = p_tenant and y.id = x.id offset 0) t
      left join lateral (
        select auto_confirmation_message(y.initiator, y.created_by, y.remark) as message from auto_confirmations y
         where p_confirmation_flow and y.tenant_id = p_tenant and y.target_id = x.id
        offset 0) c on true
  ), made as (
    insert into actions (tenant_id, id, target_id, controller_id, set_id, status, active, force_type, weight, migration_step,
                         maintenance_schedule, maintenance_duration, maintenance_timezone, maintenance_ends_at, multi_assignment, policy_id,
                         initiated_by, created_by, last_modified_by)
    select p_tenant, id, target_id, controller_id, p_set, status, true, p_force_type, p_weight, p_migration_step,
           p_schedule, p_duration, p_timezone, p_window_ends, v_several,
           -- The policy is chosen within the statement, because a function would be called once per row. 0 names targets without a type.
           case when v_policies = '{}' then v_policy else coalesce(v_policies[array_position(p_types, coalesce((
             select g.target_type_id from targets g where g.tenant_id = p_tenant and g.id = items.target_id), 0))], v_policy) end, p_initiator, p_initiator, p_initiator
      from items
  ), history as (
    insert into action_history (tenant_id, action_id, revision, status, messages, occurred_at)
    select p_tenant, id, 1, entry, messages, now() from items
  ), event as (
    insert into outbox (tenant_id, topic, type, common, items, traceparent)
    select p_tenant, 'action-events', 'io.update.action.created.v1',
           action_event_common(p_tenant_name, p_set, p_set_name, p_set_version, null, null, p_initiator),
           json_agg(json_build_array(id, controller_id, 1, null, status, true, p_force_type, p_weight, null, messages, v_ms, entry) order by id),
           p_traceparent
      from items
  )
  select count(*), array_agg(id) into created, v_ids from items;
  if v_policy is not null or v_policies <> '{}' then perform begin_watches(p_tenant, v_ids); end if;
end
$$;
