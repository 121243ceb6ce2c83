import type { ResolvedPolicy } from "@harrier/contracts";
import { statement } from "@harrier/db";
import { type AuditRow, auditColumns, type Columns, epochMs, inScope, type PageSource, type Scope, selectList } from "@harrier/query";
import type { ActionSafetyRow } from "./action-safety.json.ts";

/** This is an action as the interface shows it (spec 001 §2.5). */
export interface ActionRow extends AuditRow {
  /** Only where one action is read. */
  revision?: number;
  id: number;
  controllerId: string;
  targetName: string | null;
  setId: number;
  setName: string | null;
  setVersion: string | null;
  status: number;
  active: boolean;
  forceType: number;
  forceTime: number | null;
  weight: number;
  rolloutId: number | null;
  rolloutName: string | null;
  /** Null for an action of no rollout, and where the group is gone with its rollout. */
  groupId: number | null;
  groupName: string | null;
  lastMessage: string | null;
  lastStatusCode: number | null;
  /** Either all three members of the window are set or none is. */
  maintenanceSchedule: string | null;
  maintenanceDuration: string | null;
  maintenanceTimezone: string | null;
  safety: ActionSafetyRow | null;
  /** Only an answer with one action needs it. */
  policy?: ResolvedPolicy | null;
  /** The attributes of the target that the policy expects, as the device has sent them. */
  seen?: { key: string; value: string }[] | null;
}

/** A message may be as long as a report: rows show so many characters of it. */
const maxMessage = 512;
/** Entries without a message may follow one that has one; it is looked for in so many of the newest. */
const newest = 10;

/**
 * Selects the last message of an action's history. The entries are read by their key, since an entry's revision is the action's own, and no partition is
 * older than the action. Nearly always the newest entry has one, so that the others are not read.
 */
const lastMessage = (action: string): string => {
  const of = (revisions: string): string =>
    `select left(h.messages[cardinality(h.messages)], ${maxMessage}) from controller.action_messages_v1 h
      where h.tenant_id = ${action}.tenant_id and h.action_id = ${action}.id and h.revision ${revisions}
        and h.reported_at >= ${action}.created_at`;
  const before = `between ${action}.revision - ${newest - 1} and ${action}.revision - 1`;
  return `coalesce((${of(`= ${action}.revision`)} limit 1), (${of(before)} order by h.revision desc limit 1))`;
};

/** Selects how an action is watched; most actions have neither a policy nor an attempt before or behind them, and nothing is looked up for these. */
const safety = `case when t.policy_id is not null or t.attempt > 1 or t.retried_by is not null then json_build_object(
    'tally', t.tally, 'outcome', t.outcome, 'attempt', t.attempt, 'retryOf', t.retry_of, 'retriedBy', t.retried_by, 'watch', (
      select json_build_object('stage', w.stage, 'silent', w.silent, 'since', ${epochMs("w.since")}, 'claimedAt', ${epochMs("w.claimed_at")},
               'evidenceAt', ${epochMs("w.evidence_at")}, 'polls', w.polls, 'dueAt', ${epochMs("w.due_at")})
        from controller.action_watches_v1 w where w.tenant_id = t.tenant_id and w.action_id = t.id)) end`;

const columns: Columns = {
  id: "t.id",
  controllerId: "t.controller_id",
  targetName: "g.name",
  setId: "t.set_id",
  setName: "ds.name",
  setVersion: "ds.version",
  status: "t.status",
  active: "t.active",
  forceType: "t.force_type",
  forceTime: epochMs("t.force_time"),
  weight: "t.weight",
  rolloutId: "t.rollout_id",
  rolloutName: "ro.name",
  groupId: "rg.id",
  groupName: "rg.name",
  lastMessage: lastMessage("t"),
  lastStatusCode: "t.last_status_code",
  maintenanceSchedule: "t.maintenance_schedule",
  maintenanceDuration: "t.maintenance_duration",
  maintenanceTimezone: "t.maintenance_timezone",
  safety,
  ...auditColumns("t"),
};

