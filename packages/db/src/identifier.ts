const identifier = /^[a-z_][a-z0-9_]{0,62}$/;

/** Schema, table and column names that go into a statement's text. Ours are plain, so everything else is a mistake of the caller. */
export function checkedIdentifier(name: string): string {
  if (!identifier.test(name)) throw new Error(`not a plain SQL identifier: ${JSON.stringify(name)}`);
  return name;
}
