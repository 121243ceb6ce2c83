import type { Identity } from "@harrier/rpc";

/** Target types that a permission of the caller is limited to; null: all targets (spec 001 §2.8, targetTypeScopes). */
export type Scope = readonly number[] | null;

/** The scope of one permission. A limited caller sees no target without a type. */
export function scopeOf(identity: Pick<Identity, "targetTypeScopes">, permission: "READ_TARGET" | "UPDATE_TARGET"): Scope {
  return identity.targetTypeScopes?.[permission] ?? null;
}

/** Predicate over the type id of a target; `parameter` is bound to a Scope. */
export const inScope = (typeId: string, parameter: string): string =>
  `(${parameter}::bigint[] is null or ${typeId} = any(${parameter}::bigint[]))`;
