import { afterAll, beforeAll, expect, test } from "vitest";
import { allPermissions } from "../identity/permissions.ts";
import { signIn } from "../identity/sign-in.ts";
import { type HttpFixture, httpFixture, origin } from "../testing/http.fixture.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";
import { ensureAdministrator } from "./ensure-administrator.ts";
import { changePassword } from "./users.ts";

let fixture: Fixture;
let http: HttpFixture;
const users = "/api/mgmt/v1/users";

beforeAll(async () => {
  fixture = await managementFixture();
  http = await httpFixture(fixture);
  await ensureAdministrator(
    { db: fixture.db.pool, ids: fixture.ids },
    { tenantId: fixture.tenantId, name: "admin", password: "admin secret" },
  );
  await fixture.rows(
    `insert into target_types (tenant_id, id, key, name, created_by, last_modified_by)
     select $1, n, 'type ' || n, 'type ' || n, 'test', 'test' from generate_series(21, 23) n`,
    [fixture.tenantId],
  );
});
afterAll(async () => {
  await http.close();
  await fixture.close();
});

const attempt = (username: string, password: string) =>
  signIn({ db: fixture.db.pool, defaultTenant: "DEFAULT", hashing: { run: (work) => work() } }, { username, password });
const changes = () => fixture.rows("select user_id from credential_changes order by id").then((rows) => rows.map((row) => row["user_id"]));
const make = async (body: object) => (await http.call("POST", users, { body: [body] })).body[0];
const status = async (method: string, path: string, body?: unknown, more: object = {}) => {
  const answer = await http.call(method, users + path, { ...(body === undefined ? {} : { body }), ...more });
  return [answer.status, answer.body?.errorCode?.replace("hawkbit.server.error.", "")];
};

test("a user with a password is created, signs in, and shows neither password nor hash", async () => {
  const made = await make({ name: "ann", password: "correct horse", permissions: ["READ_TARGET", "API_KEY"] });
  expect(made).toMatchObject({ name: "ann", type: "PASSWORD_USER", systemManaged: false, createdBy: "admin" });
  expect(made.permissions).toEqual(["READ_TARGET", "API_KEY"]);
  const self = `${origin}${users}/${made.id}`;
  expect(made._links).toEqual({ self: { href: self }, permissions: { href: `${self}/permissions` } });
  const read = (await http.call("GET", `${users}/${made.id}`)).body;
  expect(read).toEqual(made);
  expect(JSON.stringify(read)).not.toMatch(/password|scrypt/);
  expect(await attempt("ann", "correct horse")).toMatchObject({ ok: true, userId: made.id, permissions: ["READ_TARGET", "API_KEY"] });
  expect((await attempt("ann", "wrong horse")).ok).toBe(false);
});

test("an imported hash can be used, and a user without hash and password signs in at the identity provider", async () => {
  const passwordHash = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
  expect(await make({ name: "brought", passwordHash })).toMatchObject({ type: "PASSWORD_USER" });
  expect((await attempt("brought", "password")).ok).toBe(true);
  expect(await make({ name: "external" })).toMatchObject({ type: "EXTERNAL_USER", permissions: [] });
  expect((await attempt("external", "")).ok).toBe(false);
});

test.each<[string, object, number]>([
  ["both password and hash", { password: "correct horse", passwordHash: "$scrypt$ln=14,r=8,p=1$AAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA" }, 400],
  ["a hash that nothing fits", { passwordHash: "secret" }, 400],
  ["a short password", { password: "elevenchars" }, 400],
  ["a common password", { password: "password1234" }, 400],
  ["its own name as password", { name: "the whole refused", password: "The Whole Refused" }, 400],
  ["an unknown permission", { permissions: ["NOTHING"] }, 400],
  ["a name that would be another tenant's user", { name: "x\\y" }, 400],
  ["a name that Basic cannot carry", { name: "x:y" }, 400],
  ["a name in use", { name: "ann" }, 409],
])("a user with %s is refused, and with it the others of the request", async (_, more, expected) => {
  const before = (await http.call("GET", users)).body.total;
  expect((await status("POST", "", [{ name: "other" }, { name: "refused", ...more }]))[0]).toBe(expected);
  expect((await http.call("GET", users)).body.total).toBe(before);
});

test("a list is searched by id and name, and shows permissions in full only", async () => {
  const compact = (await http.call("GET", `${users}?q=name==an*&sort=name:DESC`)).body;
  expect(compact).toMatchObject({ total: 1, size: 1, content: [{ name: "ann" }] });
  expect(compact.content[0].permissions).toBeUndefined();
  expect((await http.call("GET", `${users}?q=name==ann&representation=full`)).body.content[0].permissions).toEqual([
    "READ_TARGET",
    "API_KEY",
  ]);
  expect((await http.call("GET", `${users}?q=id==${compact.content[0].id}`)).body.total).toBe(1);
  expect(await status("GET", "?q=passwordhash==*")).toEqual([400, "rest.param.rsqlInvalidField"]);
});

