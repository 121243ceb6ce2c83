/** Each open action of `readsSql` has so many entries: of a million targets, 10 million. */
export const entriesPerAction = 100;
/** This is above every id that the services assign. */
export const rolloutId = 1_600_000_000;
const errors = 50_000;
/** The first targets of the fleet are the group of a rollout. */
export const membersOfGroup = 50_000;

/** Gives each action a long history. Neither keys nor triggers are what is measured here. */
export const historySql = `
  set session_replication_role = replica;
  update controller.actions set revision = ${entriesPerAction} where tenant_id = 1;
  insert into controller.action_history (tenant_id, action_id, revision, status, messages, occurred_at, reported_at)
    select 1, a.id, n, 3, array['Download ' || n || ' % of image.swu'], now(), now()
      from controller.actions a cross join generate_series(1, ${entriesPerAction}) n where a.tenant_id = 1;
  set session_replication_role = origin;`;

/** Adds failures of a rollout up as the background does, more kinds than are told apart. */
export const failuresSql = `
  set search_path to controller;
  select add_rollout_failures(f.page)
    from (select json_agg(json_build_array(1, ${rolloutId}, ${rolloutId} + n % 10, 1700000000000 + n, n, t.controller_id, n % 6000,
                                           'No space in block ' || n || ' of image.swu')) as page
            from generate_series(1, ${errors}) n
            join targets t on t.tenant_id = 1 and t.id = 1000000000 + n
           group by n / 1000) f;
  reset search_path;
  insert into rollout_engine.rollouts (tenant_id, id, name, status, target_filter, set_id, set_name, set_version, set_type_id, migration_step,
                                       force_type, created_by, last_modified_by)
    select 1, ${rolloutId} + n, 'reads-' || n, case when n % 9 = 0 then 'paused' else 'finished' end, 'name==*', 1000000001, 's', '1', 1, false, 1,
           'x', 'x' from generate_series(0, 2400) n;
  insert into rollout_engine.rollout_groups (tenant_id, rollout_id, id, position, name, status, target_percentage, confirmation_required,
      success_condition, success_expression, success_action, success_action_expression, error_condition, error_expression, error_action,
      error_action_expression, total_targets, created_by, last_modified_by)
    values (1, ${rolloutId}, ${rolloutId}, 0, 'g', 'finished', 100, false, 'THRESHOLD', '50', 'NEXTGROUP', '', 'THRESHOLD', '50', 'PAUSE', '',
            ${membersOfGroup}, 'x', 'x');
  insert into rollout_engine.group_members (tenant_id, rollout_id, group_id, ordinal, target_id)
    select 1, ${rolloutId}, ${rolloutId}, n, 1000000001 + n from generate_series(0, ${membersOfGroup} - 1) n;`;

/** So many sets are told apart each day. */
const setsOfDay = 20;
const month = "date_trunc('month', now() - n * interval '1 month')::date";
/** Ten years of months, and fifty tenants beside this one. */
export const figuresSql = `
  update management.tenants set created_at = now() - interval '9 years' where tenant_id = 1;
  insert into controller.monthly_counts (tenant_id, month, targets_created, actions_created)
    select 1 + t, ${month}, 9000, 90000 from generate_series(0, 119) n, generate_series(0, 50) t on conflict do nothing;
  insert into rollout_engine.rollout_months (tenant_id, month, created) select 1, ${month}, 20 from generate_series(0, 119) n on conflict do nothing;
  insert into artifact_store.data_traffic (tenant_id, month, slot, bytes)
    select 1, ${month}, s, 5 from generate_series(0, 119) n, generate_series(0, 7) s on conflict do nothing;
  insert into controller.fleet_days (tenant_id, kind, day, key, type_id, n)
    select 1, k, now()::date - d, 1000000001 + s, 0, 1000 * s from generate_series(1, 399) d, generate_series(1, ${setsOfDay}) s, generate_series(1, 2) k
    on conflict do nothing;
  insert into controller.fleet_day_walks (tenant_id, day, counted_at) select 1, now()::date - d, now() from generate_series(1, 399) d on conflict do nothing;
  insert into management.artifact_storage_months (tenant_id, month, bytes) select 1, ${month}, 7 from generate_series(0, 119) n on conflict do nothing;`;

export const settleFigures =
  "vacuum analyze controller.actions, controller.action_history, controller.rollout_failures, controller.fleet_counts, controller.monthly_counts, controller.fleet_days, controller.fleet_day_walks, " +
  "rollout_engine.rollouts, rollout_engine.group_members, rollout_engine.rollout_months, artifact_store.data_traffic, management.artifact_storage_months";
