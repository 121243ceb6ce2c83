import { parse } from "@harrier/fiql";

/** What is wrong with a query, and where: the place of the first character that does not fit, counted from 0. */
export interface QueryProblem {
  readonly text: string;
  readonly at?: number | undefined;
}

/** Says what is wrong with a query, in the words of the server's own parser. */
export function problemIn(query: string): QueryProblem | undefined {
  if (query.trim() === "") return undefined;
  try {
    parse(query);
    return undefined;
  } catch (error) {
    const text = (error as Error).message;
    const position = /position (\d+)/.exec(text)?.[1];
    return { text, at: position === undefined ? undefined : Number(position) - 1 };
  }
}

/** The same in words alone. */
export const problemOfQuery = (query: string): string | undefined => problemIn(query)?.text;

/** So much of the query is shown before and behind the place. */
const [before, behind] = [40, 24];

/** The query around a place: what is before it, the character there, which is blank where the query ends, and what is behind it. */
export function around(query: string, at: number): readonly [string, string, string] {
  const [from, to] = [Math.max(0, at - before), at + 1 + behind];
  return [
    (from > 0 ? "…" : "") + query.slice(from, at),
    query.charAt(at).trim() || "\u00a0",
    query.slice(at + 1, to) + (to < query.length ? "…" : ""),
  ];
}
