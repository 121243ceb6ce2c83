import type pg from "pg";

interface Text {
  readonly encoding: string;
  readonly ctype: string;
}

/**
 * Answers in one clause why a database cannot hold Harrier's text, or undefined if it can. Names come in every script, so the encoding must be
 * UTF8; names, attributes and filters are compared without case by `lower`, which under the ctype `C` leaves all letters beyond ASCII as they are.
 * Folding is tried rather than told from the ctype's name, because the providers of locales (libc, ICU, builtin) name the same thing differently.
 */
export async function unsuitableText(client: Pick<pg.ClientBase, "query">): Promise<string | undefined> {
  const { rows } = await client.query<Text>(
    `select pg_encoding_to_char(encoding) as encoding, datctype::text as ctype from pg_database where datname = current_database()`,
  );
  const { encoding, ctype } = rows[0] as Text;
  const remedy = "create it with template template0, encoding 'UTF8' and locale 'C.UTF-8' or that of a language";
  if (encoding !== "UTF8") return `the database's encoding is ${encoding} and must be UTF8: ${remedy}`;
  // It is asked by itself: where another encoding has no such character, the statement fails however it is guarded.
  const { rows: folding } = await client.query<{ folds: boolean }>(`select lower(chr(196)) = chr(228) as folds`);
  if (!folding[0]?.folds) return `the database's ctype ${ctype} does not fold the case of letters such as Ä: ${remedy}`;
  return undefined;
}
