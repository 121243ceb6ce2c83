import { actionStatus } from "@harrier/contracts";
import { type Ast, type Compiled, compile, type FieldMap, parse, targetFields } from "@harrier/fiql";
import type { Scope } from "./scope.ts";

/** Which targets a rollout is for: its filter, and whether its set may go there at all (contract rollouts.md §2.4). */
export interface Selection {
  tenantId: number;
  setTypeId: number;
  /** Of who created the rollout. */
  targetTypes: Scope;
  filter: Ast;
  /** Epoch ms, and values of macros other than it. */
  now: number;
  macros: Readonly<Record<string, number>>;
}

/** A predicate over `controller.targets_v1 t`, with the values of its placeholders from $1 on. */
export interface Predicate {
  sql: string;
  values: unknown[];
}

/**
 * What the filters of rollouts that are stored may ask besides: targets with a failed action of a rollout, in one go (contract rollouts.md
 * §4.8). Callers may not: it would tell them of rollouts that they do not see.
 */
const ownFields: FieldMap = {
  ...targetFields,
  failedrollout: {
    kind: "toMany",
    from: "controller.actions_v1 fa",
    on: `fa.tenant_id = t.tenant_id and fa.target_id = t.id and fa.status = ${actionStatus.ERROR}`,
    fields: { id: { kind: "number", column: "fa.rollout_id" } },
    bare: "id",
  },
};

/** A filter that a rollout of ours has. */
export function parseOwnFilter(text: string): Ast {
  const ast = parse(text, { stored: true });
  compile(ast, ownFields, { now: 0 });
  return ast;
}

/** A filter as it is asked; throws rsqlParamSyntax or rsqlInvalidField, so that a wrong one is refused before anything is read. */
export function parseTargetFilter(text: string): Ast {
  const ast = parse(text);
  compile(ast, targetFields, { now: 0 });
  return ast;
}

/** Like `parseTargetFilter`, for one that was taken before: limits that came later do not hold for it. */
export function parseStoredFilter(text: string): Ast {
  const ast = parse(text, { stored: true });
  compile(ast, targetFields, { now: 0 });
  return ast;
}

/** Targets that may get sets of type $2. */
export const compatible = `(t.target_type_id is null or exists (
      select 1 from management.target_type_set_types_v1 c
       where c.tenant_id = t.tenant_id and c.target_type_id = t.target_type_id and c.set_type_id = $2))`;

/** Targets of the tenant that match the filter and that may get the set: those without a type, or whose type lists the set's. */
export function matchingTargets(selection: Selection): Predicate {
  const values: unknown[] = [selection.tenantId, selection.setTypeId];
  const scope = scopePredicate(selection.targetTypes, values);
  const filter = filterPredicate(selection, selection.filter, values);
  const sql = `t.tenant_id = $1 and ${compatible} and ${scope} and ${filter}`;
  return { sql, values };
}

/** Targets of these types; a target without a type is in no scope. Its values are appended. */
export function scopePredicate(scope: Scope, values: unknown[]): string {
  if (scope === null) return "true";
  values.push(scope);
  return `t.target_type_id = any($${values.length}::bigint[])`;
}

/** One more filter over the same targets; its values are appended. */
export function filterPredicate(selection: Selection, filter: Ast, values: unknown[]): string {
  const compiled: Compiled = compile(filter, ownFields, {
    firstParam: values.length + 1,
    now: selection.now,
    macros: selection.macros,
  });
  values.push(...compiled.values);
  return `(${compiled.sql})`;
}
