/**
 * Splits a line that is being typed into its words, without options and their values, and the word at its end. Quotes and backslashes are those of a
 * POSIX shell.
 */
export function findWords(line: string): { words: readonly string[]; last: string } {
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
  const [, ...typed] = all;
  const words = typed.filter((one, n) => !one.startsWith("-") && !takesValue.has(typed[n - 1] ?? ""));
  return { words, last: word ?? "" };
}

/** The options of every command whose value is a word of its own. */
const takesValue: ReadonlySet<string> = new Set(["-o", "--output", "--columns", "--server", "--token", "--context", "-q", "--query"]);