const fullColumns: Columns = {
  ...columns,
  revision: "t.revision",
  policy: "(select p.body from controller.action_policies_v1 p where p.tenant_id = t.tenant_id and p.id = t.policy_id)",
  seen: `case when t.policy_id is not null then (
    select json_agg(json_build_object('key', x.key, 'value', x.value) order by x.key)
      from controller.action_watches_v1 w
      join controller.action_policies_v1 p on p.tenant_id = w.tenant_id and p.id = w.policy_id
      join controller.target_attributes_v1 x on x.tenant_id = w.tenant_id and x.target_id = w.target_id
           and x.key in (select e ->> 'key' from jsonb_array_elements(p.body #> '{proof,expected}') e)
     where w.tenant_id = t.tenant_id and w.action_id = t.id) end`,
};

// The join is a left one because the set or the rollout may be gone; the target exists for as long as its action does.
const joins = `left join controller.targets_v1 g on g.tenant_id = t.tenant_id and g.id = t.target_id
  left join distribution_sets ds on ds.tenant_id = t.tenant_id and ds.id = t.set_id
  left join rollout_engine.rollouts_v1 ro on ro.tenant_id = t.tenant_id and ro.id = t.rollout_id
  left join rollout_engine.rollout_groups_v1 rg on rg.tenant_id = t.tenant_id and rg.rollout_id = t.rollout_id and rg.id = t.group_id`;

const targetInScope = `exists (select from controller.targets_v1 v
    where v.tenant_id = t.tenant_id and v.id = t.target_id and ${inScope("v.target_type_id", "$2")})`;

/** Lists the actions of all targets that the caller may see. */
export const actionList = (tenantId: number, scope: Scope): PageSource => ({
  from: "controller.actions_v1",
  columns,
  joins,
  where: scope === null ? "t.tenant_id = $1" : `t.tenant_id = $1 and ${targetInScope}`,
  values: scope === null ? [tenantId] : [tenantId, scope],
});

const visibleTarget = `select v.id from controller.targets_v1 v
    where v.tenant_id = $1 and ${inScope("v.target_type_id", "$2")} and v.controller_id = $3`;

/** Lists the actions of one target; `known` is true when the target exists. */
export const actionsOfTarget = (tenantId: number, scope: Scope, controllerId: string): PageSource => ({
  from: "controller.actions_v1",
  columns,
  joins,
  where: `t.tenant_id = $1 and t.target_id = (${visibleTarget})`,
  values: [tenantId, scope, controllerId],
  known: `exists (${visibleTarget})`,
});

export const findAction = statement<[tenantId: number, scope: Scope, id: number], ActionRow>(
  "management.find_action",
  `select ${selectList(fullColumns)} from controller.actions_v1 t ${joins} where t.tenant_id = $1 and ${targetInScope} and t.id = $3`,
);

/**
 * Reads one action of a target. There is one row with `id` null where the target has no action of that id, and no row for an unknown
 * target. `exists` says that another target that the caller may see has the action.
 */
export const findActionOfTarget = statement<
  [tenantId: number, scope: Scope, controllerId: string, id: number],
  (ActionRow | { id: null }) & { exists: boolean }
>(
  "management.find_action_of_target",
  `select ${selectList(fullColumns)}, exists (
            select from controller.actions_v1 o
              join controller.targets_v1 v on v.tenant_id = o.tenant_id and v.id = o.target_id
             where o.tenant_id = $1 and o.id = $4 and ${inScope("v.target_type_id", "$2")}) as "exists"
     from (${visibleTarget}) f
     left join controller.actions_v1 t on t.tenant_id = $1 and t.target_id = f.id and t.id = $4
     ${joins}`,
);

export interface StatusRow {
  id: number;
  status: number;
  messages: string[];
  code: number | null;
  reportedAt: number;
  timestamp: number;
}

/** Lists the history of an action; the id of an entry is the revision of the action that it made. */
export const statusesOfAction = (tenantId: number, actionId: number): PageSource => ({
  from: "controller.action_statuses_v1",
  columns: {
    id: "t.revision",
    status: "t.status",
    messages: "t.messages",
    code: "t.code",
    reportedAt: epochMs("t.reported_at"),
    timestamp: epochMs("t.occurred_at"),
  },
  where: "t.tenant_id = $1 and t.action_id = $2",
  values: [tenantId, actionId],
});
