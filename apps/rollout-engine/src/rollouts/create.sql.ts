import type { FrozenSafety, MaintenanceWindow } from "@harrier/contracts";
import { type CompiledQuery, statement } from "@harrier/db";
import type { Ast } from "@harrier/fiql";
import type { Scope } from "@harrier/query";
import { filterPredicate, matchingTargets, type Selection } from "../matching/matching.ts";

export interface SetRow {
  id: number;
  typeId: number;
  valid: boolean;
  complete: boolean;
  deleted: boolean;
}

/** Reads the set as management publishes it, before anything is reserved. */
export const readSet = statement<[tenantId: number, setId: number], SetRow>(
  "rollout_engine.read_set_of_rollout",
  `select id, type_id as "typeId", valid, complete, deleted from management.distribution_sets_v1 where tenant_id = $1 and id = $2`,
);

export interface Counts {
  total: number;
  nameTaken: boolean;
  /** The matching targets per filter, in the given order, and how many of them match an earlier filter too. */
  matching: number[];
  overlapping: number[];
}

/**
 * Counts the targets of a rollout, and for each distinct filter of its groups those that match and those that an earlier filter matches too. It is
 * one walk over the targets however many groups there are.
 */
export function countTargets(selection: Selection, name: string, filters: readonly (Ast | null)[]): CompiledQuery<Counts> {
  const { sql, values } = matchingTargets(selection);
  const flags = filters.map((filter, index) => `${filter ? `${filterPredicate(selection, filter, values)} is true` : "true"} as f${index}`);
  const matching = filters.map((_, index) => `(count(*) filter (where f${index}))::int`);
  const overlapping = filters.map((_, index) => {
    const earlier = filters.slice(0, index).map((_earlier, other) => `f${other}`);
    return earlier.length === 0 ? "0" : `(count(*) filter (where f${index} and (${earlier.join(" or ")})))::int`;
  });
  values.push(name);
  // without the offset each flag would be computed anew wherever it is used
  const fence = flags.length > 0 ? " offset 0" : "";
  const text = `select count(*)::int as total,
      exists (select 1 from rollouts r where r.tenant_id = $1 and r.name = $${values.length}) as "nameTaken",
      array[${matching.join(", ")}]::int[] as matching, array[${overlapping.join(", ")}]::int[] as overlapping
    from (select ${["1 as one", ...flags].join(", ")} from controller.targets_v1 t where ${sql}${fence}) m`;
  return { sql: text, bindings: values };
}

export interface NewGroup {
  id: number;
  position: number;
  name: string;
  description: string | null;
  filter: string;
  percentage: number;
  /** A dynamic group takes so many targets; it waits for them from the start. */
  targetCount: number | null;
  confirmationRequired: boolean;
  successCondition: string;
  successExpression: string;
  successAction: string;
  successActionExpression: string;
  errorCondition: string;
  errorExpression: string;
  errorAction: string;
  errorActionExpression: string;
}

export interface NewRollout {
  id: number;
  name: string;
  description: string | null;
  filter: string;
  setId: number;
  setName: string;
  setVersion: string;
  setTypeId: number;
  migrationStep: boolean;
  forceType: number;
  forceTime: number;
  weight: number;
  maintenanceWindow: MaintenanceWindow | null;
  startAt: number | null;
  targetTypes: Scope;
  totalTargets: number;
  /** Whether the creator may approve rollouts. */
  creatorApproves: boolean;
  createdBy: string;
  safety: FrozenSafety | null;
  dynamic: boolean;
  dynamicSuffix: string;
}

/** Inserts a rollout with its groups, its lease (due at once) and the events of its creation, and counts it in its month, in one statement. */
export const insertRollout = statement<
  [tenantId: number, tenant: string, traceparent: string | null, rollout: string, groups: string],
  { id: number }
