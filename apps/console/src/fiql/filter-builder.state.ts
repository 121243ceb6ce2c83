import { type Argument, type Ast, type Comparison, needsQuotes, type Operator, parse, print, printArgument, symbolOf } from "@harrier/fiql";
import type { QueryField } from "./fields.ts";
import { problemOfQuery } from "./problem.ts";

/** One condition as it is being built. Ids are those of the page, and stay with what they were given to. */
export interface Condition {
  readonly kind: "condition";
  readonly id: number;
  readonly field: string;
  readonly operator: Operator;
  /** A text; for a list of values, the values as they stand in a query. */
  readonly value: string;
  /** It stands in quotes although it need not, which tells the text `null` from nothing. */
  readonly quoted: boolean;
}

/** Conditions of which all must hold, or any of them. */
export interface Group {
  readonly kind: "and" | "or";
  readonly id: number;
  readonly parts: readonly Part[];
}

export type Part = Condition | Group;

/** What was built: a query, or why it is none yet. */
export type Built =
  | { readonly query: string; readonly problem?: undefined }
  | { readonly query?: undefined; readonly problem: "unfinished" | (string & {}) };

export const takesList = (operator: Operator): boolean => operator === "in" || operator === "out";

const idsOf = (part: Part): number[] => [part.id, ...(part.kind === "condition" ? [] : part.parts.flatMap(idsOf))];
const nextId = (tree: Group): number => Math.max(...idsOf(tree)) + 1;

/** The tree of a query, which is one group; of one that cannot be read, undefined. */
export function treeOf(query: string): Group | undefined {
  let last = 0;
  const partOf = (ast: Ast): Part => {
    last += 1;
    const id = last;
    return ast.kind === "comparison" ? conditionOf(ast, id) : { kind: ast.kind, id, parts: ast.terms.map(partOf) };
  };
  const empty: Group = { kind: "and", id: 0, parts: [] };
  if (query.trim() === "") return added(empty, 0, "condition");
  try {
    const part = partOf(parse(query, { stored: true }));
    return part.kind === "condition" ? { ...empty, parts: [part] } : part;
  } catch {
    return undefined;
  }
}

function conditionOf({ selector, operator, arguments: list }: Comparison, id: number): Condition {
  const [first] = list;
  const value = takesList(operator) ? list.map(printArgument).join(", ") : (first?.text ?? "");
  return { kind: "condition", id, field: selector, operator, value, quoted: !takesList(operator) && first?.quoted === true };
}

/** The tree with another part in the place of one; without a new one, the old is taken out. */
export function replaced(tree: Group, id: number, next: (part: Part) => Part | undefined): Group {
  const within = (group: Group): Group => ({
    ...group,
    parts: group.parts.flatMap((part) => {
      if (part.id === id) return next(part) ?? [];
      return part.kind === "condition" ? part : within(part);
    }),
  });
  return tree.id === id ? ({ ...tree, ...next(tree) } as Group) : within(tree);
}

/** The tree with a new part at the end of a group: an empty condition, or a group that holds one. */
export function added(tree: Group, groupId: number, kind: "condition" | "group"): Group {
  const id = nextId(tree);
  const condition = (own: number): Condition => ({ kind: "condition", id: own, field: "", operator: "eq", value: "", quoted: false });
  return replaced(tree, groupId, (group) => {
    if (group.kind === "condition") return group;
    const inner: Part =
      kind === "condition" ? condition(id) : { kind: group.kind === "and" ? "or" : "and", id, parts: [condition(id + 1)] };
    return { ...group, parts: [...group.parts, inner] };
  });
}

/** The tree with a condition that is about another field: where the operator or the value does not fit that one, they begin anew. */
export function withField(
  tree: Group,
  id: number,
  field: string,
  operators: readonly Operator[],
  words: readonly string[] | undefined,
): Group {
  return replaced(tree, id, (part) => {
    if (part.kind !== "condition") return part;
    const operator = operators.includes(part.operator) ? part.operator : (operators[0] ?? "eq");
    const fits = words === undefined || takesList(operator) || words.includes(part.value);
    return { ...part, field, operator, ...(fits ? {} : { value: "", quoted: false }) };
  });
}

/** The tree with another operator of a condition; a value becomes a list of one, and a list of one its value. */
export function withOperator(tree: Group, id: number, operator: Operator): Group {
  return replaced(tree, id, (part) => {
    if (part.kind !== "condition" || takesList(part.operator) === takesList(operator)) return { ...part, operator } as Part;
    if (takesList(operator))
      return { ...part, operator, value: part.value === "" ? "" : printArgument({ text: part.value, quoted: part.quoted }), quoted: false };
    const [first] = valuesOf({ ...part, operator: "in" }) ?? [];
    return { ...part, operator, value: first?.text ?? "", quoted: false };
  });
}

/** The tree with another value of a condition. */
export const withValue = (tree: Group, id: number, value: string): Group =>
  replaced(tree, id, (part) => ({ ...part, value, quoted: false }) as Part);

/** The values of a condition; undefined if they cannot be read. */
function valuesOf({ operator, value, quoted }: Condition): Argument[] | undefined {
  if (!takesList(operator)) return [{ text: value, quoted: quoted || needsQuotes(value), at: 0 }];
  try {
    const list = parse(`x=in=(${value})`);
    return list.kind === "comparison" ? list.arguments : undefined;
  } catch {
    return undefined;
  }
}

/** The query that a tree is; nothing at all is every row. */
export function built(tree: Group): Built {
  if (tree.parts.length === 0) return { query: "" };
  const ast = astOf(tree);
  if (ast === undefined) return { problem: "unfinished" };
  const query = print(ast);
  const problem = problemOfQuery(query);
  return problem === undefined ? { query } : { problem };
}

function astOf(part: Part): Ast | undefined {
  if (part.kind !== "condition") {
    const terms = part.parts.map(astOf);
    if (terms.length === 0 || terms.includes(undefined)) return undefined;
    return terms.length === 1 ? terms[0] : { kind: part.kind, terms: terms as Ast[] };
  }
  const { field, operator, value, quoted } = part;
  if (field === "" || field.endsWith(".") || needsQuotes(field) || (value === "" && !quoted)) return undefined;
  const list = valuesOf(part);
  return list && { kind: "comparison", selector: field, operator, arguments: list, at: 0 };
}

/** The field of a list of fields that a name is of: keys of attributes and metadata are behind a dot. */
export const fieldOf = (name: string, fields: readonly QueryField[]): QueryField | undefined =>
  fields.find((field) => (field.kind === "key" ? name.toLowerCase().startsWith(field.name) : field.name === name.toLowerCase()));

const bySymbol = new Map(
  (["eq", "ne", "lt", "le", "gt", "ge", "in", "out", "is", "not"] as const).map((operator) => [symbolOf(operator), operator]),
);

/** The operators behind their symbols. */
export const operatorsBehind = (symbols: readonly string[]): Operator[] => symbols.flatMap((symbol) => bySymbol.get(symbol) ?? []);
