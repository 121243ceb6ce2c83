import { statement } from "@harrier/db";
import { inScope, type PageSource, type Scope, selectList, targetColumns, targetJoins } from "@harrier/query";
import { type TagRow, tagColumns } from "./tags.sql.ts";

/** Lists the targets that have a tag; `known` is true when the tag exists. */
export const targetsOfTag = (tenantId: number, scope: Scope, tagId: number): PageSource => ({
  from: "controller.targets_v1",
  columns: targetColumns,
  joins: targetJoins,
  where: `t.tenant_id = $1 and ${inScope("t.target_type_id", "$2")}
    and exists (select from controller.target_tag_links_v1 l where l.tenant_id = t.tenant_id and l.target_id = t.id and l.tag_id = $3)`,
  values: [tenantId, scope, tagId],
  known: "exists (select from target_tags o where o.tenant_id = $1 and o.id = $3)",
});

/** Returns those of some targets that exist, and whether each has the tag. */
export const whoHasTag = statement<
  [tenantId: number, scope: Scope, tagId: number, controllerIds: readonly string[]],
  { controllerId: string; tagged: boolean }
>(
  "management.targets_with_tag",
  `select t.controller_id as "controllerId",
          exists (select from controller.target_tag_links_v1 l
                   where l.tenant_id = t.tenant_id and l.target_id = t.id and l.tag_id = $3) as tagged
     from controller.targets_v1 t
    where t.tenant_id = $1 and ${inScope("t.target_type_id", "$2")} and t.controller_id = any($4::text[])`,
);

/** Lists the tags of a target; one without tags gives one row with no tag, an unknown one none. */
export const tagsOfTarget = statement<[tenantId: number, scope: Scope, controllerId: string], TagRow | { id: null }>(
  "management.tags_of_target",
  `select ${selectList(tagColumns)}
     from controller.targets_v1 g
     left join (controller.target_tag_links_v1 l join target_tags t on t.tenant_id = l.tenant_id and t.id = l.tag_id)
       on l.tenant_id = g.tenant_id and l.target_id = g.id
    where g.tenant_id = $1 and ${inScope("g.target_type_id", "$2")} and g.controller_id = $3
    order by t.name, t.id`,
);
