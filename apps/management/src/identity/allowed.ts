import type { SignInResponse } from "@harrier/rpc";
import { type Grants, namesOf } from "../grants/grants.ts";
import { withImplied } from "./permissions.ts";

/** Returns what is held or implied without restriction, and separately what is restricted. */
export function allowed(grants: Grants): Pick<SignInResponse, "permissions" | "targetTypeScopes"> {
  const targetTypeScopes = Object.fromEntries(Object.entries(grants.scoped).map(([name, ids]) => [name, { ids: [...ids] }]));
  return { permissions: withImplied(namesOf({ ...grants, scoped: {} })), targetTypeScopes };
}
