import type { Identity } from "@harrier/rpc";

/** Target types that a permission of the caller is limited to; null: all targets (spec 001 §2.8, targetTypeScopes). */
export type Scope = readonly number[] | null;

/** Permissions whose scope confines what an answer shows: the one that the route asks for. */
export type ScopedPermission = "READ_TARGET" | "CREATE_TARGET" | "UPDATE_TARGET" | "DELETE_TARGET" | "READ_TARGET_SECURITY_TOKEN";

/** The scope of one permission. A limited caller sees no target without a type. */
export function scopeOf(identity: Pick<Identity, "targetTypeScopes">, permission: ScopedPermission): Scope {
  return identity.targetTypeScopes?.[permission] ?? null;
}

/** What lies in both scopes. */
export function commonScope(one: Scope, other: Scope): Scope {
  if (one === null || other === null) return one ?? other;
  return one.filter((id) => other.includes(id));
}

/** What `inScope` asks, of a row that is here already. */
export function isInScope(scope: Scope, typeId: number | null): boolean {
  return scope === null || (typeId !== null && scope.includes(typeId));
}

/** Predicate over the type id of a target; `parameter` is bound to a Scope. */
export const inScope = (typeId: string, parameter: string): string =>
  `(${parameter}::bigint[] is null or ${typeId} = any(${parameter}::bigint[]))`;
