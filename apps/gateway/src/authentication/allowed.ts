import type { Principal, SignInResponse } from "@harrier/rpc";

type Answer = Pick<SignInResponse, "permissions" | "targetTypeScopes">;

/** Returns all permissions, and the target types of those that are restricted; without a restriction, the usual case, the member is absent. */
export function allowed({ permissions, targetTypeScopes }: Answer): Pick<Principal, "permissions" | "targetTypeScopes"> {
  const scopes = Object.entries(targetTypeScopes).map(([permission, { ids }]) => [permission, ids] as const);
  if (scopes.length === 0) return { permissions };
  return { permissions: [...permissions, ...scopes.map(([permission]) => permission)], targetTypeScopes: Object.fromEntries(scopes) };
}