test("permissions are set with target types, added without them and removed, and gateways learn of each change", async () => {
  const { id } = await make({ name: "bob", password: "correct horse" });
  const path = `/${id}/permissions`;
  const ask = async (method: string, more: string, body?: unknown) =>
    (await http.call(method, users + path + more, body === undefined ? {} : { body })).body;
  const before = (await changes()).length;
  expect(
    await ask("PUT", "", [
      { permission: "READ_TARGET", targetTypeScopes: [22, 21, 22] },
      { permission: "UPDATE_TARGET", targetTypeScopes: [] },
    ]),
  ).toEqual([
    { permission: "READ_TARGET", targetTypeScopes: [22, 21] },
    { permission: "UPDATE_TARGET", targetTypeScopes: [] },
  ]);
  expect(await attempt("bob", "correct horse")).toMatchObject({
    permissions: [],
    targetTypeScopes: { READ_TARGET: { ids: [22, 21] }, UPDATE_TARGET: { ids: [] } },
  });
  expect(await ask("POST", "", ["READ_TARGET", "API_KEY"])).toEqual(["READ_TARGET", "UPDATE_TARGET", "API_KEY"]);
  expect((await ask("GET", ""))[0]).toEqual({ permission: "READ_TARGET", targetTypeScopes: null });
  expect(await ask("DELETE", "/READ_TARGET")).toEqual(["UPDATE_TARGET", "API_KEY"]);
  expect((await changes()).slice(before)).toEqual([id, id, id]);
  expect(await status("DELETE", `${path}/READ_TARGET`)).toEqual([404, "repo.entityNotFound"]);
  expect(await status("PUT", path, [{ permission: "READ_TARGET", targetTypeScopes: [99] }])).toEqual([404, "repo.entityNotFound"]);
  expect(await status("PUT", path, [{ permission: "API_KEY", targetTypeScopes: [21] }])).toEqual([400, "repo.constraintViolation"]);
  expect(await status("PUT", path, [{ permission: "API_KEY" }, { permission: "API_KEY" }])).toEqual([400, "repo.constraintViolation"]);
  expect(await status("PUT", "/4711/permissions", [])).toEqual([404, "repo.entityNotFound"]);
  expect((await changes()).length).toBe(before + 3);
});

test("only users who hold the operator's permission can grant it", async () => {
  const { id } = await make({ name: "eve" });
  const tenantOnly = { permissions: allPermissions.filter((permission) => permission !== "SYSTEM_ADMIN") };
  expect(await status("POST", `/${id}/permissions`, ["SYSTEM_ADMIN"], tenantOnly)).toEqual([403, "insufficientPermission"]);
  expect(await status("POST", "", [{ name: "eve 2", permissions: ["SYSTEM_ADMIN"] }], tenantOnly)).toEqual([403, "insufficientPermission"]);
  expect(await status("POST", `/${id}/permissions`, ["SYSTEM_ADMIN"])).toEqual([200, undefined]);
});

test("a user with the operator's permission can be changed only by a user who holds it too", async () => {
  const { id } = await make({ name: "operator", password: "correct horse", permissions: ["SYSTEM_ADMIN"] });
  const tenantOnly = { permissions: allPermissions.filter((permission) => permission !== "SYSTEM_ADMIN") };
  const refused = [403, "insufficientPermission"];
  const before = (await changes()).length;
  expect(await status("PUT", `/${id}/password`, { newPassword: "battery staple" }, tenantOnly)).toEqual(refused);
  expect(await status("POST", `/${id}/permissions`, ["API_KEY"], tenantOnly)).toEqual(refused);
  expect(await status("PUT", `/${id}/permissions`, [], tenantOnly)).toEqual(refused);
  expect(await status("DELETE", `/${id}/permissions/SYSTEM_ADMIN`, undefined, tenantOnly)).toEqual(refused);
  expect(await status("DELETE", `/${id}`, undefined, tenantOnly)).toEqual(refused);
  expect((await attempt("operator", "correct horse")).ok).toBe(true);
  expect((await changes()).length).toBe(before);
  expect(await status("PUT", `/${id}/password`, { newPassword: "battery staple" })).toEqual([200, undefined]);
  expect(await status("DELETE", `/${id}`)).toEqual([200, undefined]);
});

