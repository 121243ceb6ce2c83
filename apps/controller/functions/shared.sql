-- Other functions begin and end with these: answers of commands, history, events and progress. The lock order is the same everywhere: target_state by
-- target id, ascending, then targets. They are functions because a lock must be taken in a statement of its own: only the next statement's snapshot
-- sees what the lock waited for. All bulk functions plan each time they run: a plan kept from an empty table would scan the whole of a full one.

-- Returns the stored answer of a command, or null for the first call. Of two calls at the same moment the second waits here, and the next statement's
-- snapshot then sees the answer of the first.
create or replace function command_answer(p_tenant int, p_command text) returns jsonb
language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('command ' || p_tenant || ' ' || p_command, 0));
  return (select c.answer from commands c where c.tenant_id = p_tenant and c.command_id = p_command order by c.at limit 1);
end
$$;

create or replace function keep_answer(p_tenant int, p_command text, p_answer jsonb) returns jsonb
language plpgsql as $$
begin
  insert into commands (tenant_id, command_id, answer) values (p_tenant, p_command, p_answer);
  return p_answer;
end
$$;

-- Every bulk function begins with this. A table that autovacuum read while its first rows were not yet committed counts as pages without rows; each
-- index that begins with the tenant then seems equally good, and a look-up by key reads all rows of the tenant: minutes instead of milliseconds. It
-- comes before any row lock, so that its own lock cannot cause a deadlock. A table of which few rows are left on many pages is below that too after every
-- analyze, so that it is analyzed once a minute at most; one that counts as empty is analyzed always.
create or replace function refresh_statistics() returns void
language plpgsql as $$
declare
  v_table text;
begin
  for v_table in
    select c.relname from pg_class c
     where c.relnamespace = 'controller'::regnamespace
       and c.relname in ('targets', 'target_state', 'target_polls', 'target_attributes', 'auto_confirmations', 'actions', 'action_watches')
       and pg_relation_size(c.oid) > 8192 * 50
       and (c.reltuples < c.relpages and (c.reltuples < 1 or coalesce(pg_stat_get_last_analyze_time(c.oid), '-infinity') < now() - interval '1 minute')
            or pg_relation_size(c.oid) > 8192 * (2 * c.relpages::bigint + 50))
  loop
    execute format('analyze (skip_locked) controller.%I', v_table);
  end loop;
end
$$;

-- Returns the bucket of an action in its group's progress (rollouts §4.10).
create or replace function action_bucket(p_status smallint, p_force_type smallint) returns smallint
language sql immutable parallel safe as $$
  select (case p_status
    when 8 then 0                                            -- scheduled
    when 0 then 2                                            -- finished
    when 1 then 3                                            -- error
    when 4 then 4                                            -- cancelled
    when 10 then case when p_force_type = 3 then 2 else 1 end -- downloaded is the end of a downloadonly action
    else 1                                                   -- running
  end)::smallint
$$;

-- Builds what all events of one outbox row share; what is not known is left out. Sets of superseded actions are named from their owner's view. Every report
-- and retrieval calls this: where all is known nothing is built to be parsed again without its nulls, which costs as much as building it. It is stable, as
-- what it calls is, because otherwise PostgreSQL could not put it in the place of its call.
create or replace function action_event_common(
  p_tenant_name text, p_set bigint, p_set_name text, p_set_version text, p_rollout bigint, p_group bigint, p_initiated_by text
) returns json
language sql stable parallel safe as $$
  select case
    when p_tenant_name is null or p_set is null or p_set_name is null or p_set_version is null or p_initiated_by is null
         or (p_rollout is null) <> (p_group is null) then
      json_strip_nulls(json_build_object(
        'tenant', p_tenant_name,
        'distributionSet', json_build_object('id', p_set, 'name', p_set_name, 'version', p_set_version),
        'rolloutId', p_rollout, 'rolloutGroupId', p_group, 'initiatedBy', p_initiated_by))
    when p_rollout is null then
      json_build_object(
        'tenant', p_tenant_name,
        'distributionSet', json_build_object('id', p_set, 'name', p_set_name, 'version', p_set_version),
        'initiatedBy', p_initiated_by)
    else
      json_build_object(
        'tenant', p_tenant_name,
        'distributionSet', json_build_object('id', p_set, 'name', p_set_name, 'version', p_set_version),
        'rolloutId', p_rollout, 'rolloutGroupId', p_group, 'initiatedBy', p_initiated_by)
  end
$$;

-- Builds what the event of a deleted action says: nothing but the action itself has changed, so its status is the one that it had.
create or replace function deleted_action_item(
  p_id bigint, p_controller_id text, p_revision bigint, p_status smallint, p_force_type smallint, p_weight int
) returns json
language sql stable parallel safe as $$
  select json_build_array(p_id, p_controller_id, p_revision + 1, p_status, p_status, false, p_force_type, p_weight, null, null,
                          (extract(epoch from now()) * 1000)::bigint, p_status)
$$;

-- Records a change of the given actions, whose rows are changed already (revision too). `p_previous` holds their earlier status, `p_entry` the status
-- of the history entry where it is not the action's own.
create or replace function record_action_changes(
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

-- Returns whether a rollout still needs its actions. While it is running, a target that lost its action would not count any more, and a dynamic
-- rollout would give it another one. Nothing changes a finished rollout any more.
create or replace function rollout_goes_on(p_tenant int, p_rollout bigint) returns boolean
language plpgsql stable as $$ -- in plain sql, the rollout engine's view would have to exist already
begin
  return exists (select from rollout_engine.rollouts_v1 r
                  where r.tenant_id = p_tenant and r.id = p_rollout and r.status not in ('finished', 'stopped', 'deleted'));
end
$$;

create or replace function several_assignments(p_tenant int) returns boolean
language plpgsql stable as $$ -- in plain sql, management's view would have to exist already
begin
  return exists (select from management.tenant_settings_v1 v
                  where v.tenant_id = p_tenant and v.key = 'multi.assignments.enabled' and v.value = 'true'::jsonb);
end
$$;

-- Returns how many open actions a target may have side by side (packages/contracts, maxOpenActions).
create or replace function max_open_actions() returns int language sql immutable parallel safe as 'select 100';

-- Returns whether the target may get p_more of them. It counts in the index of open actions, and no further than the limit.
create or replace function may_open(p_tenant int, p_target int, p_more int) returns boolean
language sql stable as $$
  select count(*) + p_more <= max_open_actions()
    from (select from actions a where a.tenant_id = p_tenant and a.target_id = p_target and a.active limit max_open_actions()) o
$$;
