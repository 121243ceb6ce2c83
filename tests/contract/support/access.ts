import { type PermissionView, type RoleView, routeTable as r, type UserView } from "@harrier/contracts";
import { unique } from "./build.ts";
import { call, type Dialect } from "./call.ts";
import { credentials } from "./http.ts";
import { importedPassword } from "./passwords.ts";
import type { ValidRequest } from "./walk.ts";

export interface SignedUp {
  id: number;
  name: string;
  /** The value of its Authorization header. */
  auth: string;
}

/** A permission with the target types that it is restricted to, or just its name. */
export type Grant = string | { permission: string; targetTypeScopes: number[] };

/** All users of a worker that the builders make share a password: no case is about that of another user. */
let shared: ReturnType<typeof importedPassword> | undefined;

/** Does what an administrator does with users and roles, in one dialect. */
export function accessBuilder(dialect: Dialect) {
  const user = async (grants: readonly Grant[] = []): Promise<SignedUp> => {
    const name = unique("user");
    shared ??= importedPassword();
    const { password, passwordHash } = await shared;
    const [made] = (await call<UserView[]>(r.users.create, dialect, { body: [{ name, passwordHash }] })).json;
    const { id } = made as UserView;
    if (grants.length > 0) await grant(id, grants);
    // A name without a tenant means the tenant DEFAULT (contract management.md §1.1).
    const username = credentials.tenant === "DEFAULT" ? name : `${credentials.tenant}\\${name}`;
    return { id, name, auth: credentials.basic(username, password) };
  };
  const grant = async (userId: number, grants: readonly Grant[]): Promise<PermissionView[]> => {
    const body = grants.map((one) => (typeof one === "string" ? { permission: one } : one));
    return (await call<PermissionView[]>(r.users.setPermissions, dialect, { params: { userId }, body })).json;
  };
  const role = async (permissions: object[] = []): Promise<RoleView> =>
    (await call<RoleView[]>(r.roles.create, dialect, { body: [{ name: unique("role"), permissions }] })).json[0] as RoleView;
  return { user, grant, role };
}

/** Makes a valid request for every route of users and roles. */
export function accessRequests(dialect: Dialect): Record<string, ValidRequest> {
  const { user, role } = accessBuilder(dialect);
  const oneUser = async () => ({ params: { userId: (await user(["READ_TARGET", "API_KEY"])).id } });
  const oneRole = async () => ({ params: { roleId: (await role([{ permission: "READ_TARGET" }])).id } });
  const permission = "READ_TARGET";
  const held = async (of: () => Promise<{ params: object }>) => ({ params: { ...(await of()).params, permission } });
  const listed = { query: { representation: "full", q: "name==*;id=gt=0", sort: "id:DESC", limit: 5 } };
  const grants = [{ permission, targetTypeScopes: [] }, { permission: "API_KEY" }];
  return {
    "users.list": () => listed,
    "users.create": () => ({ body: [{ name: unique(), password: unique(), permissions: [permission] }] }),
    "users.get": oneUser,
    "users.delete": oneUser,
    "users.listPermissions": oneUser,
    "users.setPermissions": async () => ({ ...(await oneUser()), body: grants }),
    "users.addPermissions": async () => ({ ...(await oneUser()), body: ["CREATE_TARGET"] }),
    "users.removePermission": () => held(oneUser),
    "users.changePassword": async () => ({ ...(await oneUser()), body: { newPassword: unique() } }),
    "roles.list": () => listed,
    "roles.create": () => ({ body: [{ name: unique(), permissions: grants }] }),
    "roles.get": oneRole,
    "roles.delete": oneRole,
    "roles.listPermissions": async () => ({ ...(await oneRole()), query: { representation: "full" } }),
    "roles.setPermissions": async () => ({ ...(await oneRole()), body: grants }),
    "roles.addPermissions": async () => ({ ...(await oneRole()), body: ["CREATE_TARGET"] }),
    "roles.removePermission": () => held(oneRole),
    "roles.replaceScopes": async () => ({ ...(await held(oneRole)), body: [] }),
    "roles.addScopes": async () => ({ ...(await held(oneRole)), body: [] }),
    "roles.removeScopes": async () => ({ ...(await held(oneRole)), body: [] }),
  };
}
