import { type CompiledQuery, statement } from "@harrier/db";
import type { PageSource } from "../lists/page.sql.ts";
import { targetColumns, targetJoins } from "../rows/target.ts";
import { inScope, type Scope } from "../targets/scope.ts";

const visible = inScope("t.target_type_id", "$2");
const folded = "lower(t.target_group)";

/** Everything below a group, as a range of the index: '0' is the character behind '/'. A pattern would read a '%' in the name as any text. */
const below = `(${folded} ~>=~ (lower($3) || '/') and ${folded} ~<~ (lower($3) || '0'))`;

/** Targets of a group, in any case, and where asked for of those below it. */
export const targetsOfGroup = (
  tenantId: number,
  scope: Scope,
  { group, subgroups }: { group: string; subgroups: boolean },
): PageSource => ({
  from: "controller.targets_v1",
  columns: targetColumns,
  joins: targetJoins,
  large: true,
  where: `t.tenant_id = $1 and ${visible} and ${subgroups ? `(${folded} = lower($3) or ${below})` : `${folded} = lower($3)`}`,
  values: [tenantId, scope, group],
});

const order = `order by ${folded} using ~<~, t.target_group using ~<~ limit 1`;

/** The first group that fulfils one of the conditions, the earlier condition first. */
const firstGroup = (...conditions: string[]): string =>
  `select n.name from (${conditions
    .map(
      (condition) =>
        `(select t.target_group as name from controller.targets_v1 t
           where t.tenant_id = $1 and t.target_group is not null and ${condition} ${order})`,
    )
    .join(" union all ")}) n limit 1`;

/** What lies behind a name: the same word in another case, or another word. */
const behind = (name: string): [string, string] => [
  `${folded} = lower(${name}) and t.target_group ~>~ ${name}`,
  `${folded} ~>~ lower(${name})`,
];

/**
 * Names of the groups that some target is in, behind `after` (null: from the first). One look at the index per group, however many targets
 * are in it.
 */
export const listGroups = statement<[tenantId: number, after: string | null, limit: number], { name: string }>(
  "management.target_groups",
  `with recursive names (name, n) as (
     (select f.name, 1
        from (select ($2::text) as after) a, lateral (${firstGroup("a.after is null", ...behind("a.after"))}) f)
     union all
     select f.name, p.n + 1 from names p, lateral (${firstGroup(...behind("p.name"))}) f where p.n < $3
   )
   select name from names order by n`,
);

/** The same among the targets of some types: as many as the caller may see are looked at. */
export const listGroupsInScope = statement<[tenantId: number, after: string | null, limit: number, scope: Scope], { name: string }>(
  "management.target_groups_in_scope",
  `select t.target_group as name from controller.targets_v1 t
    where t.tenant_id = $1 and ${inScope("t.target_type_id", "$4")} and t.target_group is not null
      and ($2::text is null or ${folded} ~>~ lower($2) or (${folded} = lower($2) and t.target_group ~>~ $2))
    group by 1 order by lower(t.target_group) using ~<~, 1 using ~<~ limit $3`,
);

/** Ids of the targets that a source means and that are not where they shall be (null: in no group), one more than `most` if there are. */
export function targetsToMove({ from, where, values }: PageSource, group: string | null, most: number): CompiledQuery<{ id: number }> {
  const [there, limit] = [values.length + 1, values.length + 2];
  const sql = `select t.id from ${from} t where ${where} and t.target_group is distinct from $${there}::text limit $${limit}`;
  return { sql, bindings: [...values, group, most + 1] };
}
