import { HarrierError } from "@harrier/errors";
import type { Argument, Operator } from "./ast.ts";
import type { EnumCode, ScalarField } from "./fields.ts";

/** Adds a value to the statement and answers its placeholder, e.g. `$4`. */
export type Bind = (value: string | EnumCode | readonly string[]) => string;

/** The operators without their negation: `ne`, `out` and `not` are the complement of these, nulls included (contract management.md §6.2). */
export type Base = "eq" | "lt" | "le" | "gt" | "ge" | "in";

export const sqlOperator = { lt: "<", le: "<=", gt: ">", ge: ">=" } as const;

/** Compares texts in the order of their characters, whatever the database's collation; the pattern indexes have this order too. */
const byteOperator = { lt: "~<~", le: "~<=~", gt: "~>~", ge: "~>=~" } as const;

export const negated = (operator: Operator): boolean => operator === "ne" || operator === "out" || operator === "not";

export function baseOf(operator: Operator): Base {
  if (operator === "ne" || operator === "is" || operator === "not") return "eq";
  return operator === "out" ? "in" : operator;
}

function invalid(argument: Argument, expected: string): never {
  throw new HarrierError("rsqlParamSyntax", `Query syntax error at position ${argument.at}: '${argument.text}' is not ${expected}.`);
}

/** Makes the SQL that is true for a column that matches; unknown (null) or false otherwise. */
export function predicate(field: ScalarField, base: Base, values: readonly Argument[], bind: Bind): string {
  switch (field.kind) {
    case "text":
      return textPredicate(field, base, values, bind);
    case "number":
      return numberPredicate(field.column, base, values, bind);
    case "timestamp":
      return timestampPredicate(field, base, values, bind);
    case "enum":
      return enumPredicate(field.column, field.codes, base, values, bind);
    case "boolean":
      return booleanPredicate(field.column, base, values, bind);
  }
}

/**
 * Makes a predicate on a text. PostgreSQL's own `lower` folds both sides, because the expression indexes use it, and so case has only one
 * definition.
 */
function textPredicate(field: TextField, base: Base, values: readonly Argument[], bind: Bind): string {
  const folded = `lower(${field.column})`;
  if (base === "in") {
    const bound = values.map((value) => `lower(${bind(value.text)})`);
    return withHead(field, `${folded} in (${bound.join(", ")})`, () => `in (${bound.map(headOf).join(", ")})`);
  }
  const [value] = values;
  if (!value) return "false";
  if (base !== "eq") return `${folded} ${byteOperator[base]} lower(${bind(value.text)})`;
  const { pattern, wildcards, literal } = likePattern(value.text);
  if (!wildcards) {
    const bound = `lower(${bind(literal)})`;
    return withHead(field, `${folded} = ${bound}`, () => `= ${headOf(bound)}`);
  }
  const beginning = `${startOf(value.text)}*`;
  return withHead(field, `${folded} like lower(${bind(pattern)})`, () => `like lower(${bind(likePattern(beginning).pattern)})`);
}

type TextField = Extract<ScalarField, { kind: "text" }>;

const headOf = (folded: string): string => `left(${folded}, 200)`;

/** Adds a condition on the first characters of a text, which follows from the condition on the whole, so that their index is used. */
function withHead({ head }: TextField, whole: string, first: () => string): string {
  return head === undefined ? whole : `(${whole} and ${head} ${first()})`;
}

/** Answers the characters before the first wildcard, few enough to stay within the head, whatever folding makes of them. */
function startOf(text: string): string {
  return (/^(?:\\\*|[^*]){0,60}/u.exec(text)?.[0] ?? "").replace(/\\+$/, "");
}

/** Makes a pattern for `like`: `*` is any characters, `\*` a literal asterisk; `%`, `_` and other backslashes stand for themselves. */
export function likePattern(text: string): { pattern: string; wildcards: boolean; literal: string } {
  let pattern = "";
  let literal = "";
  let wildcards = false;
  for (let i = 0; i < text.length; i++) {
    const character = text.charAt(i);
    if (character === "*") {
      wildcards = true;
      pattern += "%";
    } else if (character === "\\" && text.charAt(i + 1) === "*") {
      pattern += "*";
      literal += "*";
      i++;
    } else {
      pattern += "\\%_".includes(character) ? `\\${character}` : character;
      literal += character;
    }
  }
  return { pattern, wildcards, literal };
}

