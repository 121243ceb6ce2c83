import { statement } from "@harrier/db";
import { inScope, type PageSource, type Scope, selectList, type TargetRow, targetColumns, targetJoins } from "@harrier/query";
import { type SetRow, setColumns, setJoins } from "../rows/set.ts";
import { fullTargetColumns, fullTargetJoins } from "./beside-target.sql.ts";

// The target's own members, `targetColumns`, are in packages/query/src/target-columns.ts, because rollout-engine shows them too; beside-target.sql.ts has
// what a full row shows beside them.

const visible = inScope("t.target_type_id", "$2");

export const targetList = (tenantId: number, scope: Scope, full = false): PageSource => ({
  from: "controller.targets_v1",
  columns: full ? fullTargetColumns : targetColumns,
  joins: full ? fullTargetJoins : targetJoins,
  large: true,
  // The list of a caller without restriction is counted by the tenant's own counter and sorted by its indexes.
  ...(scope === null ? { count: "select c.n from controller.target_counts_v1 c where c.tenant_id = $1" } : {}),
  where: scope === null ? "t.tenant_id = $1" : `t.tenant_id = $1 and ${visible}`,
  values: scope === null ? [tenantId] : [tenantId, scope],
});

/** Lists the targets that have a set assigned or installed; `known` is true when the set exists. */
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

/** Lists the attributes of a target; one that has sent none gives one row with no attributes, an unknown one none. */
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

/** Returns the assigned or installed set of a target; a target without such a set gives one row with `id` null, an unknown one none. */
export const findAssignedSet = setOfTarget("management.find_assigned_set", "assigned_set_id");
export const findInstalledSet = setOfTarget("management.find_installed_set", "installed_set_id");

/** Returns the requested target types that do not exist. */
export const missingTargetTypes = statement<[tenantId: number, ids: number[]], { id: number }>(
  "management.missing_target_types",
  `select g.id from unnest($2::bigint[]) as g(id)
    where not exists (select from target_types y where y.tenant_id = $1 and y.id = g.id) order by g.id`,
);
