import { HarrierError } from "@harrier/errors";
import type { Principal } from "@harrier/rpc";
import { systemPermission } from "../identity/permissions.ts";
import type { Grants } from "./grants.ts";

/** These are the grants of the user who grants something. */
export type HeldGrants = Pick<Principal, "permissions" | "targetTypeScopes">;

/**
 * Returns the first of these permissions that the granter does not hold, or does not hold for all of the target types; undefined means that
 * all are held. A permission for some target types cannot be granted for more of them. A holder of the operator's permission holds
 * everything, because operators create tenants with their administrators.
 */
export function uncovered(
  { permissions, targetTypeScopes = {} }: HeldGrants,
  { permissions: requested, scoped }: Grants,
): string | undefined {
  if (permissions.includes(systemPermission)) return undefined;
  const unrestricted = (name: string) => permissions.includes(name) && !Object.hasOwn(targetTypeScopes, name);
  const lacking = requested.find((name) => !unrestricted(name));
  if (lacking !== undefined) return lacking;
  const beyond = Object.entries(scoped).find(([name, types]) => {
    if (unrestricted(name)) return false;
    const held = permissions.includes(name) ? targetTypeScopes[name] : undefined;
    return held === undefined || !types.every((type) => held.includes(type));
  });
  return beyond?.[0];
}

/**
 * Refuses a change of a holder who holds more than the caller: a user can neither change the grants of such a user nor sign in as one.
 * @throws insufficientPermission with the permission that the caller lacks.
 */
export function checkCovers(held: HeldGrants, requested: Grants): void {
  const lacking = uncovered(held, requested);
  if (lacking === undefined) return;
  throw new HarrierError("insufficientPermission", `Insufficient Permission: the caller does not hold ${lacking} to this extent.`, {
    info: { permissions: [lacking] },
  });
}
