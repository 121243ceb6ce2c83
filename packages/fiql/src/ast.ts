/** The operators of the query language (contract management.md §6.1); `is` and `not` also know the literal `null`. */
export type Operator = "eq" | "ne" | "lt" | "le" | "gt" | "ge" | "in" | "out" | "is" | "not";

/** One argument of a comparison; `at` counts characters from 1, as error messages show it. */
export interface Argument {
  text: string;
  quoted: boolean;
  at: number;
}

export interface Comparison {
  kind: "comparison";
  selector: string;
  operator: Operator;
  arguments: Argument[];
  at: number;
}

export interface Logical {
  kind: "and" | "or";
  terms: Ast[];
}

export type Ast = Comparison | Logical;

/** Answers every comparison of a query, in its order. */
export function comparisonsOf(ast: Ast): Comparison[] {
  return ast.kind === "comparison" ? [ast] : ast.terms.flatMap(comparisonsOf);
}
