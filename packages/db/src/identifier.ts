const identifier = /^[a-z_][a-z0-9_]{0,62}$/;

/**
 * Checks the names of schemas, tables and columns that become part of a statement. Our names are plain, so everything else is a mistake of the
 * caller.
 */
export function checkedIdentifier(name: string): string {
  if (!identifier.test(name)) throw new Error(`not a plain SQL identifier: ${JSON.stringify(name)}`);
  return name;
}
