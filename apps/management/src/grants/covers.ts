import { HarrierError } from "@harrier/errors";
import type { Principal } from "@harrier/rpc";
import { systemPermission } from "../identity/permissions.ts";
import type { Grants } from "./grants.ts";

/** What somebody may do who gives something on. */
export type Held = Pick<Principal, "permissions" | "targetTypeScopes">;

/**
 * The first permission of these that somebody does not hold, or not for all of the target types; undefined where all of it is held: what it may do
 * for some target types only, it cannot give on for more of them. Who holds the operator's permission holds everything: it makes tenants with their
 * administrators.
 */
export function uncovered({ permissions, targetTypeScopes = {} }: Held, { permissions: asked, scoped }: Grants): string | undefined {
  if (permissions.includes(systemPermission)) return undefined;
  const unrestricted = (name: string) => permissions.includes(name) && !Object.hasOwn(targetTypeScopes, name);
  const lacking = asked.find((name) => !unrestricted(name));
  if (lacking !== undefined) return lacking;
  const beyond = Object.entries(scoped).find(([name, types]) => {
    if (unrestricted(name)) return false;
    const held = permissions.includes(name) ? targetTypeScopes[name] : undefined;
    return held === undefined || !types.every((type) => held.includes(type));
  });
  return beyond?.[0];
}

/**
 * Nobody changes what somebody may do, or becomes it, who may do more than the caller.
 * @throws insufficientPermission with the permission that the caller lacks.
 */
export function checkCovers(held: Held, asked: Grants): void {
  const lacking = uncovered(held, asked);
  if (lacking === undefined) return;
  throw new HarrierError("insufficientPermission", `Insufficient Permission: the caller does not hold ${lacking} to this extent.`, {
    info: { permissions: [lacking] },
  });
}