const int64 = 2n ** 63n;

function integer(argument: Argument): bigint {
  if (!/^[+-]?\d{1,19}$/.test(argument.text)) invalid(argument, "a number");
  const value = BigInt(argument.text.replace("+", ""));
  if (value >= int64 || value < -int64) invalid(argument, "a number of 64 bits");
  return value;
}

const onlyPresent = (base: Base, values: readonly Argument[]): boolean => base === "eq" && values[0]?.text === "*";

function numberPredicate(column: string, base: Base, values: readonly Argument[], bind: Bind): string {
  if (onlyPresent(base, values)) return `${column} is not null`;
  const bound = values.map((value) => `${bind(integer(value).toString())}::bigint`);
  if (base === "in") return `${column} in (${bound.join(", ")})`;
  return `${column} ${base === "eq" ? "=" : sqlOperator[base]} ${bound[0]}`;
}

/** PostgreSQL can store this range in epoch milliseconds; clients send Long.MAX_VALUE for "never". */
const earliest = -200_000_000_000_000n;
const latest = 8_640_000_000_000_000n;

type TimestampField = Extract<ScalarField, { kind: "timestamp" }>;

/**
 * Makes a predicate on a time. The API shows whole milliseconds of microsecond timestamps, so a value means the whole millisecond: equality is a
 * half-open range.
 */
function timestampPredicate(field: TimestampField, base: Base, values: readonly Argument[], bind: Bind): string {
  if (onlyPresent(base, values)) return `${field.column} is not null`;
  const edge = (value: Argument, plus: bigint): bigint => {
    const requested = integer(value) + plus;
    return requested < earliest ? earliest : requested > latest ? latest : requested;
  };
  const from = (value: Argument, plus: bigint) => side(field, ">=", edge(value, plus), bind);
  const until = (value: Argument, plus: bigint) => side(field, "<", edge(value, plus), bind);
  const same = (value: Argument) => `(${from(value, 0n)} and ${until(value, 1n)})`;
  const [value] = values;
  if (!value) return "false";
  if (base === "eq") return same(value);
  if (base === "in") return `(${values.map(same).join(" or ")})`;
  if (base === "lt") return until(value, 0n);
  if (base === "ge") return from(value, 0n);
  return base === "le" ? until(value, 1n) : from(value, 1n);
}

/** Makes one side of a range. If only the hour is indexed, a condition on it is added, a second too wide, because it may have been rounded. */
function side(field: TimestampField, operator: "<" | ">=", ms: bigint, bind: Bind): string {
  const exact = `${field.column} ${operator} to_timestamp(${bind(ms.toString())}::bigint / 1000.0)`;
  if (field.hour === undefined) return exact;
  const hour = (ms / 1000n + (operator === "<" ? 1n : -1n)) / 3600n;
  return `(${exact} and ${field.hour} ${operator === "<" ? "<=" : ">="} ${bind(hour.toString())}::bigint)`;
}

function enumPredicate(
  column: string,
  codes: Readonly<Record<string, EnumCode>>,
  base: Base,
  values: readonly Argument[],
  bind: Bind,
): string {
  const known = values.map((value) => {
    const literal = value.text.toLowerCase();
    const code = Object.hasOwn(codes, literal) ? codes[literal] : undefined;
    if (code === undefined)
      throw new HarrierError("rsqlInvalidField", `'${value.text}' at position ${value.at} is none of ${Object.keys(codes).join(", ")}.`);
    return code;
  });
  if (base !== "eq" && base !== "in" && values[0]) invalid(values[0], "comparable: this field only knows == != =in= =out=");
  const bound = known.map((code) => bind(code));
  return bound.length === 1 ? `${column} = ${bound[0]}` : `${column} in (${bound.join(", ")})`;
}

function booleanPredicate(column: string, base: Base, values: readonly Argument[], bind: Bind): string {
  const bound = values.map((value) => {
    const literal = value.text.toLowerCase();
    if ((literal !== "true" && literal !== "false") || (base !== "eq" && base !== "in")) invalid(value, "true or false");
    return bind(literal === "true");
  });
  return bound.length === 1 ? `${column} = ${bound[0]}` : `${column} in (${bound.join(", ")})`;
}
