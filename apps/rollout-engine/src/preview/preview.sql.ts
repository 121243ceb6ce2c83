import { type CompiledQuery, statement } from "@harrier/db";
import type { Ast } from "@harrier/fiql";
import { compatible, filterPredicate, matchingTargets, type Predicate, type Selection, scopePredicate } from "../matching/matching.ts";
import type { Scope } from "../matching/scope.ts";

/** All reads of a preview see one moment, and nothing can be written. */
export const oneLook = statement<[], never>("preview.one_look", "set transaction isolation level repeatable read read only");

export interface Sorted {
  candidates: number;
  outsideScope: number;
  incompatibleType: number;
  matching: number;
}

/** The targets that a filter finds among those that the caller sees, each counted once: why it cannot be in the rollout, or that it can. */
export function sortTargets(selection: Selection, visible: Scope): CompiledQuery<Sorted> {
  const values: unknown[] = [selection.tenantId, selection.setTypeId];
  const seen = scopePredicate(visible, values);
  const reached = scopePredicate(selection.targetTypes, values);
  const filter = filterPredicate(selection, selection.filter, values);
  const text = `select count(*)::int as candidates, (count(*) filter (where not reached))::int as "outsideScope",
      (count(*) filter (where reached and not fits))::int as "incompatibleType",
      (count(*) filter (where reached and fits))::int as matching
    from (select (${reached}) is true as reached, (${compatible}) as fits
            from controller.targets_v1 t where t.tenant_id = $1 and ${seen} and ${filter} offset 0) m`;
  return { sql: text, bindings: values };
}

/** What earlier groups have taken: those that match a filter, up to an id. */
export interface Taken {
  filter: Ast | null;
  upTo: number;
}

function left(selection: Selection, filter: Ast | null, taken: readonly Taken[]): Predicate {
  const { sql, values } = matchingTargets(selection);
  const own = filter ? `${filterPredicate(selection, filter, values)} is true` : "true";
  const others = taken.map(({ filter: of, upTo }) => {
    const matches = of ? `${filterPredicate(selection, of, values)} is true and ` : "";
    values.push(upTo);
    return `not (${matches}t.id <= $${values.length})`;
  });
  return { sql: [sql, own, ...others].join(" and "), values };
}

/** How many targets of a filter are left. */
export function countLeft(selection: Selection, filter: Ast | null, taken: readonly Taken[]): CompiledQuery<{ n: number }> {
  const { sql, values } = left(selection, filter, taken);
  return { sql: `select count(*)::int as n from controller.targets_v1 t where ${sql}`, bindings: values };
}

/** The id of the last of the first `n` of them: what is taken ends there. */
export function lastOf(
  selection: Selection,
  filter: Ast | null,
  part: { taken: readonly Taken[]; n: number },
): CompiledQuery<{ id: number }> {
  const { sql, values } = left(selection, filter, part.taken);
  const text = `select t.id from controller.targets_v1 t where ${sql} order by t.id offset $${values.length + 1} limit 1`;
  return { sql: text, bindings: [...values, part.n - 1] };
}
