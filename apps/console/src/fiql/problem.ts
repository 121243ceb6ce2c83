import { parse } from "@harrier/fiql";

/** Says what is wrong with a query, in the words of the server's own parser. */
export function problemOfQuery(query: string): string | undefined {
  if (query.trim() === "") return undefined;
  try {
    parse(query);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
