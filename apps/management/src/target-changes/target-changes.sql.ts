import { statement } from "@harrier/db";
import { inScope, type PageSource, type Scope } from "@harrier/query";
import { setComplete } from "../rows/complete.ts";

/** Selects the targets of a list that the caller may see and change. */
export const listedTargets = (tenantId: number, scope: Scope, controllerIds: readonly string[]): PageSource => ({
  from: "controller.targets_v1",
  columns: {},
  where: `t.tenant_id = $1 and ${inScope("t.target_type_id", "$2")} and t.controller_id = any($3::text[])`,
  values: [tenantId, scope, controllerIds],
});

/** Answers which of the controllerIds name no target that the caller may see and change, in the order of the list. */
export const missingTargets = statement<[tenantId: number, scope: Scope, controllerIds: readonly string[]], { controllerId: string }>(
  "management.missing_targets",
  `select u.id as "controllerId" from unnest($3::text[]) with ordinality u (id, place)
    where not exists (select from controller.targets_v1 t
                       where t.tenant_id = $1 and ${inScope("t.target_type_id", "$2")} and t.controller_id = u.id)
    order by u.place`,
);

/** Answers the names of targets that are still there. */
export const nameTargets = statement<[tenantId: number, ids: readonly number[]], { controllerId: string }>(
  "management.name_targets",
  `select t.controller_id as "controllerId" from controller.targets_v1 t where t.tenant_id = $1 and t.id = any($2::int[]) order by t.id`,
);

/** Whether the tag and the type exist; null stands for none. */
export const findSubjects = statement<[tenantId: number, tagId: number | null, typeId: number | null], { tag: boolean; type: boolean }>(
  "management.find_subjects_of_change",
  `select $2::bigint is null or exists (select from target_tags g where g.tenant_id = $1 and g.id = $2) as tag,
          $3::bigint is null or exists (select from target_types y where y.tenant_id = $1 and y.id = $3) as type`,
);

export interface AssignableTarget {
  controllerId: string;
  /** Whether its type takes the sets of this type; a target without a type takes any. */
  compatible: boolean;
}

/** Reads those of the targets that are still there and within the scope, and whether each may get a set of a type. */
export const findAssignable = statement<[tenantId: number, ids: readonly number[], scope: Scope, setTypeId: number], AssignableTarget>(
  "management.find_assignable_targets",
  `select t.controller_id as "controllerId",
          t.target_type_id is null or exists (select from target_type_set_types c
                                               where c.tenant_id = $1 and c.target_type_id = t.target_type_id and c.set_type_id = $4) as compatible
     from controller.targets_v1 t where t.tenant_id = $1 and t.id = any($2::int[]) and ${inScope("t.target_type_id", "$3")} order by t.id`,
);

/** Reads what decides whether a set may be assigned (contract management.md §5.3). */
export const findSetState = statement<[tenantId: number, id: number], { valid: boolean; complete: boolean; deleted: boolean }>(
  "management.find_set_state",
  `select s.valid, ${setComplete("s")} as complete, s.deleted from distribution_sets s where s.tenant_id = $1 and s.id = $2`,
);
