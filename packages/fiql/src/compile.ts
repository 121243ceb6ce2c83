import { HarrierError } from "@harrier/errors";
import type { Ast, Comparison } from "./ast.ts";
import type { EnumCode, Field, FieldMap, MapField, RelationField, ScalarField } from "./fields.ts";
import { expandMacros, type Macros } from "./macros.ts";
import { type Bind, baseOf, negated, predicate } from "./predicates.ts";

export interface CompileOptions {
  /** Number of the first placeholder; default 1. */
  firstParam?: number;
  /** Epoch ms, for `${NOW_TS}`. */
  now: number;
  /** Values of further macros by upper-case name, e.g. `{ OVERDUE_TS: 1700000000000 }`. */
  macros?: Macros;
  /** Ids of related rows that were looked up before (see `lookups`). */
  found?: Found;
}

/** Ids by the comparison that asks for them. */
export type Found = ReadonlyMap<Comparison, readonly string[]>;

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
  found: Found;
  /** How many comparisons the planner may still make joins of. */
  joins: number;
}

/** PostgreSQL turns `exists` into joins and tries their orders: 200 of them kept it planning for 25 s. Further ones are asked row by row. */
const mostJoins = 5;

/**
 * Turns a query into one SQL predicate over a declared field map (contract management.md §6). Every value of the query is a
 * parameter; the text of the SQL comes from the map alone. Unknown fields are rsqlInvalidField.
 */
export function compile(ast: Ast, fields: FieldMap, options: CompileOptions): Compiled {
  const values: Value[] = [];
  const first = options.firstParam ?? 1;
  const bind: Bind = (value) => `$${first + values.push(value) - 1}`;
  const macros = { ...options.macros, NOW_TS: options.now };
  return { sql: node(ast, { fields, bind, macros, found: options.found ?? new Map(), joins: mostJoins }), values };
}

function node(ast: Ast, context: Context): string {
  if (ast.kind === "comparison") return comparison(ast, context);
  return `(${ast.terms.map((term) => node(term, context)).join(` ${ast.kind} `)})`;
}

function comparison(ast: Comparison, context: Context): string {
  const { field, rest } = resolve(ast, context.fields);
  const asked = expanded(ast, context.macros);
  if (field.kind === "map") return mapEntry(field, rest, asked, context);
  if (!("from" in field)) return scalar(field, asked, context.bind);
  const { inner, some } = related(subField(ast, field, rest), asked, context.bind);
  const ids = context.found.get(ast);
  if (ids === undefined || field.byId === undefined)
    return joined(`${some ? "" : "not "}exists (select 1 from ${field.from} where ${field.on} and ${inner()})`, context);
  const sql = field.byId.related(`${context.bind(ids)}::bigint[]`);
  if (field.kind === "toMany") return joined(`${some ? "" : "not "}${sql}`, context);
  return some ? sql : `(${sql}) is not true`;
}

/** A comparison with the values that its macros have now. */
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

/** The longest declared name wins, so that a declared `a.b` is no sub field of `a`; a map's key is everything after the first dot. */
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

/** What `==""` means for a column: null, or nothing in it. Enums and booleans know no empty literal. */
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

/** Positive operators: some related row is as asked. Negative ones are the exact complement: none is, or there is no row at all. */
export function related(sub: ScalarField, ast: Comparison, bind: Bind): { inner: () => string; some: boolean } {
  const not = negated(ast.operator);
  if (isNull(ast)) return { inner: () => `${sub.column} is not null`, some: not };
  if (isEmpty(ast) && knowsEmpty(sub)) return { inner: () => presence(sub), some: not };
  return { inner: () => predicate(sub, baseOf(ast.operator), ast.arguments, bind), some: !not };
}

/** The entry must exist for every operator, negative ones too; only `=is=null` asks for its absence. */
function mapEntry(field: MapField, key: string, ast: Comparison, context: Context): string {
  const { bind } = context;
  const not = negated(ast.operator);
  const entry = `select 1 from ${field.from} where ${field.on} and lower(${field.key}) = lower(${bind(key)})`;
  if (isNull(ast)) return joined(`${not ? "" : "not "}exists (${entry})`, context);
  const value = { kind: "text", column: field.value, ...(field.head === undefined ? {} : { head: field.head }) } as const;
  return joined(`exists (${entry} and ${scalar(value, ast, bind)})`, context);
}
