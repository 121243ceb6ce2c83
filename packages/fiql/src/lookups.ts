import { type Ast, type Comparison, comparisonsOf } from "./ast.ts";
import { type CompileOptions, expanded, type Found, related, resolve, subField, type Value } from "./compile.ts";
import type { FieldMap } from "./fields.ts";
import type { Bind } from "./predicates.ts";

/** Beyond this many the relation is joined like any other: their part of the base is no small one. */
const mostIds = 500;

/** One statement that finds the ids of related rows. */
export interface Lookup {
  sql: string;
  values: Value[];
  /** What its one row says, for `compile`. */
  found(row: Readonly<Record<string, readonly string[]>> | undefined): Found;
}

interface LookupOptions extends CompileOptions {
  tenantId: number;
}

/**
 * The few rows behind a query's relations (a type, a set, a tag), to be found before the many. With their ids in the statement
 * PostgreSQL knows how many base rows there are of each; of a join it only knows the average, and reads the whole fleet for the rare
 * tag. Undefined where a query has no such relation: then it is answered in one round trip.
 */
export function lookups(ast: Ast, fields: FieldMap, options: LookupOptions): Lookup | undefined {
  const values: Value[] = [options.tenantId];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const asked: Comparison[] = [];
  const parts: string[] = [];
  const macros = { ...options.macros, NOW_TS: options.now };
  for (const comparison of comparisonsOf(ast)) {
    const { field, rest } = resolve(comparison, fields);
    if (!("byId" in field) || field.byId === undefined) continue;
    const { inner } = related(subField(comparison, field, rest), expanded(comparison, macros), bind);
    const { from, alias } = field.byId;
    const rows = `select ${alias}.id::text from ${from} where ${alias}.tenant_id = $1 and ${inner()} limit ${mostIds + 1}`;
    parts.push(`array(${rows}) as "${asked.push(comparison) - 1}"`);
  }
  if (parts.length === 0) return undefined;
  return {
    sql: `select ${parts.join(", ")}`,
    values,
    found: (row) => new Map(asked.flatMap((comparison, i) => few(comparison, row?.[i]))),
  };
}

function few(comparison: Comparison, ids: readonly string[] | undefined): [Comparison, readonly string[]][] {
  return ids === undefined || ids.length > mostIds ? [] : [[comparison, ids]];
}
