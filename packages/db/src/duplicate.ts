/** Columns that hold what users call something, and the names of their members outside. Only these are told, never a digest or an id. */
const members: Readonly<Record<string, string>> = {
  name: "name",
  "lower(name)": "name",
  key: "key",
  version: "version",
  controller_id: "controllerId",
  filename: "filename",
};

/**
 * What is there already, where a statement has failed because of that (23505): member and value of each column of the key that users have chosen.
 * Read from the database's own words, `Key (tenant_id, name)=(1, os) already exists.`, whatever language they are in; undefined where these do not
 * tell it without doubt.
 */
export function duplicateOf(error: unknown): Record<string, string> | undefined {
  const { code, detail } = error as { code?: unknown; detail?: unknown };
  if (code !== "23505" || typeof detail !== "string") return undefined;
  const [, keys = "", given = ""] = /\((.*?)\)=\((.*)\)/s.exec(detail) ?? [];
  const columns = keys.split(", ");
  const values = valuesOf(columns, given);
  const told = columns.flatMap((column, n) => {
    const member = members[column];
    return member === undefined || values === undefined ? [] : [[member, values[n] as string] as const];
  });
  return told.length === 0 ? undefined : Object.fromEntries(told);
}

/** As many values as there are columns. A text may hold the separator: then it is told from the others only where it is the only text. */
function valuesOf(columns: readonly string[], given: string): string[] | undefined {
  const parts = given.split(", ");
  if (parts.length === columns.length) return parts;
  const texts = columns.flatMap((column, n) => (column in members ? [n] : []));
  const [at] = texts;
  if (at === undefined || texts.length > 1 || parts.length < columns.length) return undefined;
  const behind = columns.length - at - 1;
  const text = parts.slice(at, parts.length - behind).join(", ");
  return [...parts.slice(0, at), text, ...parts.slice(parts.length - behind)];
}