>(
  "rollout_engine.insert_rollout",
  `with rollout as (
     insert into rollouts (tenant_id, id, name, description, status, target_filter, set_id, set_name, set_version, set_type_id,
                           migration_step, force_type, force_time, weight, maintenance_window, start_at, target_types, total_targets, sequence,
                           status_step, creator_approves, created_by, last_modified_by, safety, dynamic, dynamic_suffix)
     select $1, x.id, x.name, x.description, 'creating', x.filter, x."setId", x."setName", x."setVersion", x."setTypeId",
            x."migrationStep", x."forceType", x."forceTime", x.weight, nullif(x."maintenanceWindow", 'null'), to_timestamp(x."startAt" / 1000.0), x."targetTypes", x."totalTargets",
            1 + jsonb_array_length($5::jsonb), 1, x."creatorApproves", x."createdBy", x."createdBy", nullif(x.safety, 'null'), x.dynamic, x."dynamicSuffix"
       from jsonb_to_record($4::jsonb) as x(
              id bigint, name text, description text, filter text, "setId" bigint, "setName" text, "setVersion" text, "setTypeId" bigint,
              "migrationStep" boolean, "forceType" smallint, "forceTime" bigint, weight int, "maintenanceWindow" jsonb, "startAt" bigint, "targetTypes" bigint[],
              "totalTargets" int, "creatorApproves" boolean, "createdBy" text, safety jsonb, dynamic boolean, "dynamicSuffix" text)
     returning tenant_id, id, name, set_id, set_name, set_version, total_targets, created_by, dynamic
   ), groups as (
     insert into rollout_groups (tenant_id, rollout_id, id, position, name, description, status, target_filter, target_percentage,
                                 dynamic, target_count,
                                 confirmation_required, success_condition, success_expression, success_action, success_action_expression,
                                 error_condition, error_expression, error_action, error_action_expression, created_by, last_modified_by)
     select r.tenant_id, r.id, x.id, x.position, x.name, x.description, case when x."targetCount" is null then 'creating' else 'ready' end, x.filter,
            x.percentage, x."targetCount" is not null, x."targetCount",
            x."confirmationRequired", x."successCondition", x."successExpression", x."successAction", x."successActionExpression",
            x."errorCondition", x."errorExpression", x."errorAction", x."errorActionExpression", r.created_by, r.created_by
       from rollout r, jsonb_to_recordset($5::jsonb) as x(
              id bigint, position int, name text, description text, filter text, percentage real, "targetCount" int, "confirmationRequired" boolean,
              "successCondition" text, "successExpression" text, "successAction" text, "successActionExpression" text,
              "errorCondition" text, "errorExpression" text, "errorAction" text, "errorActionExpression" text)
     returning tenant_id, rollout_id, id, position, name, status, created_by
   ), step as (
     insert into rollout_steps (tenant_id, rollout_id, sequence, group_id, status, actor, total_targets)
     select tenant_id, id, 1, null, 'creating', created_by, total_targets from rollout
     union all
     select tenant_id, rollout_id, 2 + position, id, status, created_by, null from groups
   ), counted as (
     insert into rollout_months as m (tenant_id, month, created)
     select tenant_id, date_trunc('month', now() at time zone 'UTC')::date, 1 from rollout
     on conflict (tenant_id, month) do update set created = m.created + 1
   ), lease as (
     insert into leases (tenant_id, rollout_id) select tenant_id, id from rollout
   ), fill as (
     insert into dynamic_leases (tenant_id, rollout_id) select tenant_id, id from rollout where dynamic
   ), event as (
     insert into outbox (tenant_id, topic, type, common, items, traceparent)
     select r.tenant_id, 'rollout-events', 'io.update.rollout.created.v1',
            json_build_object('tenant', $2::text, 'rolloutId', r.id, 'name', r.name),
            (select json_agg(i.item order by i.n) from (
               select 1 as n, json_build_object('type', 'io.update.rollout.created.v1', 'subject', 'rollouts/' || r.id, 'sequence', 1,
                        'data', json_build_object('status', 'creating', 'actor', r.created_by, 'totalTargets', r.total_targets,
                          'distributionSet', json_build_object('id', r.set_id, 'name', r.set_name, 'version', r.set_version))) as item
               union all
               select 2 + g.position, json_build_object('type', 'io.update.rollout_group.created.v1',
                        'subject', 'rollouts/' || r.id || '/groups/' || g.id, 'sequence', 2 + g.position,
                        'data', json_build_object('groupId', g.id, 'groupName', g.name, 'status', g.status, 'actor', r.created_by))
                 from groups g) i), $3
       from rollout r
   )
   select id from rollout`,
);
