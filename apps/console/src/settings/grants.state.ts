/** The permissions that are held: null for all device types, else those that it is restricted to. */
export type Grants = Readonly<Record<string, readonly number[] | null>>;

interface Granted {
  readonly permission: string;
  readonly targetTypeScopes: readonly number[] | null;
}

/** The grants of an answer; one of names alone restricts none. */
export function grantsOf(answer: readonly (Granted | string)[]): Grants {
  return Object.fromEntries(answer.map((one) => (typeof one === "string" ? [one, null] : [one.permission, one.targetTypeScopes])));
}

/** The body that grants exactly these. */
export function bodyOf(grants: Grants): { permission: string; targetTypeScopes?: number[] }[] {
  return Object.entries(grants).map(([permission, scopes]) => ({ permission, ...(scopes !== null && { targetTypeScopes: [...scopes] }) }));
}

/** Grants a permission, or takes it away. */
export function withPermission(grants: Grants, name: string, on: boolean): Grants {
  const { [name]: _, ...others } = grants;
  return on ? { ...others, [name]: null } : others;
}

/** Restricts a permission to one more type, or to one less; without any it holds for none. */
export function withScope(grants: Grants, name: string, type: number, on: boolean): Grants {
  const old = grants[name] ?? [];
  return { ...grants, [name]: on ? [...old.filter((one) => one !== type), type] : old.filter((one) => one !== type) };
}

/** What was changed of grants: a permission with its restriction, or false for one that was taken away. */
export type GrantEdits = Readonly<Record<string, readonly number[] | null | false>>;

/** What differs between what is held and what is wanted. */
export function editsOf(held: Grants, wanted: Grants): GrantEdits {
  const names = [...new Set([...Object.keys(held), ...Object.keys(wanted)])];
  const after = (name: string) => (Object.hasOwn(wanted, name) ? (wanted[name] ?? null) : false);
  const before = (name: string) => (Object.hasOwn(held, name) ? (held[name] ?? null) : false);
  const isOther = (name: string) => JSON.stringify(after(name)) !== JSON.stringify(before(name));
  return Object.fromEntries(names.filter(isOther).map((name) => [name, after(name)]));
}

/** Grants with what was changed of them, also when somebody else has changed others meanwhile. */
export function withEdits(held: Grants, edits: GrantEdits): Grants {
  const all = Object.entries({ ...held, ...edits });
  return Object.fromEntries(all.filter((entry): entry is [string, readonly number[] | null] => entry[1] !== false));
}
