import { HarrierError } from "@harrier/errors";
import type { Ast, Comparison } from "./ast.ts";
import type { EnumCode, Field, FieldMap, MapField, RelationField, ScalarField } from "./fields.ts";
import { expandMacros, type Macros } from "./macros.ts";
import { type Bind, baseOf, negated, predicate } from "./predicates.ts";

export interface CompileOptions {
  /** The number of the first placeholder; the default is 1. */
  firstParam?: number;
  /** The time in epoch ms, for `${NOW_TS}`. */
  now: number;
  /** The values of further macros by upper-case name, e.g. `{ OVERDUE_TS: 1700000000000 }`. */
  macros?: Macros;
  /** The ids of related rows that were looked up before (see `lookups`). */
  found?: LookupResults;
}

/** The ids by the comparison that needs them. */
export type LookupResults = ReadonlyMap<Comparison, readonly string[]>;

export type Value = string | EnumCode | readonly string[];

export interface Compiled {
  /** A boolean SQL expression, safe to be put in parentheses after `where … and`. */
  sql: string;
  values: Value[];
}

interface Context {
  fields: FieldMap;
  bind: Bind;
  macros: Macros;
  found: LookupResults;
  /** So many comparisons may still become joins. */
  joins: number;
}

/** PostgreSQL turns `exists` into joins and tries their orders: 200 of them kept it planning for 25 s. Further ones are evaluated row by row. */
const maxJoins = 5;

/**
 * Turns a query into one SQL predicate over a declared field map (contract management.md §6). Every value of the query is a parameter; the text of
 * the SQL comes from the map alone. Unknown fields are rsqlInvalidField.
 */
export function compile(ast: Ast, fields: FieldMap, options: CompileOptions): Compiled {
  const values: Value[] = [];
  const first = options.firstParam ?? 1;
  const bind: Bind = (value) => `$${first + values.push(value) - 1}`;
  const macros = { ...options.macros, NOW_TS: options.now };
  return { sql: node(ast, { fields, bind, macros, found: options.found ?? new Map(), joins: maxJoins }), values };
}

function node(ast: Ast, context: Context): string {
  if (ast.kind === "comparison") return comparison(ast, context);
  return `(${ast.terms.map((term) => node(term, context)).join(` ${ast.kind} `)})`;
}

function comparison(ast: Comparison, context: Context): string {
  const { field, rest } = resolve(ast, context.fields);
  const requested = expanded(ast, context.macros);
  if (field.kind === "map") return mapEntry(field, rest, requested, context);
  if (!("from" in field)) return scalar(field, requested, context.bind);
  const { inner, some } = related(subField(ast, field, rest), requested, context.bind);
  const ids = context.found.get(ast);
  if (ids === undefined || field.byId === undefined)
    return joined(`${some ? "" : "not "}exists (select 1 from ${field.from} where ${field.on} and ${inner()})`, context);
  const sql = field.byId.related(`${context.bind(ids)}::bigint[]`);
  if (field.kind === "toMany") return joined(`${some ? "" : "not "}${sql}`, context);
  return some ? sql : `(${sql}) is not true`;
}

/** Answers a comparison with the present values of its macros. */
export function expanded(ast: Comparison, macros: Macros): Comparison {
  return { ...ast, arguments: ast.arguments.map((argument) => ({ ...argument, text: expandMacros(argument.text, macros) })) };
}

export function subField(ast: Comparison, field: RelationField, name: string): ScalarField {
  const sub = Object.hasOwn(field.fields, name) ? field.fields[name] : undefined;
  return sub ?? unknownField(ast);
}

function joined(sql: string, context: Context): string {
  return context.joins-- > 0 ? sql : `(${sql}) is true`;
}

function unknownField(ast: Comparison): never {
  throw new HarrierError("rsqlInvalidField", `The field '${ast.selector}' at position ${ast.at} is unknown or needs a sub field.`);
}

/**
 * Finds the field of a selector. The longest declared name wins, so that a declared `a.b` is no sub field of `a`; a map's key is everything after
 * the first dot.
 */
export function resolve(ast: Comparison, fields: FieldMap): { field: Field; rest: string } {
  const selector = ast.selector.toLowerCase();
  const whole = Object.hasOwn(fields, selector) ? fields[selector] : undefined;
  if (whole && whole.kind !== "map") {
    const rest = whole.kind === "toOne" || whole.kind === "toMany" ? (whole.bare ?? "") : "";
    return { field: whole, rest };
  }
  const dot = selector.indexOf(".");
  const name = selector.slice(0, Math.max(dot, 0));
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  const rest = selector.slice(dot + 1);
  if (!field || rest === "" || !("from" in field)) return unknownField(ast);
  return { field, rest };
}

const isNull = (ast: Comparison): boolean => {
  const [value] = ast.arguments;
  return (ast.operator === "is" || ast.operator === "not") && value?.quoted === false && value.text.toLowerCase() === "null";
};

const isEmpty = (ast: Comparison): boolean => baseOf(ast.operator) === "eq" && ast.arguments[0]?.text === "";

/** Answers what `==""` means for a column: null or an empty text. Enums and booleans know no empty literal. */
function emptiness(field: ScalarField): string {
  return field.kind === "text" ? `(${field.column} is null or ${field.column} = '')` : `${field.column} is null`;
}

const presence = (field: ScalarField): string =>
  field.kind === "text" ? `(${field.column} is not null and ${field.column} <> '')` : `${field.column} is not null`;

const knowsEmpty = (field: ScalarField): boolean => field.kind !== "enum" && field.kind !== "boolean";

function scalar(field: ScalarField, ast: Comparison, bind: Bind): string {
  const not = negated(ast.operator);
  if (isNull(ast)) return `${field.column} is ${not ? "not " : ""}null`;
  if (isEmpty(ast) && knowsEmpty(field)) return not ? presence(field) : emptiness(field);
  const sql = predicate(field, baseOf(ast.operator), ast.arguments, bind);
  return not ? `(${sql}) is not true` : sql;
}

/**
 * Evaluates a comparison over related rows. A positive operator needs some related row that matches. A negative one is the exact complement: no row
 * matches, or there is no row at all.
 */
export function related(sub: ScalarField, ast: Comparison, bind: Bind): { inner: () => string; some: boolean } {
  const not = negated(ast.operator);
  if (isNull(ast)) return { inner: () => `${sub.column} is not null`, some: not };
  if (isEmpty(ast) && knowsEmpty(sub)) return { inner: () => presence(sub), some: not };
  return { inner: () => predicate(sub, baseOf(ast.operator), ast.arguments, bind), some: !not };
}

/** Evaluates an entry of a map. The entry must exist for every operator, negative ones too; only `=is=null` matches its absence. */
function mapEntry(field: MapField, key: string, ast: Comparison, context: Context): string {
  const { bind } = context;
  const not = negated(ast.operator);
  const entry = `select 1 from ${field.from} where ${field.on} and lower(${field.key}) = lower(${bind(key)})`;
  if (isNull(ast)) return joined(`${not ? "" : "not "}exists (${entry})`, context);
  const value = { kind: "text", column: field.value, ...(field.head === undefined ? {} : { head: field.head }) } as const;
  return joined(`exists (${entry} and ${scalar(value, ast, bind)})`, context);
}
