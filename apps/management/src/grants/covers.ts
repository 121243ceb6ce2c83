import type { Principal } from "@harrier/rpc";
import type { Grants } from "./grants.ts";

/** What somebody may do who gives something on. */
export type Held = Pick<Principal, "permissions" | "targetTypeScopes">;

/** Whether somebody may do all of this: what he may do for some target types only, he cannot give on for more of them. */
export function covers({ permissions, targetTypeScopes = {} }: Held, { permissions: asked, scoped }: Grants): boolean {
  const unrestricted = (name: string) => permissions.includes(name) && !Object.hasOwn(targetTypeScopes, name);
  if (!asked.every(unrestricted)) return false;
  return Object.entries(scoped).every(([name, types]) => {
    if (unrestricted(name)) return true;
    const held = permissions.includes(name) ? targetTypeScopes[name] : undefined;
    return held !== undefined && types.every((type) => held.includes(type));
  });
}
