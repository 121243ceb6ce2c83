/** What was typed, without spaces around texts. */
function trimmed<T extends object>(edits: Partial<T>): Partial<T> {
  return Object.fromEntries(
    Object.entries(edits).map(([name, value]) => [name, typeof value === "string" ? value.trim() : value]),
  ) as Partial<T>;
}

/** The members that were edited to something else than was read: they alone are sent. */
export function differing<T extends object>(read: T, edits: Partial<T>): Partial<T> {
  const isOther = ([name, value]: [string, unknown]) => JSON.stringify(value) !== JSON.stringify(read[name as keyof T]);
  return Object.fromEntries(Object.entries(trimmed(edits)).filter(isOther)) as Partial<T>;
}
