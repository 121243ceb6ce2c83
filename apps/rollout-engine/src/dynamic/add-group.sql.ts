import { statement } from "@harrier/db";
import type { GroupStatus, RolloutStatus } from "../domain/facts.ts";

type Values = [
  tenantId: number,
  tenant: string,
  rolloutId: number,
  /** The id of the last group when it was read; if it is no longer the last, nothing is added. */
  behind: number,
  /** Nothing is added unless the rollout has this status. */
  expected: RolloutStatus,
  status: GroupStatus,
];

/**
 * Adds a dynamic group behind the last one of a dynamic rollout, with its event. It copies that group's conditions and size (contract rollouts.md
 * §4.6, creation and next group). Its id comes directly from the sequence, so that it is higher than those of all groups before it. Answers no row
 * if the rollout is no longer as expected, or if another engine has added the group.
 */
export const addGroup = statement<Values, { id: number }>(
  "rollout_engine.add_dynamic_group",
  `with locked as materialized (
     select tenant_id, id, name, sequence, dynamic_suffix from rollouts
      where tenant_id = $1 and id = $3 and dynamic and status = $5 for no key update
   ), last as materialized (
     select g.* from locked l join rollout_groups g on g.tenant_id = l.tenant_id and g.rollout_id = l.id order by g.position desc limit 1
   ), counted as (
     update id_counters c set next_id = c.next_id + 1 from last where c.tenant_id = $1 and c.kind = 'group' and last.id = $4
     returning c.next_id - 1 as id
   ), made as (
     insert into rollout_groups (tenant_id, rollout_id, id, position, name, description, status, dynamic, target_filter, target_percentage,
                                 target_count, confirmation_required, success_condition, success_expression, success_action,
                                 success_action_expression, error_condition, error_expression, error_action, error_action_expression,
                                 created_by, last_modified_by)
     select p.tenant_id, p.rollout_id, c.id, p.position + 1, n.name, n.name, $6, true, p.target_filter, 0,
            case when p.dynamic then p.target_count else greatest(1, p.total_targets) end, p.confirmation_required, p.success_condition,
            p.success_expression, p.success_action, p.success_action_expression, p.error_condition, p.error_expression, p.error_action,
            p.error_action_expression, p.created_by, p.created_by
       from last p, locked l, counted c, lateral (select 'group-' || (p.position + 2) || l.dynamic_suffix as name) n
     on conflict do nothing
     returning id, name, status
   ), recorded as (
     update rollouts r set sequence = r.sequence + 1, revision = r.revision + 1, last_modified_at = now()
       from made where r.tenant_id = $1 and r.id = $3
   ), step as (
     insert into rollout_steps (tenant_id, rollout_id, sequence, group_id, status, actor)
     select l.tenant_id, l.id, l.sequence + 1, m.id, m.status, 'system' from locked l, made m
   ), event as (
     insert into outbox (tenant_id, topic, type, common, items)
     select l.tenant_id, 'rollout-events', 'io.update.rollout_group.created.v1',
            json_build_object('tenant', $2::text, 'rolloutId', l.id, 'name', l.name),
            json_build_array(json_build_object('subject', 'rollouts/' || l.id || '/groups/' || m.id, 'sequence', l.sequence + 1,
              'data', json_build_object('groupId', m.id, 'groupName', m.name, 'status', m.status, 'actor', 'system')))
       from locked l, made m
   ), notified as (
     update dynamic_leases b set due_at = now(), cooldown_until = now(), notifications = b.notifications + 1 from made where b.tenant_id = $1 and b.rollout_id = $3
   )
   select id from made`,
);
