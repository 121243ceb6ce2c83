/** The target types to which a permission of the caller is restricted; null stands for all targets (spec 001 §2.8, targetTypeScopes). */
export type Scope = readonly number[] | null;

/** The part of an identity that restricts its permissions. */
export interface Scoped {
  targetTypeScopes?: Readonly<Record<string, readonly number[]>> | undefined;
}

/** Answers the target types that all of these permissions reach. A restricted caller sees no target without a type. */
export function scopeOf({ targetTypeScopes }: Scoped, ...permissions: readonly string[]): Scope {
  return permissions.reduce<Scope>((scope, permission) => {
    const own = targetTypeScopes?.[permission] ?? null;
    if (scope === null || own === null) return scope ?? own;
    return scope.filter((type) => own.includes(type));
  }, null);
}

/** Checks the same as `inScope`, for a row that was read already. */
export function isInScope(scope: Scope, typeId: number | null): boolean {
  return scope === null || (typeId !== null && scope.includes(typeId));
}

/** Makes a predicate over the types of targets that a rollout reaches (null before they are known): it is true if the scope has all of them (ADR 16). */
export const reachesOnly = (types: string, parameter: string): string =>
  `(${parameter}::bigint[] is null or coalesce(${types} <@ ${parameter}::bigint[], false))`;

/** Makes a predicate over the type id of a target; `parameter` is bound to a Scope. */
export const inScope = (typeId: string, parameter: string): string =>
  `(${parameter}::bigint[] is null or ${typeId} = any(${parameter}::bigint[]))`;
