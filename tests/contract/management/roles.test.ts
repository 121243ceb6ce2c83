import { type PermissionInfoView, type PermissionView, type RoleView, routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { accessBuilder } from "../support/access.ts";
import { unique } from "../support/build.ts";
import { call, dialects, refused } from "../support/call.ts";
import type { Page } from "../support/look.ts";

const unrestricted = (permission: string) => ({ permission, targetTypeScopes: null });

describe.each(dialects)("roles, %s", (dialect) => {
  const { role } = accessBuilder(dialect);
  const find = async (q: string, more: object = {}) => (await call<Page<RoleView>>(r.roles.list, dialect, { query: { q, ...more } })).json;
  const permissionsOf = async (roleId: number) =>
    (await call<PermissionView[]>(r.roles.listPermissions, dialect, { params: { roleId } })).json;

  it("extensions SYSTEM_ADMIN exists with all permissions and cannot be changed", async () => {
    const { content } = await find("name==SYSTEM_ADMIN", { representation: "full" });
    expect(content).toHaveLength(1);
    const { id: roleId, permissions } = content[0] as RoleView;
    expect(permissions).toEqual(expect.arrayContaining(["API_KEY", "USER_MANAGEMENT", "READ_TARGET"].map(unrestricted)));
    const one = { params: { roleId } };
    const held = { params: { roleId, permission: "READ_TARGET" } };
    const readOnly = [403, "entityReadOnly"] as const;
    await refused(r.roles.delete, dialect, one, readOnly);
    await refused(r.roles.setPermissions, dialect, { ...one, body: [] }, readOnly);
    await refused(r.roles.addPermissions, dialect, { ...one, body: ["READ_TARGET"] }, readOnly);
    await refused(r.roles.removePermission, dialect, held, readOnly);
    await refused(r.roles.replaceScopes, dialect, { ...held, body: [] }, readOnly);
    await refused(r.roles.removeScopes, dialect, held, readOnly);
    expect((await find("name==SYSTEM_ADMIN", { representation: "full" })).content).toEqual(content);
  });

  it("console M18 lists every permission, and those that are said to be about targets are those that can be restricted", async () => {
    const { json } = await call<PermissionInfoView[]>(r.permissions.list, dialect);
    const { content } = await find("name==SYSTEM_ADMIN", { representation: "full" });
    const held = (content[0] as RoleView).permissions?.map(({ permission }) => permission);
    expect(json.filter(({ area }) => area !== "installation").map(({ name }) => name)).toEqual(held);
    expect(json.find(({ name }) => name === "TENANT_CONFIGURATION")?.implies).toContain("READ_TENANT_CONFIGURATION");
    for (const { name: permission, targetRelated } of json.filter(({ area }) => area !== "installation")) {
      const body = [{ name: unique(), permissions: [{ permission, targetTypeScopes: [] }] }];
      if (targetRelated) await call(r.roles.create, dialect, { body });
      else await refused(r.roles.create, dialect, { body }, [400, "repo.constraintViolation"]);
    }
  });

  it("management 10.2 roles are created, shown, listed in brief and in full, deleted", async () => {
    const made = await role([{ permission: "READ_TARGET", targetTypeScopes: [] }, { permission: "API_KEY" }]);
    const permissions = [{ permission: "READ_TARGET", targetTypeScopes: [] }, unrestricted("API_KEY")];
    expect(made.permissions).toEqual(permissions);
    const one = { params: { roleId: made.id } };
    expect((await call<RoleView>(r.roles.get, dialect, one)).json).toEqual(made);
    const { permissions: _left, ...brief } = made;
    expect((await find(`name==${made.name}`)).content).toEqual([brief]);
    expect((await find(`id==${made.id}`, { representation: "full" })).content).toEqual([made]);
    expect(await permissionsOf(made.id)).toEqual(permissions);
    const names = await call(r.roles.listPermissions, dialect, { ...one, query: { representation: "compact" } });
    expect(names.json).toEqual(["READ_TARGET", "API_KEY"]);
    await refused(r.roles.create, dialect, { body: [{ name: made.name }] }, [409, "repo.entityAlreadyExists"]);
    await call(r.roles.delete, dialect, one);
    await refused(r.roles.get, dialect, one, [404, "repo.entityNotFound"]);
    await refused(r.roles.delete, dialect, one, [404, "repo.entityNotFound"]);
  });

  it("management 12.135 a permission granted by name is not restricted any more", async () => {
    const { id } = await role([{ permission: "READ_TARGET", targetTypeScopes: [] }]);
    const granted = await call(r.roles.addPermissions, dialect, { params: { roleId: id }, body: ["READ_TARGET"] });
    expect(granted.json).toEqual([unrestricted("READ_TARGET")]);
  });

  it("management 12.136 target types are added and removed down to the last one, and the restriction can be lifted", async () => {
    const { id: roleId } = await role([{ permission: "READ_TARGET" }, { permission: "READ_REPOSITORY" }]);
    const scopes = { params: { roleId, permission: "READ_TARGET" } };
    const none = { permission: "READ_TARGET", targetTypeScopes: [] };
    expect((await call(r.roles.removeScopes, dialect, { ...scopes, body: [5] })).json).toEqual(unrestricted("READ_TARGET"));
    expect((await call(r.roles.replaceScopes, dialect, { ...scopes, body: [] })).json).toEqual(none);
    expect((await call(r.roles.addScopes, dialect, { ...scopes, body: [] })).json).toEqual(none);
    expect((await call(r.roles.removeScopes, dialect, { ...scopes, body: [5] })).json).toEqual(none);
    expect((await call(r.roles.removeScopes, dialect, scopes)).text).toBe("");
    expect(await permissionsOf(roleId)).toEqual([unrestricted("READ_TARGET"), unrestricted("READ_REPOSITORY")]);
    const repository = { params: { roleId, permission: "READ_REPOSITORY" }, body: [] };
    await refused(r.roles.replaceScopes, dialect, repository, [400, "repo.constraintViolation"]);
    const unknown = { ...scopes, body: [2_000_000_000] };
    for (const route of [r.roles.replaceScopes, r.roles.addScopes]) await refused(route, dialect, unknown, [404, "repo.entityNotFound"]);
    const notHeld = { params: { roleId, permission: "DELETE_TARGET" }, body: [] };
    await refused(r.roles.addScopes, dialect, notHeld, [404, "repo.entityNotFound"]);
    const left = await call(r.roles.removePermission, dialect, scopes);
    expect(left.json).toEqual([unrestricted("READ_REPOSITORY")]);
    await refused(r.roles.removePermission, dialect, scopes, [404, "repo.entityNotFound"]);
  });

  it("management 10.2 invalid permissions cannot be granted", async () => {
    const { id: roleId } = await role();
    const wrong = [400, "repo.constraintViolation"] as const;
    for (const body of [
      [{ permission: "NOTHING" }],
      [{ targetTypeScopes: [] }],
      [{ permission: "API_KEY", targetTypeScopes: [] }],
      [{ permission: "API_KEY" }, { permission: "API_KEY" }],
    ]) {
      await refused(r.roles.setPermissions, dialect, { params: { roleId }, body }, wrong);
      await refused(r.roles.create, dialect, { body: [{ name: unique(), permissions: body }] }, wrong);
    }
    expect(await permissionsOf(roleId)).toEqual([]);
  });
});
