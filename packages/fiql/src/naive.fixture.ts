import type { Argument, Ast, Comparison } from "./ast.ts";
import { moment, type TargetModel } from "./fleet.fixture.ts";

// A second, plain implementation of the query language: one target at a time, without SQL and without the compiler (contract management.md §6.2).

export const overdueSince = moment - 1_000;

type Kind = "text" | "number" | "time" | "enum" | "boolean";

export interface NaiveField {
  kind: Kind;
  /** One value; a to-many field has a list, and a map all its entries. */
  one?: (target: TargetModel) => string | number | boolean | null;
  many?: (target: TargetModel) => string[];
  map?: (target: TargetModel) => [key: string, value: string | null][];
}

const text = (one: NaiveField["one"] & {}): NaiveField => ({ kind: "text", one });
const time = (one: NaiveField["one"] & {}): NaiveField => ({ kind: "time", one });

/** All selectors of targets; a map has the part before the dot. */
export const naiveFields: Record<string, NaiveField> = {
  id: text((target) => target.controllerId),
  controllerid: text((target) => target.controllerId),
  name: text((target) => target.name),
  description: text((target) => target.description),
  ipaddress: text((target) => target.address),
  createdby: text((target) => target.createdBy),
  lastmodifiedby: text((target) => target.lastModifiedBy),
  createdat: time((target) => target.createdAt),
  lastmodifiedat: time((target) => target.lastModifiedAt),
  lastcontrollerrequestat: time((target) => target.lastPollAt),
  updatestatus: { kind: "enum", one: (target) => target.updateStatus },
  autoconfirm: { kind: "boolean", one: (target) => target.autoConfirm },
  "assignedds.id": { kind: "number", one: (target) => target.assigned?.id ?? null },
  "assignedds.name": text((target) => target.assigned?.name ?? null),
  "assignedds.version": text((target) => target.assigned?.version ?? null),
  "installedds.name": text((target) => target.installed?.name ?? null),
  "installedds.type": text((target) => target.installed?.type ?? null),
  "targettype.id": { kind: "number", one: (target) => target.type?.id ?? null },
  "targettype.key": text((target) => target.type?.key ?? null),
  "targettype.name": text((target) => target.type?.name ?? null),
  targettype: text((target) => target.type?.key ?? null),
  type: text((target) => target.type?.key ?? null),
  tag: { kind: "text", many: (target) => target.tags },
  "tag.name": { kind: "text", many: (target) => target.tags },
  attribute: { kind: "text", map: (target) => target.attributes },
  metadata: { kind: "text", map: (target) => target.metadata },
};

export function matches(ast: Ast, target: TargetModel): boolean {
  if (ast.kind !== "comparison") {
    const of = (term: Ast) => matches(term, target);
    return ast.kind === "and" ? ast.terms.every(of) : ast.terms.some(of);
  }
  const selector = ast.selector.toLowerCase();
  const whole = naiveFields[selector];
  if (whole?.one) return single(whole.kind, whole.one(target), ast);
  if (whole?.many) return several(whole.many(target), ast);
  const dot = selector.indexOf(".");
  const map = naiveFields[selector.slice(0, dot)]?.map;
  if (!map) throw new Error(`no such field: ${selector}`);
  const key = selector.slice(dot + 1);
  const entries = map(target).filter(([name]) => name.toLowerCase() === key);
  if (asksNull(ast)) return ast.operator === "is" ? entries.length === 0 : entries.length > 0;
  return entries.some(([, value]) => single("text", value, ast));
}

const asksNull = ({ operator, arguments: [first] }: Comparison): boolean =>
  (operator === "is" || operator === "not") && first !== undefined && !first.quoted && first.text.toLowerCase() === "null";

/** Negations are complements, so that they also match missing values. */
function single(kind: Kind, value: string | number | boolean | null, ast: Comparison): boolean {
  if (asksNull(ast)) return (value === null) === (ast.operator === "is");
  if (ast.operator === "ne" || ast.operator === "not") return !single(kind, value, { ...ast, operator: "eq" });
  if (ast.operator === "out") return !single(kind, value, { ...ast, operator: "in" });
  const requested = ast.arguments.map(meant);
  const [first = ""] = requested;
  if (ast.operator === "in") return value !== null && requested.some((each) => same(kind, value, each));
  if (ast.operator === "eq" || ast.operator === "is") {
    if (first === "" && kind !== "enum" && kind !== "boolean") return value === null || value === "";
    if (value === null) return false;
    if (kind === "text") return like([...String(value).toLowerCase()], tokens(first.toLowerCase()));
    return first === "*" ? true : same(kind, value, first);
  }
  if (value === null) return false;
  const order = kind === "text" ? textOrder(String(value).toLowerCase(), first.toLowerCase()) : Math.floor(Number(value)) - Number(first);
  return { lt: order < 0, le: order <= 0, gt: order > 0, ge: order >= 0 }[ast.operator];
}

function several(values: string[], ast: Comparison): boolean {
  if (asksNull(ast)) return (values.length === 0) === (ast.operator === "is");
  const positive = { ne: "eq", not: "is", out: "in" } as const;
  if (ast.operator === "ne" || ast.operator === "not" || ast.operator === "out")
    return !several(values, { ...ast, operator: positive[ast.operator] });
  // an entity without elements has the empty value
  if ((ast.operator === "eq" || ast.operator === "is") && ast.arguments[0]?.text === "") return values.every((value) => value === "");
  return values.some((value) => single("text", value, ast));
}

function same(kind: Kind, value: string | number | boolean, requested: string): boolean {
  if (kind === "time") return Math.floor(Number(value)) === Number(requested);
  if (kind === "number") return value === Number(requested);
  return String(value).toLowerCase() === requested.toLowerCase();
}

/** Answers the value of a macro; a doubled dollar sign makes it a literal. */
function meant({ text }: Argument): string {
  const folded = text.toLowerCase();
  if (folded === `\${now_ts}`) return String(moment);
  if (folded === `\${overdue_ts}`) return String(overdueSince);
  return folded === `$\${now_ts}` ? text.slice(1) : text;
}

const any = Symbol("any characters");
type Token = string | typeof any;

function tokens(pattern: string): Token[] {
  const [first, second] = pattern;
  if (first === undefined) return [];
  if (first === "*") return [any, ...tokens(pattern.slice(1))];
  if (first === "\\" && second === "*") return ["*", ...tokens(pattern.slice(2))];
  return [first, ...tokens(pattern.slice(1))];
}

function like(value: string[], pattern: Token[]): boolean {
  const [token, ...rest] = pattern;
  if (token === undefined) return value.length === 0;
  if (token !== any) return value[0] === token && like(value.slice(1), rest);
  return Array.from({ length: value.length + 1 }, (_, n) => value.slice(n)).some((tail) => like(tail, rest));
}

function textOrder(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
