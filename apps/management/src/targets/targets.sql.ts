import { statement } from "@harrier/db";
import type { PageSource } from "../lists/page.sql.ts";
import { selectList } from "../rows/columns.ts";
import { type SetRow, setColumns, setJoins } from "../rows/set.ts";
import { type TargetRow, targetColumns, targetJoins } from "../rows/target.ts";
import { inScope, type Scope } from "./scope.ts";

const visible = inScope("t.target_type_id", "$2");

export const targetList = (tenantId: number, scope: Scope): PageSource => ({
  from: "controller.targets_v1",
  columns: targetColumns,
  joins: targetJoins,
  large: true,
  // an unlimited caller's list is counted and sorted by the tenant's own indexes
  where: scope === null ? "t.tenant_id = $1" : `t.tenant_id = $1 and ${visible}`,
  values: scope === null ? [tenantId] : [tenantId, scope],
});

/** Targets that have a set assigned or installed; `known` tells whether the set is there. */
export const targetsOfSet = (
  column: "assigned_set_id" | "installed_set_id",
  tenantId: number,
  scope: Scope,
  setId: number,
): PageSource => ({
  from: "controller.targets_v1",
  columns: targetColumns,
  joins: targetJoins,
  large: true,
  where: `t.tenant_id = $1 and ${visible} and t.${column} = $3`,
  values: [tenantId, scope, setId],
  known: "exists (select from distribution_sets o where o.tenant_id = $1 and o.id = $3)",
});

export const findTargets = statement<[tenantId: number, scope: Scope, controllerIds: readonly string[]], TargetRow>(
  "management.find_targets",
  `select ${selectList(targetColumns)} from controller.targets_v1 t ${targetJoins}
    where t.tenant_id = $1 and ${visible} and t.controller_id = any($3::text[])`,
);

/** One row with no attributes for a target that has sent none; no row for an unknown one. */
export const readAttributes = statement<
  [tenantId: number, scope: Scope, controllerId: string],
  { attributes: Record<string, string> | null }
>(
  "management.read_attributes",
  `select (select jsonb_object_agg(a.key, a.value) from controller.target_attributes_v1 a
            where a.tenant_id = t.tenant_id and a.target_id = t.id) as attributes
     from controller.targets_v1 t where t.tenant_id = $1 and ${visible} and t.controller_id = $3`,
);

const setOfTarget = (name: string, column: string) =>
  statement<[tenantId: number, scope: Scope, controllerId: string], SetRow | { id: null }>(
    name,
    `select ${selectList(setColumns)}
       from controller.targets_v1 g
       left join distribution_sets t on t.tenant_id = g.tenant_id and t.id = g.${column}
       ${setJoins}
      where g.tenant_id = $1 and ${inScope("g.target_type_id", "$2")} and g.controller_id = $3`,
  );

/** One row with `id` null for a target without such a set; no row for an unknown target. */
export const findAssignedSet = setOfTarget("management.find_assigned_set", "assigned_set_id");
export const findInstalledSet = setOfTarget("management.find_installed_set", "installed_set_id");

/** Target types that are asked for and do not exist. */
export const missingTargetTypes = statement<[tenantId: number, ids: number[]], { id: number }>(
  "management.missing_target_types",
  `select g.id from unnest($2::bigint[]) as g(id)
    where not exists (select from target_types y where y.tenant_id = $1 and y.id = g.id) order by g.id`,
);

/** What `\${OVERDUE_TS}` is made of; null where the default applies. */
export const readPollTimes = statement<[tenantId: number], { pollingTime: string | null; pollingOverdueTime: string | null }>(
  "management.read_poll_times",
  `select max(value #>> '{}') filter (where key = 'pollingTime') as "pollingTime",
          max(value #>> '{}') filter (where key = 'pollingOverdueTime') as "pollingOverdueTime"
     from settings where tenant_id = $1 and key in ('pollingTime', 'pollingOverdueTime')`,
);
