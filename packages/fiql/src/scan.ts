import { HarrierError } from "@harrier/errors";
import type { Operator } from "./ast.ts";

const symbols: readonly (readonly [string, Operator])[] = [
  ["==", "eq"],
  ["!=", "ne"],
  ["<=", "le"],
  [">=", "ge"],
  ["<", "lt"],
  [">", "gt"],
];

const named: Readonly<Record<string, Operator>> = {
  lt: "lt",
  le: "le",
  gt: "gt",
  ge: "ge",
  in: "in",
  out: "out",
  is: "is",
  eq: "is",
  not: "not",
  ne: "not",
};

/** Characters that end a name or a value that stands without quotes. */
export const reserved: ReadonlySet<string> = new Set(" \t\r\n\"'();,=!~<>");
const blank = /\s/;

/** Shows a character in a message; a character that cannot be printed is shown by its number. */
const shown = (character: string): string =>
  /[\p{Cc}\p{Cs}]/u.test(character) ? `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}` : `'${character}'`;

/** The text of one query and the current place in it; every error names the place, counted from 1. */
export class Scanner {
  readonly text: string;
  position = 0;
  /** What was read so far is counted for the limits of a query. */
  comparisons = 0;
  values = 0;

  constructor(text: string) {
    this.text = text;
  }

  fail(expected: string, position = this.position): never {
    const found = position < this.text.length ? `found ${shown(this.text.charAt(position))}` : "the query ends";
    throw new HarrierError("rsqlParamSyntax", `Query syntax error at position ${position + 1}: ${found}, expected ${expected}.`);
  }

  get atEnd(): boolean {
    return this.position >= this.text.length;
  }

  /** Skips blanks and answers whether there were any. */
  skipBlanks(): boolean {
    const from = this.position;
    while (!this.atEnd && blank.test(this.text.charAt(this.position))) this.position++;
    return this.position > from;
  }

  take(symbol: string): boolean {
    if (!this.text.startsWith(symbol, this.position)) return false;
    this.position += symbol.length;
    return true;
  }

  /** Takes a word operator, which needs blanks on both sides; the caller has checked the one before. */
  takeWord(word: string): boolean {
    const end = this.position + word.length;
    if (this.text.slice(this.position, end).toLowerCase() !== word || !blank.test(this.text.charAt(end))) return false;
    this.position = end;
    return true;
  }

  unreserved(expected: string): string {
    const from = this.position;
    while (!this.atEnd && !reserved.has(this.text.charAt(this.position))) this.position++;
    if (this.position === from) this.fail(expected);
    return this.text.slice(from, this.position);
  }

  /** Reads a quoted value, in which a backslash takes the next character literally. */
  quoted(): string {
    const from = this.position;
    const quote = this.text.charAt(this.position++);
    let value = "";
    while (!this.atEnd) {
      const character = this.text.charAt(this.position++);
      if (character === quote) return value;
      if (character === "\\" && !this.atEnd) value += this.text.charAt(this.position++);
      else value += character;
    }
    return this.fail(`a closing ${quote} for the value that begins at position ${from + 1}`);
  }

  operator(): Operator {
    for (const [symbol, operator] of symbols) if (this.take(symbol)) return operator;
    const word = /^=([a-z]+)=/i.exec(this.text.slice(this.position, this.position + 16));
    const operator = word?.[1] === undefined ? undefined : named[word[1].toLowerCase()];
    if (!word || operator === undefined) return this.fail("an operator (== != =lt= =le= =gt= =ge= =in= =out= =is= =not=)");
    this.position += word[0].length;
    return operator;
  }
}
