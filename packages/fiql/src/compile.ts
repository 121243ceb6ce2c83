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
}

export interface Compiled {
  /** A boolean SQL expression, safe to be put in parentheses after `where … and`. */
  sql: string;
  values: (string | EnumCode)[];
}

interface Context {
  fields: FieldMap;
  bind: Bind;
  macros: Macros;
}

/**
 * Turns a query into one SQL predicate over a declared field map (contract management.md §6). Every value of the query is a
 * parameter; the text of the SQL comes from the map alone. Unknown fields are rsqlInvalidField.
 */
export function compile(ast: Ast, fields: FieldMap, options: CompileOptions): Compiled {
  const values: (string | EnumCode)[] = [];
  const first = options.firstParam ?? 1;
  const bind: Bind = (value) => `$${first + values.push(value) - 1}`;
  const macros = { ...options.macros, NOW_TS: options.now };
  return { sql: node(ast, { fields, bind, macros }), values };
}

function node(ast: Ast, context: Context): string {
  if (ast.kind === "comparison") return comparison(ast, context);
  return `(${ast.terms.map((term) => node(term, context)).join(` ${ast.kind} `)})`;
}

function comparison(ast: Comparison, context: Context): string {
  const { field, rest } = resolve(ast, context.fields);
  const values = ast.arguments.map((argument) => ({ ...argument, text: expandMacros(argument.text, context.macros) }));
  const asked = { ...ast, arguments: values };
  if (field.kind === "map") return mapEntry(field, rest, asked, context.bind);
  if (!("from" in field)) return scalar(field, asked, context.bind);
  const sub = Object.hasOwn(field.fields, rest) ? field.fields[rest] : undefined;
  return sub ? relation(field, sub, asked, context.bind) : unknownField(ast);
}

function unknownField(ast: Comparison): never {
  throw new HarrierError("rsqlInvalidField", `The field '${ast.selector}' at position ${ast.at} is unknown or needs a sub field.`);
}

/** The longest declared name wins, so that a declared `a.b` is no sub field of `a`; a map's key is everything after the first dot. */
function resolve(ast: Comparison, fields: FieldMap): { field: Field; rest: string } {
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

/** Positive operators: some related row matches. Negative ones are the exact complement: none does, or there is no row at all. */
function relation(field: RelationField, sub: ScalarField, ast: Comparison, bind: Bind): string {
  const not = negated(ast.operator);
  const exists = (sql: string, yes: boolean) => `${yes ? "" : "not "}exists (select 1 from ${field.from} where ${field.on} and ${sql})`;
  if (isNull(ast)) return exists(`${sub.column} is not null`, not);
  if (isEmpty(ast) && knowsEmpty(sub)) return exists(presence(sub), not);
  return exists(predicate(sub, baseOf(ast.operator), ast.arguments, bind), !not);
}

/** The entry must exist for every operator, negative ones too; only `=is=null` asks for its absence. */
function mapEntry(field: MapField, key: string, ast: Comparison, bind: Bind): string {
  const not = negated(ast.operator);
  const entry = `select 1 from ${field.from} where ${field.on} and lower(${field.key}) = lower(${bind(key)})`;
  if (isNull(ast)) return `${not ? "" : "not "}exists (${entry})`;
  return `exists (${entry} and ${scalar({ kind: "text", column: field.value }, ast, bind)})`;
}
