import { operatorsOf, type QueryField, type ValueList } from "./fields.ts";

/** What can be written at the end of a query. */
export interface Completion {
  /** What is offered replaces the text from here on. */
  readonly from: number;
  readonly items: readonly string[];
  /** Values of this field that begin with `prefix` are asked of the server. */
  readonly ask?: { readonly field: string; readonly prefix: string };
  /** Names of this list that begin with `prefix` are asked of the server. */
  readonly list?: { readonly of: ValueList; readonly prefix: string };
}

const operator = /(==|!=|=[a-z]{2,3}=|[<>]=?)/;

/** The end of a query behind its last `;`, `,` or `(`: what is being written. */
function lastTerm(text: string): { from: number; term: string } {
  let from = 0;
  let quote = "";
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (quote !== "") quote = character === quote ? "" : quote;
    else if (character === "'" || character === '"') quote = character;
    else if (";,(".includes(character)) from = at + 1;
  }
  const blanks = /^\s*/.exec(text.slice(from))?.[0].length ?? 0;
  return { from: from + blanks, term: text.slice(from + blanks) };
}

/** Answers what fits at the end of a query: fields, then operators, then words; other values are asked of the server. */
export function complete(text: string, fields: readonly QueryField[]): Completion {
  const { from, term } = lastTerm(text);
  const found = operator.exec(term);
  if (found === null) return completeField(term, from, fields);
  const name = term.slice(0, found.index).trim().toLowerCase();
  const field = fieldOf(name, fields);
  const at = from + found.index + found[0].length;
  const prefix = text.slice(at).replace(/^\s*["']?/, "");
  if (field?.words) return { from: at, items: field.words.filter((word) => word.startsWith(prefix.toLowerCase()) && word !== prefix) };
  if (field?.list !== undefined) return { from: at, items: [], list: { of: field.list, prefix } };
  if (field?.suggest === undefined) return { from: at, items: [] };
  const asked = field.kind === "key" ? `${field.suggest}.${term.slice(0, found.index).trim().slice(field.name.length)}` : field.suggest;
  return { from: at, items: [], ask: { field: asked, prefix } };
}

function completeField(term: string, from: number, fields: readonly QueryField[]): Completion {
  const word = term.toLowerCase();
  const exact = fieldOf(word, fields);
  if (exact !== undefined && exact.kind !== "key") return { from: from + term.length, items: operatorsOf(exact.kind) };
  const map = fields.find(({ kind, name }) => kind === "key" && word.startsWith(name));
  if (map?.suggest !== undefined)
    return { from: from + map.name.length, items: [], ask: { field: map.suggest, prefix: term.slice(map.name.length) } };
  return { from, items: fields.map(({ name }) => name).filter((name) => name.startsWith(word)) };
}

function fieldOf(name: string, fields: readonly QueryField[]): QueryField | undefined {
  return fields.find((field) => (field.kind === "key" ? name.startsWith(field.name) && name !== field.name : field.name === name));
}

/**
 * Puts what was chosen in the place of what is being written at the caret, whose word ends with it. Answers the new query, and where the caret is then.
 */
export function completed(text: string, caret: number, from: number, chosen: string): { text: string; caret: number } {
  // An operator is put behind its field, and replaces nothing.
  const rest = from === caret ? "" : (/^[^"';,()=!<>~\s]*["']?/.exec(text.slice(caret))?.[0] ?? "");
  const start = text.slice(0, from) + chosen;
  return { text: start + text.slice(caret + rest.length), caret: start.length };
}

/** Puts a value into quotes where a query needs them. */
export function quoted(value: string): string {
  return /^[^"'();,=!~<> ]+$/.test(value) ? value : `"${value.replaceAll(/["\\]/g, "\\$&")}"`;
}

/** A text without an operator is what is looked for in names and ids. */
export function queryOf(text: string, idField = "controllerid", nameField = "name"): string {
  const plain = text.trim();
  if (plain === "" || operator.test(plain) || /[;()]/.test(plain)) return plain;
  const pattern = quoted(`*${plain.replaceAll("*", "\\*")}*`);
  return `${nameField}==${pattern},${idField}==${pattern}`;
}

/** Adds a condition to a query, or takes it out where it stands by itself. */
export function toggled(query: string | undefined, condition: string): string | undefined {
  const terms = (query ?? "").split(";").filter((term) => term !== "");
  const left = terms.filter((term) => term !== condition);
  if (left.length < terms.length) return left.length === 0 ? undefined : left.join(";");
  const whole = query === undefined || query === "" ? [] : /,/.test(query) ? [`(${query})`] : [query];
  return [...whole, condition].join(";");
}
