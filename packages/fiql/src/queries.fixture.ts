import type { Argument, Ast, Comparison, Operator } from "./ast.ts";
import { type Fleet, keys, moment, randomText, randomTime, statuses, tagNames } from "./fleet.fixture.ts";
import { type NaiveField, naiveFields } from "./naive.fixture.ts";
import type { Random } from "./random.fixture.ts";

// A generator of random queries: the tree, and a text for it.

const operators: Record<NaiveField["kind"], Operator[]> = {
  text: ["eq", "eq", "eq", "ne", "ne", "lt", "le", "gt", "ge", "in", "out", "is", "not"],
  number: ["eq", "ne", "lt", "le", "gt", "ge", "in", "out", "is", "not"],
  time: ["eq", "ne", "lt", "le", "gt", "ge", "lt", "le", "gt", "ge", "in", "out", "is", "not"],
  enum: ["eq", "ne", "in", "out"],
  boolean: ["eq", "ne", "in", "out"],
};

export function randomQuery(random: Random, fleet: Fleet, depth = 0): Ast {
  if (depth === 3 || random.chance(0.45)) return randomComparison(random, fleet);
  const kind = random.pick(["and", "or"] as const);
  return { kind, terms: Array.from({ length: 2 + random.below(2) }, () => randomQuery(random, fleet, depth + 1)) };
}

function randomComparison(random: Random, fleet: Fleet): Comparison {
  const name = random.pick(Object.keys(naiveFields));
  const field = naiveFields[name] as NaiveField;
  const operator = random.pick(operators[field.kind]);
  const count = operator === "in" || operator === "out" ? 1 + random.below(3) : 1;
  const list = Array.from({ length: count }, () => randomArgument(random, field, fleet));
  const selector = recased(random, field.map ? `${name}.${random.pick(keys)}` : name);
  // only these two operators know it
  if ((operator === "is" || operator === "not") && random.chance(0.4)) return comparison(selector, operator, [argument("null", false)]);
  // in a list or an order of numbers there is neither "nothing" nor "anything"
  const plain = operator !== "eq" && operator !== "ne" && operator !== "is" && operator !== "not";
  const numeric = field.kind === "number" || field.kind === "time";
  if (plain && numeric)
    return comparison(
      selector,
      operator,
      list.map((each) => (/^\d+$|^\$/.test(each.text) ? each : argument("922", false))),
    );
  return comparison(selector, operator, list);
}

const comparison = (selector: string, operator: Operator, list: Argument[]): Comparison => ({
  kind: "comparison",
  selector,
  operator,
  arguments: list,
  at: 0,
});

const argument = (text: string, quoted: boolean): Argument => ({ text, quoted, at: 0 });

function randomArgument(random: Random, field: NaiveField, fleet: Fleet): Argument {
  const text = randomValue(random, field, fleet);
  const mustQuote = text === "" || /[\s"'();,=!~<>]/.test(text);
  return argument(text, mustQuote || random.chance(0.4));
}

function randomValue(random: Random, field: NaiveField, fleet: Fleet): string {
  if (field.kind === "boolean") return recased(random, random.pick(["true", "false"]));
  if (field.kind === "enum") return recased(random, random.pick(statuses));
  if (field.kind === "number") return random.chance(0.2) ? random.pick(["", "*"]) : String(random.pick([911, 912, 920, 921, 922, 923, 7]));
  if (field.kind === "time") return randomMoment(random, field, fleet);
  if (random.chance(0.1)) return random.pick(["", "*", "null", `\${Now_TS}`, `$\${NOW_TS}`]);
  const value = random.chance(0.3) ? randomText(random) : existing(random, field, fleet);
  return recased(random, random.chance(0.4) ? starred(random, value) : random.chance(0.1) ? value.replaceAll("*", "\\*") : value);
}

function randomMoment(random: Random, field: NaiveField, fleet: Fleet): string {
  if (random.chance(0.3)) return random.pick(["", "*", `\${NOW_TS}`, `\${overdue_ts}`, "0", "9223372036854775807"]);
  const known = Number(field.one?.(random.pick(fleet.targets)) ?? moment);
  return String(Math.floor(random.chance(0.5) ? known : randomTime(random)) + random.below(3) - 1);
}

function existing(random: Random, field: NaiveField, fleet: Fleet): string {
  const target = random.pick(fleet.targets);
  if (field.one) return String(field.one(target) ?? "");
  if (field.many) return random.pick(tagNames);
  const entries = field.map?.(target) ?? [];
  return entries.length === 0 ? "" : (random.pick(entries)[1] ?? "");
}

function starred(random: Random, value: string): string {
  const from = random.below(value.length + 1);
  const to = from + random.below(value.length - from + 1);
  return `${value.slice(0, from)}*${value.slice(to)}`;
}

function recased(random: Random, text: string): string {
  // macros stay in one piece, because their case is tested elsewhere
  return random.pick([text, text.toUpperCase(), text.toLowerCase()]);
}

const symbols: Record<Operator, string[]> = {
  eq: ["=="],
  ne: ["!="],
  lt: ["=lt=", "<", "=LT="],
  le: ["=le=", "<="],
  gt: ["=gt=", ">"],
  ge: ["=ge=", ">="],
  in: ["=in=", "=In="],
  out: ["=out="],
  is: ["=is=", "=eq="],
  not: ["=not=", "=ne="],
};

/** Answers one of the many texts of a tree. */
export function textOf(random: Random, ast: Ast, inner = false): string {
  if (ast.kind === "comparison") {
    const gap = random.chance(0.1) ? " " : "";
    return `${ast.selector}${gap}${random.pick(symbols[ast.operator])}${gap}${argumentsOf(random, ast)}`;
  }
  const separator = random.pick(ast.kind === "and" ? [";", " and ", " AND ", " ; "] : [",", " or ", " Or ", " , "]);
  // "and" binds stronger, so its terms need no parentheses inside "or"
  const terms = ast.terms.map((term) => textOf(random, term, !(ast.kind === "or" && term.kind === "and" && random.chance(0.5))));
  const text = terms.join(separator);
  return inner ? `(${text})` : text;
}

function argumentsOf(random: Random, ast: Comparison): string {
  const list = ast.arguments.map((each) => (each.quoted ? quotedText(random, each.text) : each.text));
  return list.length === 1 && random.chance(0.7) ? (list[0] ?? "") : `(${list.join(random.pick([",", " , "]))})`;
}

function quotedText(random: Random, text: string): string {
  const quote = random.pick(["'", '"']);
  return `${quote}${text.replaceAll("\\", "\\\\").replaceAll(quote, `\\${quote}`)}${quote}`;
}
