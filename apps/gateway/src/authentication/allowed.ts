import type { Principal, SignInResponse } from "@harrier/rpc";

type Answer = Pick<SignInResponse, "permissions" | "targetTypeScopes">;

/** All permissions, and the target types of those that are restricted; no such member where none is, as for most. */
export function allowed({ permissions, targetTypeScopes }: Answer): Pick<Principal, "permissions" | "targetTypeScopes"> {
  const scopes = Object.entries(targetTypeScopes).map(([permission, { ids }]) => [permission, ids] as const);
  if (scopes.length === 0) return { permissions };
  return { permissions: [...permissions, ...scopes.map(([permission]) => permission)], targetTypeScopes: Object.fromEntries(scopes) };
}
