/** These columns hold names that users choose, with the names of their members in the interface. Only these are shown, never a digest or an id. */
const members: Readonly<Record<string, string>> = {
  name: "name",
  "lower(name)": "name",
  key: "key",
  version: "version",
  controller_id: "controllerId",
  filename: "filename",
};

/**
 * Answers which existing row made a statement fail (23505): member and value of each column of the key that users have chosen. It is read from the
 * database's own message, `Key (tenant_id, name)=(1, os) already exists.`, in any language; undefined if the message is ambiguous.
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

/** Splits the values, as many as there are columns. A text may contain the separator, and can then only be split if it is the only text. */
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
