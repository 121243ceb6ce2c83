import { type CompiledQuery, statement } from "@harrier/db";
import { inScope, type PageSource, type Scope, targetColumns, targetJoins } from "@harrier/query";

const visible = inScope("t.target_type_id", "$2");
const folded = "lower(t.target_group)";

/**
 * This condition selects everything below a group as a range of the index: '0' is the character after '/'. A pattern would take a '%' in
 * the name for any text.
 */
const below = `(${folded} ~>=~ (lower($3) || '/') and ${folded} ~<~ (lower($3) || '0'))`;

/** Lists the targets of a group, in any case of letters, and on request those of the groups below it. */
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

/** Returns the first group that fulfils one of the conditions; an earlier condition goes first. */
const firstGroup = (...conditions: string[]): string =>
  `select n.name from (${conditions
    .map(
      (condition) =>
        `(select t.target_group as name from controller.targets_v1 t
           where t.tenant_id = $1 and t.target_group is not null and ${condition} ${order})`,
    )
    .join(" union all ")}) n limit 1`;

/** The next name is the same word in another case, or another word. */
const behind = (name: string): [string, string] => [
  `${folded} = lower(${name}) and t.target_group ~>~ ${name}`,
  `${folded} ~>~ lower(${name})`,
];

/**
 * Lists the names of the groups that some target is in, beginning after `after` (null means with the first). It reads the index once per
 * group, however many targets the group has.
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

/** Does the same for the targets of some types: it reads the targets that the user may see. */
export const listGroupsInScope = statement<[tenantId: number, after: string | null, limit: number, scope: Scope], { name: string }>(
  "management.target_groups_in_scope",
  `select t.target_group as name from controller.targets_v1 t
    where t.tenant_id = $1 and ${inScope("t.target_type_id", "$4")} and t.target_group is not null
      and ($2::text is null or ${folded} ~>~ lower($2) or (${folded} = lower($2) and t.target_group ~>~ $2))
    group by 1 order by lower(t.target_group) using ~<~, 1 using ~<~ limit $3`,
);

/** Returns the ids of the targets that a source selects and that are not in the given group yet (null: in no group), at most one more than `max`. */
export function targetsToMove({ from, where, values }: PageSource, group: string | null, max: number): CompiledQuery<{ id: number }> {
  const [there, limit] = [values.length + 1, values.length + 2];
  const sql = `select t.id from ${from} t where ${where} and t.target_group is distinct from $${there}::text limit $${limit}`;
  return { sql, bindings: [...values, group, max + 1] };
}
