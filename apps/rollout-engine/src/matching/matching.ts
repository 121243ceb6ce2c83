import { actionStatus, tally } from "@harrier/contracts";
import { type Ast, type Compiled, compile, type FieldMap, parse, targetFields } from "@harrier/fiql";
import type { Scope } from "@harrier/query";

/** Which targets a rollout is for: those of its filter that may get its set (contract rollouts.md §2.4). */
export interface Selection {
  tenantId: number;
  setTypeId: number;
  /** The restriction of the user who created the rollout. */
  targetTypes: Scope;
  filter: Ast;
  /** The time in epoch ms, and the values of the other macros. */
  now: number;
  macros: Readonly<Record<string, number>>;
}

/** A predicate over `controller.targets_v1 t`, with the values of its placeholders from $1 on. */
export interface Predicate {
  sql: string;
  values: unknown[];
}

/**
 * Only stored filters of rollouts may use these fields: a failed action of a rollout selects targets for a retry (contract rollouts.md §4.8),
 * unless it is tried again by itself.
 * Callers may not, because the answer would reveal rollouts that they do not see.
 */
const ownFields: FieldMap = {
  ...targetFields,
  failedrollout: {
    kind: "toMany",
    from: "controller.actions_v1 fa",
    on: `fa.tenant_id = t.tenant_id and fa.target_id = t.id and fa.status = ${actionStatus.ERROR} and fa.tally = ${tally.plain} and fa.retried_by is null`,
    fields: { id: { kind: "number", column: "fa.rollout_id" } },
    bare: "id",
  },
};

/** Parses the stored filter of a rollout, which may use our own fields. */
export function parseOwnFilter(text: string): Ast {
  const ast = parse(text, { stored: true });
  compile(ast, ownFields, { now: 0 });
  return ast;
}

/** Parses the filter of a request; throws rsqlParamSyntax or rsqlInvalidField, so that a wrong one is refused before anything is read. */
export function parseTargetFilter(text: string): Ast {
  const ast = parse(text);
  compile(ast, targetFields, { now: 0 });
  return ast;
}

/** Like `parseTargetFilter`, for a filter that is stored already: limits that came later do not apply to it. */
export function parseStoredFilter(text: string): Ast {
  const ast = parse(text, { stored: true });
  compile(ast, targetFields, { now: 0 });
  return ast;
}

/** Selects targets that may get sets of type $2. */
export const compatible = `(t.target_type_id is null or exists (
      select 1 from management.target_type_set_types_v1 c
       where c.tenant_id = t.tenant_id and c.target_type_id = t.target_type_id and c.set_type_id = $2))`;

/** Selects the tenant's targets that match the filter and may get the set: those without a type, and those whose type lists the set's. */
export function matchingTargets(selection: Selection): Predicate {
  const values: unknown[] = [selection.tenantId, selection.setTypeId];
  const scope = scopePredicate(selection.targetTypes, values);
  const filter = filterPredicate(selection, selection.filter, values);
  const sql = `t.tenant_id = $1 and ${compatible} and ${scope} and ${filter}`;
  return { sql, values };
}

/** Selects targets of these types; a target without a type is in no scope. It appends its values. */
export function scopePredicate(scope: Scope, values: unknown[]): string {
  if (scope === null) return "true";
  values.push(scope);
  return `t.target_type_id = any($${values.length}::bigint[])`;
}

/** Adds one more filter over the same targets; it appends its values. */
export function filterPredicate(selection: Selection, filter: Ast, values: unknown[]): string {
  const compiled: Compiled = compile(filter, ownFields, {
    firstParam: values.length + 1,
    now: selection.now,
    macros: selection.macros,
  });
  values.push(...compiled.values);
  return `(${compiled.sql})`;
}