test("users change their own password, and with USER_MANAGEMENT anybody's", async () => {
  const { id } = await make({ name: "admin's friend", password: "correct horse" });
  const before = (await changes()).length;
  const change = (path: string, newPassword: string, more?: object) => status("PUT", `${path}/password`, { newPassword }, more);
  expect(await change(`/${id}`, "battery staple")).toEqual([200, undefined]);
  expect((await attempt("admin's friend", "correct horse")).ok).toBe(false);
  expect((await attempt("admin's friend", "battery staple")).ok).toBe(true);
  expect((await changes()).slice(before)).toEqual([id]);
  expect(await change(`/${id}`, "weak")).toEqual([400, "repo.constraintViolation"]);
  expect(await change(`/${id}`, "battery staple", { permissions: ["READ_TARGET"] })).toEqual([403, "insufficientPermission"]);
  expect(await change("/4711", "battery staple", { permissions: [] })).toEqual([403, "insufficientPermission"]);
  expect(await change("/4711", "battery staple")).toEqual([404, "repo.entityNotFound"]);
  const [external] = await fixture.rows("select id from users where name = 'external'");
  expect(await change(`/${external?.["id"]}`, "battery staple")).toEqual([400, "repo.constraintViolation"]);
  const [self] = await fixture.rows("select id from users where name = 'admin'");
  await fixture.rows("update users set system_managed = false where name = 'admin'");
  expect(await change(`/${self?.["id"]}`, "battery staple", { permissions: [] })).toEqual([200, undefined]);
  await fixture.rows("update users set system_managed = true where name = 'admin'");
  expect(await change(`/${self?.["id"]}`, "battery staple")).toEqual([403, "entityReadOnly"]);
});

test("a user is deleted and gateways learn of it, but neither the system's nor one's own account can be deleted", async () => {
  const { id } = await make({ name: "gone", password: "correct horse" });
  expect(await status("DELETE", `/${id}`)).toEqual([200, undefined]);
  expect((await changes()).at(-1)).toBe(id);
  expect((await attempt("gone", "correct horse")).ok).toBe(false);
  expect(await status("DELETE", `/${id}`)).toEqual([404, "repo.entityNotFound"]);
  const [admin] = await fixture.rows("select id from users where name = 'admin'");
  const system = `/${admin?.["id"]}`;
  expect(await status("DELETE", system)).toEqual([403, "entityReadOnly"]);
  expect(await status("PUT", `${system}/permissions`, [])).toEqual([403, "entityReadOnly"]);
  await fixture.rows("update users set system_managed = false where name = 'admin'");
  expect(await status("DELETE", system)).toEqual([403, "entityReadOnly"]);
  await fixture.rows("update users set system_managed = true where name = 'admin'");
});

test("a token with the name of a local user cannot change this user's password", async () => {
  const { id } = await make({ name: "namesake", password: "correct horse" });
  const caller = { tenantId: fixture.tenantId, subject: "namesake", permissions: [] };
  const change = (external: object) => changePassword(fixture, { ...caller, ...external }, { id, newPassword: "battery staple" });
  await expect(change({ external: true })).rejects.toMatchObject({ code: "insufficientPermission" });
  expect((await attempt("namesake", "correct horse")).ok).toBe(true);
  await change({});
  expect((await attempt("namesake", "battery staple")).ok).toBe(true);
});

test("a hash that costs too little to try is made anew at the sign-in, once, and no gateway is notified", async () => {
  const { id } = await make({ name: "early" });
  const stored = () => fixture.rows("select password_hash as hash from users where id = $1", [id]).then(([row]) => row?.["hash"]);
  for (const [password, hash] of [
    ["correct horse", "$scrypt$ln=15,r=8,p=2$c29tZS1zYWx0LWJ5dGVzIQ$dikLRjEBo+Cma4jnmXqAhF+2gR5ffGL4ic5qRbHJpTY"],
    ["U*U", "$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"],
  ] as const) {
    await fixture.rows("update users set type = 'PASSWORD_USER', password_hash = $2 where id = $1", [id, hash]);
    const before = (await changes()).length;
    expect((await attempt("early", `${password}!`)).ok).toBe(false);
    expect(await stored()).toBe(hash);
    expect((await attempt("early", password)).ok).toBe(true);
    const anew = await stored();
    expect(anew).toMatch(/^\$scrypt\$ln=14,r=8,p=5\$/);
    expect((await attempt("early", password)).ok).toBe(true);
    expect((await attempt("early", `${password}!`)).ok).toBe(false);
    expect(await stored()).toBe(anew);
    expect((await changes()).length).toBe(before);
  }
});
