import { type CompiledQuery, statement } from "@harrier/db";
import type { Ast } from "@harrier/fiql";
import type { Scope } from "@harrier/query";
import { compatible, filterPredicate, matchingTargets, type Predicate, type Selection, scopePredicate } from "../matching/matching.ts";

/** Makes all reads of a preview see one snapshot, and prevents writes. */
export const repeatableRead = statement<[], never>(
  "rollout_engine.preview_repeatable_read",
  "set transaction isolation level repeatable read read only",
);

export interface Sorted {
  candidates: number;
  outsideScope: number;
  incompatibleType: number;
  matching: number;
}

/**
 * Counts the targets that a filter finds and the caller sees, each once: either by the reason why it cannot be in the rollout, or as one that can.
 */
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

/** Earlier groups have taken the targets that match a filter, up to an id. */
export interface EarlierGroup {
  filter: Ast | null;
  upTo: number;
}

function left(selection: Selection, filter: Ast | null, taken: readonly EarlierGroup[]): Predicate {
  const { sql, values } = matchingTargets(selection);
  const own = filter ? `${filterPredicate(selection, filter, values)} is true` : "true";
  const others = taken.map(({ filter: of, upTo }) => {
    const matches = of ? `${filterPredicate(selection, of, values)} is true and ` : "";
    values.push(upTo);
    return `not (${matches}t.id <= $${values.length})`;
  });
  return { sql: [sql, own, ...others].join(" and "), values };
}

/** Counts how many targets of a filter are left. */
export function countLeft(selection: Selection, filter: Ast | null, taken: readonly EarlierGroup[]): CompiledQuery<{ n: number }> {
  const { sql, values } = left(selection, filter, taken);
  return { sql: `select count(*)::int as n from controller.targets_v1 t where ${sql}`, bindings: values };
}

/** Answers the id of the last of the first `n` targets; what is taken ends there. */
export function lastOf(
  selection: Selection,
  filter: Ast | null,
  part: { taken: readonly EarlierGroup[]; n: number },
): CompiledQuery<{ id: number }> {
  const { sql, values } = left(selection, filter, part.taken);
  const text = `select t.id from controller.targets_v1 t where ${sql} order by t.id offset $${values.length + 1} limit 1`;
  return { sql: text, bindings: [...values, part.n - 1] };
}
