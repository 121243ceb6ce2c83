-- Rollouts as other services read them: controller reads the members of a group, asks which rollouts are over and which is the newer one; management
-- names rollouts and groups in its lists.

create or replace view group_members_v1 as
  select tenant_id, rollout_id, group_id, ordinal, target_id from group_members;

create or replace view rollouts_v1 as
  select tenant_id, id, name, status, set_id, deleted,
         coalesce(reached_types, target_types) as reached_types, -- null: no types are known yet, so no restricted user sees the rollout
         created_at
    from rollouts;

create or replace view rollout_groups_v1 as
  select tenant_id, rollout_id, id, name, status, total_targets from rollout_groups;

grant select on group_members_v1, rollouts_v1 to harrier_controller, harrier_management;
grant select on rollout_groups_v1 to harrier_management;
