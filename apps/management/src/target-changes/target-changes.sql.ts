import { statement } from "@harrier/db";
import { inScope, type PageSource, type Scope } from "@harrier/query";

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
