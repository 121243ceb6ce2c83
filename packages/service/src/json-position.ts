/** A place in a text; line and column are counted from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** At most so many characters are searched for the place. */
export const maxSearched = 1024 * 1024;

const space = /[ \t\n\r]*/y;
const escapes = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

const quote = 0x22;
const backslash = 0x5c;
const firstPrintable = 0x20;

/** The tokens that may come next in a JSON text. */
type Next = "value" | "value or end" | "name" | "name or end" | "colon" | "comma or end";

/**
 * Finds where a text stops being JSON; undefined if it is JSON, or if its first `maxSearched` characters are. The parser itself does not say so for
 * most texts. It takes linear time and no recursion, because a text may be as deep as it is long.
 */
export function findBreak(json: string): Position | undefined {
  const searched = json.length > maxSearched ? json.slice(0, maxSearched) : json;
  const at = breakOf(searched);
  if (at === undefined || (at >= searched.length && searched.length < json.length)) return undefined;
  let line = 1;
  let begin = 0;
  for (let end = json.indexOf("\n"); end >= 0 && end < at; end = json.indexOf("\n", begin)) {
    line += 1;
    begin = end + 1;
  }
  return { line, column: at - begin + 1 };
}

function breakOf(json: string): number | undefined {
  const open: string[] = [];
  let next: Next = "value";
  let at = skip(space, json, 0);
  while (at < json.length) {
    const end = step(json, at, next, open);
    if (end === undefined) return breakWithin(json, at, next);
    next = end.next;
    at = skip(space, json, end.at);
  }
  return next === "comma or end" && open.length === 0 ? undefined : json.length;
}

interface Step {
  readonly at: number;
  readonly next: Next;
}

/** Reads one token; undefined if no possible token begins here, or if it does not end. */
function step(json: string, at: number, next: Next, open: string[]): Step | undefined {
  const character = json[at] as string;
  if (next === "colon") return character === ":" ? { at: at + 1, next: "value" } : undefined;
  if (next === "comma or end" && character === "," && open.length > 0) {
    return { at: at + 1, next: open.at(-1) === "{" ? "name" : "value" };
  }
  const ends = next === "comma or end" || next === "value or end" || next === "name or end";
  if (ends && ((character === "}" && open.at(-1) === "{") || (character === "]" && open.at(-1) === "["))) {
    open.pop();
    return { at: at + 1, next: "comma or end" };
  }
  if (next === "name" || next === "name or end") return character === '"' ? closed(json, at, "colon") : undefined;
  if (next === "comma or end") return undefined;
  if (character === "{" || character === "[") {
    open.push(character);
    return { at: at + 1, next: character === "{" ? "name or end" : "value or end" };
  }
  if (character === '"') return closed(json, at, "comma or end");
  const end = skip(scalar, json, at);
  return end > at ? { at: end, next: "comma or end" } : undefined;
}

function closed(json: string, at: number, next: Next): Step | undefined {
  const end = endOfText(json, at);
  return json[end] === '"' ? { at: end + 1, next } : undefined;
}

/** Answers where a token breaks: a text breaks within it or at the end of the input, everything else at its beginning. */
function breakWithin(json: string, at: number, next: Next): number {
  return json[at] === '"' && next !== "colon" && next !== "comma or end" ? endOfText(json, at) : at;
}

/** Answers the place of the quote that ends a text, or of a character that it may not contain; the text begins with the quote at `at`. */
function endOfText(json: string, at: number): number {
  let end = at + 1;
  while (end < json.length) {
    const character = json.charCodeAt(end);
    if (character === quote || character < firstPrintable) return end;
    if (character !== backslash) end++;
    else {
      const after = skip(escapes, json, end);
      if (after === end) return end;
      end = after;
    }
  }
  return end;
}

function skip(pattern: RegExp, json: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(json) ? pattern.lastIndex : at;
}
