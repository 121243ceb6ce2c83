import type { Argument, Ast, Comparison, Operator } from "./ast.ts";
import { reserved } from "./scan.ts";

const symbols: Readonly<Record<Operator, string>> = {
  eq: "==",
  ne: "!=",
  lt: "=lt=",
  le: "=le=",
  gt: "=gt=",
  ge: "=ge=",
  in: "=in=",
  out: "=out=",
  is: "=is=",
  not: "=not=",
};

/** The symbol of an operator, of several the usual one. */
export const symbolOf = (operator: Operator): string => symbols[operator];

/** Whether a value can only be written in quotes. */
export const needsQuotes = (text: string): boolean =>
  text === "" || [...text].some((character) => reserved.has(character) || /\s/.test(character));

/** Writes an argument as it stands in a query. */
export const printArgument = ({ text, quoted }: Pick<Argument, "text" | "quoted">): string =>
  quoted || needsQuotes(text) ? `"${text.replaceAll(/["\\]/g, "\\$&")}"` : text;

/** Writes a query whose tree is this one: `parse` makes the same tree of it, but for the positions. */
export function print(ast: Ast): string {
  if (ast.kind === "comparison") return printComparison(ast);
  const { kind, terms } = ast;
  // A conjunction binds more strongly; one in another of its kind was written in parentheses.
  return terms
    .map((term) => (term.kind === kind || (kind === "and" && term.kind === "or") ? `(${print(term)})` : print(term)))
    .join(kind === "and" ? ";" : ",");
}

function printComparison({ selector, operator, arguments: list }: Comparison): string {
  const values = list.map(printArgument).join(",");
  return `${selector}${symbols[operator]}${operator === "in" || operator === "out" ? `(${values})` : values}`;
}
