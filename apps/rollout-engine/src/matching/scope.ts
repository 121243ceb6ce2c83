import type { Principal } from "@harrier/rpc";

/** Target types that somebody is restricted to; null: not restricted (spec 001 §2.8, targetTypeScopes). */
export type Scope = readonly number[] | null;

type Scoped = Pick<Principal, "targetTypeScopes">;

/** Types that all of these permissions are good for. */
export function scopeOf({ targetTypeScopes }: Scoped, permissions: readonly string[]): Scope {
  return permissions.reduce<Scope>((scope, permission) => {
    const own = targetTypeScopes?.[permission] ?? null;
    if (scope === null || own === null) return scope ?? own;
    return scope.filter((type) => own.includes(type));
  }, null);
}

/** What somebody sees of the targets. */
export function visibleTypes(principal: Scoped): Scope {
  return scopeOf(principal, ["READ_TARGET"]);
}

/** What somebody's rollouts may reach: targets of types that they may both see and change. */
export function reachableTypes(principal: Scoped): Scope {
  return scopeOf(principal, ["READ_TARGET", "UPDATE_TARGET", "CREATE_ROLLOUT"]);
}
