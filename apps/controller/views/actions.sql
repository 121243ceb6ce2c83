create or replace view actions_v1 as
select tenant_id, id, target_id, controller_id, set_id, status, active, force_type, force_time, weight, rollout_id, group_id,
       last_status_code, initiated_by, created_by, created_at, last_modified_by, last_modified_at, revision,
       maintenance_schedule, maintenance_duration, maintenance_timezone,
       policy_id, tally, outcome, attempt, retry_of, retried_by
  from actions;

-- What is awaited of actions with a policy, and the policies themselves (contract beyond.md §1.4).
create or replace view action_watches_v1 as
select tenant_id, action_id, target_id, policy_id, stage, silent, since, claimed_at, evidence_at, polls, polls_wanted, due_at
  from action_watches;

create or replace view action_policies_v1 as
select tenant_id, id, body from action_policies;

-- That an action of a rollout was scheduled is written nowhere else: the action itself says it (ADR 61). Those of former releases have a row for it.
-- It is for one action at a time: a join would read the first entries of all.
create or replace view action_statuses_v1 as
select tenant_id, action_id, revision, status, messages, code, occurred_at, reported_at
  from action_history
union all
select a.tenant_id, a.id, 1, 8::smallint, '{}'::text[], null::int, a.created_at, a.created_at
  from actions a
 where a.rollout_id is not null and a.attempt = 1
   and not exists (select from action_history h
                    where h.tenant_id = a.tenant_id and h.action_id = a.id and h.revision = 1 and h.reported_at >= a.created_at);

-- The entries that have messages, all of which are rows: a list of actions looks for the last message of each, and planning the view above would cost it
-- twice as much.
create or replace view action_messages_v1 as
select tenant_id, action_id, revision, messages, reported_at
  from action_history
 where messages <> '{}';

-- May this device have the artifacts of this set now? Open and not being cancelled, claimed and not proven yet, or the installed one, which it may fetch again
-- (contract device.md §6.1, D12).
create or replace view artifact_grants_v1 as
select t.tenant_id, t.controller_id, a.id as action_id, a.set_id, a.active, true as downloadable
  from targets t
  join actions a on a.tenant_id = t.tenant_id and a.target_id = t.id
 where a.active and a.status <> 5
union all
select t.tenant_id, t.controller_id, a.id, a.set_id, a.active, true
  from targets t
  join action_watches w on w.tenant_id = t.tenant_id and w.target_id = t.id and w.stage in (4, 5)
  join actions a on a.tenant_id = w.tenant_id and a.id = w.action_id
union all
select t.tenant_id, t.controller_id, a.id, a.set_id, a.active, true
  from targets t
  join target_state s on s.tenant_id = t.tenant_id and s.target_id = t.id
  join actions a on a.tenant_id = s.tenant_id and a.id = s.installed_action_id
 where not a.active;

grant select on actions_v1, action_statuses_v1 to harrier_management, harrier_rollout_engine;
grant select on action_messages_v1, action_watches_v1, action_policies_v1 to harrier_management;
grant select on artifact_grants_v1 to harrier_artifact_store;
