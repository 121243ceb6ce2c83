import { HarrierError } from "@harrier/errors";
import { type Argument, type Ast, type Comparison, comparisonsOf } from "./ast.ts";
import { Scanner } from "./scan.ts";

/** The limits of one query: more than users and tools write, and less than what would keep the planner busy. */
export const limits = {
  /** The maximum of characters in the whole query. */
  length: 16_384,
  /** The maximum of nested parentheses: few enough for our stack and for PostgreSQL's. */
  depth: 100,
  /** The maximum of comparisons, each of which may become a join. */
  comparisons: 200,
  /** The maximum of values in all comparisons together, the elements of lists included. */
  values: 1_000,
  /**
   * The maximum of values with a wildcard that no index helps with: `*` at the beginning, or more than one. Each reads every row and walks its
   * text.
   */
  openPatterns: 10,
} as const;

/** Control characters other than white space: no value that can be stored holds one, and PostgreSQL knows no NUL at all. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const control = /[\u0000-\u0008\u000e-\u001f\u007f-\u009f]/;

export interface ParseOptions {
  /** A query that was stored before its patterns were limited still works: the limit only applies to queries that are sent or stored now. */
  stored?: boolean;
}

/**
 * Parses a query of the management interface (contract management.md §6.1). Throws rsqlParamSyntax with the position of the first offending
 * character.
 */
export function parse(text: string, options: ParseOptions = {}): Ast {
  const scanner = new Scanner(text);
  if (text.length > limits.length) tooMuch(limits.length + 1, `longer than ${limits.length} characters`);
  const unprintable = text.search(control);
  if (unprintable >= 0) scanner.fail("a printable character", unprintable);
  scanner.skipBlanks();
  const ast = parseOr(scanner, 0);
  scanner.skipBlanks();
  if (!scanner.atEnd) scanner.fail("';', ',' or the end of the query");
  if (!options.stored) checkPatterns(ast);
  return ast;
}

function checkPatterns(ast: Ast): void {
  const open = comparisonsOf(ast).filter(isOpenPattern);
  const beyond = open[limits.openPatterns];
  if (beyond === undefined) return;
  const what = "patterns that begin with '*' or hold more than one '*'";
  tooMuch(beyond.arguments[0]?.at ?? beyond.at, `more than ${limits.openPatterns} ${what}`);
}

/** Whether a pattern needs every row: `a*` is found by an index; `*`, which tests presence, costs little; lists know no wildcards. */
function isOpenPattern({ operator, arguments: [value] }: Comparison): boolean {
  if (value === undefined || operator === "in" || operator === "out" || value.text === "*") return false;
  const stars = value.text.replaceAll("\\*", "").match(/\*+/g) ?? [];
  return stars.length > 1 || (stars.length === 1 && value.text.startsWith("*"));
}

function parseOr(scanner: Scanner, depth: number): Ast {
  return parseSequence(scanner, "or", () => parseSequence(scanner, "and", () => parseTerm(scanner, depth)));
}

function parseSequence(scanner: Scanner, kind: "and" | "or", next: () => Ast): Ast {
  const terms = [next()];
  while (takeLogical(scanner, kind)) terms.push(next());
  return terms.length === 1 && terms[0] ? terms[0] : { kind, terms };
}

function takeLogical(scanner: Scanner, kind: "and" | "or"): boolean {
  const before = scanner.position;
  const blanks = scanner.skipBlanks();
  if (scanner.take(kind === "and" ? ";" : ",") || (blanks && scanner.takeWord(kind))) {
    scanner.skipBlanks();
    return true;
  }
  // a word operator of the other kind needs its leading blank again; at the end of the query it does not matter
  if (!scanner.atEnd) scanner.position = before;
  return false;
}

function parseTerm(scanner: Scanner, depth: number): Ast {
  const at = scanner.position + 1;
  if (scanner.take("(")) {
    if (depth >= limits.depth) tooMuch(at, `nested more than ${limits.depth} levels deep`);
    scanner.skipBlanks();
    const inner = parseOr(scanner, depth + 1);
    scanner.skipBlanks();
    if (!scanner.take(")")) scanner.fail("')'");
    return inner;
  }
  const selector = scanner.unreserved("a field name or '('");
  scanner.skipBlanks();
  const operator = scanner.operator();
  scanner.skipBlanks();
  const argumentsAt = scanner.position;
  const list = parseArguments(scanner);
  if (list.length > 1 && operator !== "in" && operator !== "out") scanner.fail("one value (lists belong to =in= and =out=)", argumentsAt);
  scanner.comparisons++;
  scanner.values += list.length;
  if (scanner.comparisons > limits.comparisons) tooMuch(at, `more than ${limits.comparisons} comparisons`);
  if (scanner.values > limits.values) tooMuch(argumentsAt + 1, `more than ${limits.values} values`);
  return { kind: "comparison", selector, operator, arguments: list, at };
}

function tooMuch(position: number, what: string): never {
  throw new HarrierError("rsqlParamSyntax", `Query syntax error at position ${position}: ${what}.`);
}

function parseArguments(scanner: Scanner): Argument[] {
  if (!scanner.take("(")) return [parseValue(scanner)];
  const list: Argument[] = [];
  do {
    scanner.skipBlanks();
    list.push(parseValue(scanner));
    scanner.skipBlanks();
  } while (scanner.take(","));
  if (!scanner.take(")")) scanner.fail("',' or ')'");
  return list;
}

function parseValue(scanner: Scanner): Argument {
  const at = scanner.position + 1;
  const first = scanner.text.charAt(scanner.position);
  if (first === "'" || first === '"') return { text: scanner.quoted(), quoted: true, at };
  return { text: scanner.unreserved("a value"), quoted: false, at };
}
