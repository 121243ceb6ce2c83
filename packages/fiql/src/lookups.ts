import { type Ast, type Comparison, comparisonsOf } from "./ast.ts";
import { type CompileOptions, expanded, type LookupResults, related, resolve, subField, type Value } from "./compile.ts";
import type { FieldMap } from "./fields.ts";
import type { Bind } from "./predicates.ts";

/** With more ids than this the relation is joined like any other, because they select a large part of the base. */
const maxIds = 500;

/** One statement that finds the ids of related rows. */
export interface Lookup {
  sql: string;
  values: Value[];
  /** Reads its one row for `compile`. */
  found(row: Readonly<Record<string, readonly string[]>> | undefined): LookupResults;
}

interface LookupOptions extends CompileOptions {
  tenantId: number;
}

/**
 * Finds the few rows behind a query's relations (a type, a set, a tag) before the many base rows. With their ids in the statement PostgreSQL knows
 * how many base rows each has; for a join it only knows the average, and reads the whole fleet for a rare tag. It is undefined if a query has no
 * such relation; then it takes one round trip.
 */
export function lookups(ast: Ast, fields: FieldMap, options: LookupOptions): Lookup | undefined {
  const values: Value[] = [options.tenantId];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const requested: Comparison[] = [];
  const parts: string[] = [];
  const macros = { ...options.macros, NOW_TS: options.now };
  for (const comparison of comparisonsOf(ast)) {
    const { field, rest } = resolve(comparison, fields);
    if (!("byId" in field) || field.byId === undefined) continue;
    const { inner } = related(subField(comparison, field, rest), expanded(comparison, macros), bind);
    const { from, alias } = field.byId;
    const rows = `select ${alias}.id::text from ${from} where ${alias}.tenant_id = $1 and ${inner()} limit ${maxIds + 1}`;
    parts.push(`array(${rows}) as "${requested.push(comparison) - 1}"`);
  }
  if (parts.length === 0) return undefined;
  return {
    sql: `select ${parts.join(", ")}`,
    values,
    found: (row) => new Map(requested.flatMap((comparison, i) => few(comparison, row?.[i]))),
  };
}

function few(comparison: Comparison, ids: readonly string[] | undefined): [Comparison, readonly string[]][] {
  return ids === undefined || ids.length > maxIds ? [] : [[comparison, ids]];
}
