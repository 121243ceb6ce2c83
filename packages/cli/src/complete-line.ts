/** A line that is being typed, as far as it tells what may come next. */
export interface TypedLine {
  /** Nouns, verbs and names, without options and their values. */
  readonly words: readonly string[];
  /** The options that have a value, by the flag that was typed. */
  readonly options: Readonly<Record<string, string>>;
  /** What stands at the end. */
  readonly last: string;
  /** The end is the value of an option. */
  readonly isValue: boolean;
}

/** Reads a line; `takesValue` says of a flag behind these words whether the next word is its value. */
export function readLine(line: string, takesValue: (flag: string, words: readonly string[]) => boolean): TypedLine {
  const { all, last } = split(line);
  const words: string[] = [];
  const options: Record<string, string> = {};
  let flag: string | undefined;
  for (const word of all.slice(1)) {
    const [, name, value] = /^(--?[\w-]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (flag !== undefined) {
      options[flag] = word;
      flag = undefined;
    } else if (name === undefined) words.push(word);
    else if (value !== undefined) options[name] = value;
    else if (takesValue(name, words)) flag = name;
  }
  return { words, options, last, isValue: flag !== undefined };
}

/** Splits a line into its words and the one at its end. Quotes and backslashes are those of a POSIX shell. */
function split(line: string): { all: readonly string[]; last: string } {
  const all: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (let at = 0; at < line.length; at++) {
    const character = line.charAt(at);
    if (quote !== "") {
      if (character === quote) quote = "";
      else word = (word ?? "") + (character === "\\" && quote === '"' ? line.charAt(++at) : character);
    } else if (character === "'" || character === '"') {
      quote = character;
      word ??= "";
    } else if (character === "\\") word = (word ?? "") + line.charAt(++at);
    else if (/\s/.test(character)) {
      if (word !== undefined) all.push(word);
      word = undefined;
    } else word = (word ?? "") + character;
  }
  return { all, last: word ?? "" };
}
