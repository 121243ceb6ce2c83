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
