-- expand
-- What goes with every change of actions, whoever makes it: one history row, one event, and the progress of rollout groups.
-- Functions, because a lock must be taken in a statement of its own: only the next statement's snapshot sees what the lock waited for.
-- All bulk functions plan each time they run: a plan kept from an empty table would scan the whole of a full one.

-- Every bulk function begins with this. A table that autovacuum looked at while its first rows were not yet committed counts as pages
-- without rows; each index that begins with the tenant then seems equally good, and a look-up by key reads all rows of the tenant:
-- minutes instead of milliseconds. Taken before any row lock, so that its own lock cannot close a circle.
create function refresh_statistics() returns void
language plpgsql as $$
declare
  v_table text;
begin
  for v_table in
    select c.relname from pg_class c
     where c.relnamespace = 'controller'::regnamespace and c.relname in ('targets', 'target_state', 'actions')
       and c.reltuples < greatest(c.relpages, 1) and pg_relation_size(c.oid) > 400000
  loop
    execute format('analyze controller.%I', v_table);
  end loop;
end
$$;

-- Bucket of an action in its group's progress (rollouts §4.10).
create function action_bucket(p_status smallint, p_force_type smallint) returns smallint
language sql immutable parallel safe as $$
  select (case p_status
    when 8 then 0                                            -- scheduled
    when 0 then 2                                            -- finished
    when 1 then 3                                            -- error
    when 4 then 4                                            -- cancelled
    when 10 then case when p_force_type = 3 then 2 else 1 end -- downloaded: the end of a download-only action
    else 1                                                   -- running
  end)::smallint
$$;

-- What all events of one outbox row share. Sets of superseded actions are named from their owner's view.
create function action_event_common(
  p_tenant_name text, p_set bigint, p_set_name text, p_set_version text, p_rollout bigint, p_group bigint, p_initiated_by text
) returns json
language sql immutable parallel safe as $$
  select json_strip_nulls(json_build_object(
    'tenant', p_tenant_name,
    'distributionSet', json_build_object('id', p_set, 'name', p_set_name, 'version', p_set_version),
    'rolloutId', p_rollout, 'rolloutGroupId', p_group, 'initiatedBy', p_initiated_by))
$$;

-- Records a change of the given actions, whose rows are changed already (revision too). `p_previous` holds their earlier status,
-- `p_entry` the status of the history entry where it is not the action's own.
create function record_action_changes(
  p_tenant int, p_tenant_name text, p_type text, p_ids bigint[], p_previous smallint[], p_entry smallint, p_messages text[],
  p_traceparent text
) returns void
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_ms bigint := (extract(epoch from now()) * 1000)::bigint;
begin
  if coalesce(cardinality(p_ids), 0) = 0 then
    return;
  end if;
  with changed as materialized (
    select a.id, a.controller_id, a.set_id, a.status, a.active, a.force_type, a.weight, a.rollout_id, a.group_id, a.initiated_by,
           a.revision, c.previous
      from unnest((select p_ids), (select p_previous)) as c (id, previous)
      join actions a on a.tenant_id = p_tenant and a.id = c.id
  ), history as (
    insert into action_history (tenant_id, action_id, revision, status, messages, occurred_at)
    select p_tenant, id, revision, coalesce(p_entry, status), coalesce(p_messages, '{}'), now() from changed
  ), deltas as (
    insert into group_deltas (tenant_id, rollout_id, group_id, from_bucket, to_bucket, n)
    select p_tenant, rollout_id, group_id, action_bucket(previous, force_type), action_bucket(status, force_type), count(*)
      from changed
     where rollout_id is not null and action_bucket(previous, force_type) <> action_bucket(status, force_type)
     group by 2, 3, 4, 5
  )
  insert into outbox (tenant_id, topic, type, common, items, traceparent)
  select p_tenant, 'action-events', p_type,
         action_event_common(p_tenant_name, c.set_id, min(s.name), min(s.version), c.rollout_id, c.group_id, c.initiated_by),
         json_agg(json_build_array(c.id, c.controller_id, c.revision, c.previous, c.status, c.active, c.force_type, c.weight,
                                   null, p_messages, v_ms, coalesce(p_entry, c.status)) order by c.id),
         p_traceparent
    from changed c
    left join management.distribution_sets_v1 s on s.tenant_id = p_tenant and s.id = c.set_id
   group by c.set_id, c.rollout_id, c.group_id, c.initiated_by;
end
$$;

-- A new assignment over open actions (device §7.4): asks the device to cancel them, or with autoclose closes them at once. Actions of
-- migration steps stay. The caller holds the locks of these targets' state. `p_rollout`'s own actions are spared.
create function supersede_open_actions(
  p_tenant int, p_tenant_name text, p_targets int[], p_rollout bigint, p_autoclose boolean, p_by text, p_traceparent text
) returns void
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_ids bigint[];
  v_previous smallint[];
begin
  with open as materialized (
    select a.id, a.status
      from unnest((select p_targets)) as t (id)
      cross join lateral (
        select o.id, o.status from actions o
         where o.tenant_id = p_tenant and o.target_id = t.id and o.active and not o.migration_step
           and o.rollout_id is distinct from p_rollout and (p_autoclose or o.status <> 5)
        offset 0) a
  ), changed as (
    update actions a
       set status = case when p_autoclose then 4 else 5 end, active = not p_autoclose, revision = a.revision + 1,
           last_modified_by = p_by, last_modified_at = now()
      from open where a.tenant_id = p_tenant and a.id = open.id
    returning a.id, open.status
  )
  select array_agg(id), array_agg(status) into v_ids, v_previous from changed;
  perform record_action_changes(p_tenant, p_tenant_name, 'io.update.action.status_changed.v1', v_ids, v_previous, null,
    array[case when p_autoclose then 'Update Server: close obsolete action due to new update'
               else 'Update Server: cancel obsolete action due to new update' end], p_traceparent);
end
$$;

-- Cancels the not yet started rollout actions of these targets (rollouts §4.4): the last one to claim a target wins.
create function cancel_scheduled_actions(
  p_tenant int, p_tenant_name text, p_targets int[], p_rollout bigint, p_by text, p_traceparent text
) returns void
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_ids bigint[];
  v_previous smallint[];
begin
  with waiting as materialized (
    select a.id, a.status
      from unnest((select p_targets)) as t (id)
      cross join lateral (
        select o.id, o.status from actions o
         where o.tenant_id = p_tenant and o.target_id = t.id and o.status = 8 and not o.migration_step
           and o.rollout_id is distinct from p_rollout
        offset 0) a
  ), changed as (
    update actions a
       set status = 4, active = false, revision = a.revision + 1, last_modified_by = p_by, last_modified_at = now()
      from waiting where a.tenant_id = p_tenant and a.id = waiting.id
    returning a.id, waiting.status
  )
  select array_agg(id), array_agg(status) into v_ids, v_previous from changed;
  perform record_action_changes(p_tenant, p_tenant_name, 'io.update.action.status_changed.v1', v_ids, v_previous, null,
    array['Update Server: cancel obsolete action due to new update'], p_traceparent);
end
$$;

-- The unfolded tail of one rollout is read by key alone, however many deltas it has gathered (group_progress_v1).
drop index group_deltas_rollout;
create index group_deltas_tail on group_deltas (tenant_id, rollout_id, txid, id);

-- The key share lock of this check cost more than the insert itself (27 of 47 µs per action). It is not missed: actions are only inserted
-- under the lock of the target's state row, and a target is only deleted under that lock, with its actions (delete_targets).
alter table actions drop constraint actions_tenant_id_target_id_fkey;
