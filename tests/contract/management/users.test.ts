import { type PermissionView, routeTable as r, type UserinfoView, type UserView } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { accessBuilder } from "../support/access.ts";
import { builder, unique } from "../support/build.ts";
import { ask, call, dialects, refused } from "../support/call.ts";
import { credentials } from "../support/http.ts";
import type { Page } from "../support/look.ts";
import { knownHashes } from "../support/passwords.ts";
import { eventually } from "../support/wait.ts";

const { basic } = credentials;
/** Every gateway knows a changed user within this time. */
const secondsMs = 5_000;

describe.each(dialects)("users, %s", (dialect) => {
  const build = builder(dialect);
  const { user, grant } = accessBuilder(dialect);
  const create = async (body: object) => (await call<UserView[]>(r.users.create, dialect, { body })).json;
  const notCreated = (body: object, expected: readonly [number, string]) => refused(r.users.create, dialect, { body }, expected);
  const info = (auth: string) => ask<UserinfoView>(r.userinfo.get, dialect, { auth });

  it("management 12.134 a user is created with a password that is never shown again, is found by name and signs in at once", async () => {
    const [name, password] = [unique("user"), "päss word:with\\everything"];
    const [made] = await create([{ name, password, permissions: ["READ_TARGET", "READ_TARGET"] }]);
    expect(made).toMatchObject({ name, type: "PASSWORD_USER", systemManaged: false, permissions: ["READ_TARGET"] });
    const listed = await call<Page<UserView>>(r.users.list, dialect, { query: { q: `name==${name}` } });
    expect(listed.text + JSON.stringify(made)).not.toMatch(/password"|passwordHash|scrypt/i);
    expect(listed.json).toMatchObject({ total: 1, content: [{ id: made?.id, name }] });
    const full = await call<Page<UserView>>(r.users.list, dialect, { query: { q: `id==${made?.id}`, representation: "full" } });
    expect(full.json.content).toEqual([made]);
    expect((await info(basic(name, password))).json).toMatchObject({ tenant: "DEFAULT", username: name, permissions: ["READ_TARGET"] });
    expect((await info(basic(name, password))).json).toMatchObject({ id: made?.id, kind: "user", targetTypeScopes: {} });
    expect((await info(basic(`default\\${name}`, password))).status).toBe(200);
    expect((await info(basic(name, `${password} `))).status).toBe(401);
  });

  it("management 10.1 a user is created with the hash of a password, of scrypt, argon2id or bcrypt", async () => {
    for (const [password, passwordHash] of knownHashes) {
      const name = unique("user");
      expect(await create({ name, passwordHash })).toMatchObject([{ type: "PASSWORD_USER", permissions: [] }]);
      expect((await info(basic(name, password))).status).toBe(200);
      expect((await info(basic(name, `${password}!`))).status).toBe(401);
    }
  });

  it("management 10.1 a user without either signs in at the identity provider and with no password", async () => {
    const name = unique("user");
    const [made] = await create([{ name }]);
    expect(made?.type).toBe("EXTERNAL_USER");
    for (const password of ["", "null", "undefined"]) expect((await info(basic(name, password))).status).toBe(401);
    const change = { params: { userId: made?.id as number }, body: { newPassword: unique() } };
    await refused(r.users.changePassword, dialect, change, [400, "repo.constraintViolation"]);
  });

  it("management 10.1 one invalid user makes the whole request fail", async () => {
    const [other, password] = [unique("user"), unique("secret")];
    const { name: taken } = await user();
    const wrong = [400, "repo.constraintViolation"] as const;
    const cases: [object, readonly [number, string]][] = [
      [{ name: taken }, [409, "repo.entityAlreadyExists"]],
      [{ name: unique(), password, passwordHash: "$scrypt$ln=14,r=8,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc" }, wrong],
      [{ name: unique(), passwordHash: password }, wrong],
      [{ name: unique(), passwordHash: `$scrypt$ln=40,r=8,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc` }, wrong],
      [{ name: unique(), password: "weak" }, wrong],
      [{ name: unique(), password: "elevenchars" }, wrong],
      [{ name: unique(), password: "password1234" }, wrong],
      [{ name: other, password: other.toUpperCase() }, wrong],
      [{ name: `\u0430${unique("dmin")}` }, wrong],
      [{ name: `${unique("user")}\u200b` }, wrong],
      [{ name: `${unique("user")}\u202e` }, wrong],
      [{ name: unique("oc_1_") }, wrong],
      [{ name: unique(), permissions: ["READ_EVERYTHING"] }, wrong],
      [{ name: "x\\y" }, wrong],
      [{ password }, wrong],
      [{ name: "<b>x</b>" }, wrong],
    ];
    for (const [body, expected] of cases) await notCreated([{ name: other }, body], expected);
    expect((await call<Page<UserView>>(r.users.list, dialect, { query: { q: `name==${other}` } })).json.total).toBe(0);
  });

  it("spec 001 4.7 a changed permission takes effect within seconds, without another sign-in", async () => {
    const { id, auth } = await user();
    const list = () => ask(r.targets.list, dialect, { auth });
    expect((await list()).status).toBe(403);
    expect(await grant(id, ["READ_TARGET"])).toEqual([{ permission: "READ_TARGET", targetTypeScopes: null }]);
    await eventually(async () => (await list()).status === 200, secondsMs);
    const one = { params: { userId: id } };
    await call(r.users.removePermission, dialect, { params: { ...one.params, permission: "READ_TARGET" } });
    await eventually(async () => (await list()).status === 403, secondsMs);
    const added = await call<string[]>(r.users.addPermissions, dialect, { ...one, body: ["API_KEY", "READ_TARGET"] });
    expect(added.json.toSorted()).toEqual(["API_KEY", "READ_TARGET"]);
    await eventually(async () => (await list()).status === 200, secondsMs);
    expect((await call<PermissionView[]>(r.users.listPermissions, dialect, one)).json).toContainEqual({
      permission: "API_KEY",
      targetTypeScopes: null,
    });
    await refused(r.users.removePermission, dialect, { params: { userId: id, permission: "DELETE_TARGET" } }, [404, "repo.entityNotFound"]);
  });

  it("management 10.1 users change their own password, with USER_MANAGEMENT any; the old one is invalid within seconds", async () => {
    const [self, other] = [await user(), await user()];
    const change = (userId: number, newPassword: string, auth?: string) => ({
      params: { userId },
      body: { newPassword },
      ...(auth === undefined ? {} : { auth }),
    });
    await refused(r.users.changePassword, dialect, change(other.id, unique(), self.auth), [403, "insufficientPermission"]);
    await refused(r.users.changePassword, dialect, change(self.id, "weak", self.auth), [400, "repo.constraintViolation"]);
    const next = unique("secret");
    await call(r.users.changePassword, dialect, change(self.id, next, self.auth));
    expect((await info(basic(self.name, next))).status).toBe(200);
    await eventually(async () => (await info(self.auth)).status === 401, secondsMs);
    await call(r.users.changePassword, dialect, change(other.id, next));
    expect((await info(basic(other.name, next))).status).toBe(200);
  });

  it("management 12.134 deleted users are signed out within seconds; the system's and one's own account cannot be deleted", async () => {
    const { id, name, auth } = await user(["USER_MANAGEMENT"]);
    expect((await info(auth)).status).toBe(200);
    const one = { params: { userId: id } };
    await refused(r.users.delete, dialect, { ...one, auth }, [403, "entityReadOnly"]);
    await call(r.users.delete, dialect, one);
    await eventually(async () => (await info(auth)).status === 401, secondsMs);
    await refused(r.users.get, dialect, one, [404, "repo.entityNotFound"]);
    const listed = await call<Page<UserView>>(r.users.list, dialect, { query: { q: `name==${credentials.systemUser}` } });
    const [admin] = listed.json.content;
    expect(admin).toMatchObject({ systemManaged: true });
    const system = { params: { userId: admin?.id as number } };
    const manager = await user(["USER_MANAGEMENT"]);
    await refused(r.users.delete, dialect, { ...system, auth: manager.auth }, [403, "entityReadOnly"]);
    await refused(r.users.setPermissions, dialect, { ...system, body: [], auth: manager.auth }, [403, "entityReadOnly"]);
    await refused(r.users.changePassword, dialect, { ...system, body: { newPassword: unique() } }, [403, "entityReadOnly"]);
    // The name can be used again, and the new user is another one.
    const [again] = await create([{ name, password: unique() }]);
    expect(again?.id).not.toBe(id);
    expect((await info(auth)).status).toBe(401);
  });

  it("extensions permissions over all tenants are granted only by users who hold them", async () => {
    const { auth } = await user(["USER_MANAGEMENT", "ROLE_MANAGEMENT"]);
    const { id } = await user();
    const forbidden = [403, "insufficientPermission"] as const;
    await refused(r.users.addPermissions, dialect, { params: { userId: id }, body: ["SYSTEM_ADMIN"], auth }, forbidden);
    const body = [{ name: unique(), permissions: [{ permission: "SYSTEM_ADMIN" }] }];
    await refused(r.roles.create, dialect, { body, auth }, forbidden);
  });

  it("a user grants only what they hold, and cannot change, impersonate or delete a user who holds more", async () => {
    const boss = await user(["USER_MANAGEMENT", "ROLE_MANAGEMENT", "TENANT_CONFIGURATION"]);
    const held = ["USER_MANAGEMENT", "ROLE_MANAGEMENT", { permission: "READ_TARGET", targetTypeScopes: [] }];
    const { id: userId, auth } = await user(held);
    const forbidden = [403, "insufficientPermission"] as const;
    const self = { params: { userId }, auth };
    const other = { params: { userId: boss.id }, auth };
    await refused(r.users.changePassword, dialect, { ...other, body: { newPassword: unique("a new password") } }, forbidden);
    await refused(r.users.setPermissions, dialect, { ...other, body: [] }, forbidden);
    await refused(r.users.removePermission, dialect, { auth, params: { ...other.params, permission: "USER_MANAGEMENT" } }, forbidden);
    await refused(r.users.delete, dialect, other, forbidden);
    expect((await info(boss.auth)).status).toBe(200);
    for (const permission of ["READ_TARGET", "API_KEY", "TENANT_CONFIGURATION"]) {
      await refused(r.users.addPermissions, dialect, { ...self, body: [permission] }, forbidden);
      await refused(r.users.setPermissions, dialect, { ...self, body: [{ permission }] }, forbidden);
      await refused(r.users.create, dialect, { auth, body: [{ name: unique(), permissions: [permission] }] }, forbidden);
      await refused(r.roles.create, dialect, { auth, body: [{ name: unique(), permissions: [{ permission }] }] }, forbidden);
    }
    expect((await info(auth)).json.permissions).not.toContain("API_KEY");
    // The user may grant what it holds.
    const { id } = await user();
    await call(r.users.addPermissions, dialect, { params: { userId: id }, body: ["USER_MANAGEMENT"], auth });
    const body = [{ permission: "READ_TARGET", targetTypeScopes: [] }];
    await call(r.users.setPermissions, dialect, { params: { userId: id }, body, auth });
  });

  it("management 12.43 a download needs its own permission", async () => {
    const { moduleId, artifact } = await build.setWithArtifact();
    const params = { softwareModuleId: moduleId, artifactId: artifact.id };
    const [reader, loader] = [await user(["READ_REPOSITORY"]), await user(["DOWNLOAD_REPOSITORY_ARTIFACT"])];
    await refused(r.artifacts.download, dialect, { params, auth: reader.auth }, [403, "insufficientPermission"]);
    expect((await call(r.artifacts.download, dialect, { params, auth: loader.auth })).bytes).toEqual(artifact.bytes);
  });

  it("management 12.124 the key of the gateway token is shown only to users who may read it", async () => {
    const key = "authentication.gatewaytoken.key";
    const [reader, both] = [
      await user(["READ_TENANT_CONFIGURATION"]),
      await user(["READ_TENANT_CONFIGURATION", "READ_GATEWAY_SECURITY_TOKEN"]),
    ];
    const list = async (auth: string) => Object.keys((await call<Record<string, unknown>>(r.configs.list, dialect, { auth })).json);
    expect(await list(reader.auth)).not.toContain(key);
    expect(await list(both.auth)).toContain(key);
    await refused(r.configs.get, dialect, { params: { key }, auth: reader.auth }, [403, "insufficientPermission"]);
    await call(r.configs.get, dialect, { params: { key }, auth: both.auth });
  });
});
