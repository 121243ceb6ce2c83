import { afterAll, beforeAll, expect, test } from "vitest";
import { tenantPermissions } from "../identity/permissions.ts";
import { type HttpFixture, httpFixture, origin } from "../testing/http.fixture.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";
import { grantsOfRoles } from "./roles.ts";

let fixture: Fixture;
let http: HttpFixture;
const roles = "/api/mgmt/v1/roles";

beforeAll(async () => {
  fixture = await managementFixture();
  http = await httpFixture(fixture);
  await fixture.rows(
    `insert into target_types (tenant_id, id, key, name, created_by, last_modified_by)
     select $1, n, 'type ' || n, 'type ' || n, 'test', 'test' from generate_series(1, 3) n`,
    [fixture.tenantId],
  );
});
afterAll(async () => {
  await http.close();
  await fixture.close();
});

const changes = () => fixture.rows("select user_id from credential_changes order by id").then((rows) => rows.map((row) => row["user_id"]));
const ask = async (method: string, path: string, body?: unknown) =>
  (await http.call(method, roles + path, body === undefined ? {} : { body })).body;
const status = async (method: string, path: string, body?: unknown) => {
  const answer = await http.call(method, roles + path, body === undefined ? {} : { body });
  return [answer.status, answer.body?.errorCode?.replace("hawkbit.server.error.", "")];
};
const make = async (name: string, ...permissions: object[]) => (await ask("POST", "", [{ name, permissions, id: 4711, _links: {} }]))[0];

test("SYSTEM_ADMIN exists, has every permission of the tenant, and cannot be changed", async () => {
  const found = await ask("GET", "?q=name==SYSTEM_ADMIN&representation=full");
  expect(found).toMatchObject({ total: 1, content: [{ id: 1, name: "SYSTEM_ADMIN", createdBy: "system" }] });
  const expected = tenantPermissions.map((permission) => ({ permission, targetTypeScopes: null }));
  expect(found.content[0].permissions).toEqual(expected);
  expect(expected).not.toContainEqual({ permission: "SYSTEM_ADMIN", targetTypeScopes: null });
  expect(await status("DELETE", "/1")).toEqual([403, "entityReadOnly"]);
  expect(await status("PUT", "/1/permissions", [])).toEqual([403, "entityReadOnly"]);
  expect(await status("DELETE", "/1/permissions/API_KEY")).toEqual([403, "entityReadOnly"]);
  expect(await status("DELETE", "/1/permissions/READ_TARGET/scopes")).toEqual([403, "entityReadOnly"]);
  expect(await status("POST", "", [{ name: "SYSTEM_ADMIN" }])).toEqual([409, "repo.entityAlreadyExists"]);
});

test("only the operator manages a role with the operator's permission", async () => {
  const { id } = await make("operators", { permission: "SYSTEM_ADMIN" });
  const asAdmin = async (method: string, path: string, body?: unknown) =>
    (await http.call(method, roles + path, { permissions: tenantPermissions, ...(body !== undefined && { body }) })).status;
  expect(await asAdmin("PUT", `/${id}/permissions`, [])).toBe(403);
  expect(await asAdmin("DELETE", `/${id}`)).toBe(403);
  expect(await status("DELETE", `/${id}`)).toEqual([200, undefined]);
});

test("a role is created, shown, listed and deleted; a request creates all of its roles or none", async () => {
  const made = await make("one", { permission: "READ_TARGET", targetTypeScopes: [1] }, { permission: "API_KEY", targetTypeScopes: null });
  expect(made.id).not.toBe(4711);
  expect(made.permissions).toEqual([
    { permission: "READ_TARGET", targetTypeScopes: [1] },
    { permission: "API_KEY", targetTypeScopes: null },
  ]);
  const self = `${origin}${roles}/${made.id}`;
  expect(made._links).toEqual({ self: { href: self }, permissions: { href: `${self}/permissions` } });
  expect(await ask("GET", `/${made.id}`)).toEqual(made);
  expect((await ask("GET", "?sort=name:DESC&q=name==one")).content[0].permissions).toBeUndefined();
  expect(await ask("GET", `/${made.id}/permissions`)).toEqual(made.permissions);
  expect(await ask("GET", `/${made.id}/permissions?representation=compact`)).toEqual(["READ_TARGET", "API_KEY"]);
  expect(await status("POST", "", [{ name: "two" }, { name: "one" }])).toEqual([409, "repo.entityAlreadyExists"]);
  expect(await status("POST", "", [{ name: "two", permissions: [{ permission: "READ_TARGET", targetTypeScopes: [99] }] }])).toEqual([
    404,
    "repo.entityNotFound",
  ]);
  expect(await status("POST", "", [{ permissions: [] }])).toEqual([400, "repo.constraintViolation"]);
  expect((await ask("GET", "?q=name==two")).total).toBe(0);
  expect(await status("DELETE", `/${made.id}`)).toEqual([200, undefined]);
  expect(await status("GET", `/${made.id}`)).toEqual([404, "repo.entityNotFound"]);
});

test("management 12.135, 12.136: permissions of a role and their target types can be changed", async () => {
  const { id } = await make("scoped", { permission: "READ_TARGET", targetTypeScopes: [1] }, { permission: "READ_REPOSITORY" });
  const scopes = `/${id}/permissions/READ_TARGET/scopes`;
  const object = (targetTypeScopes: number[] | null) => ({ permission: "READ_TARGET", targetTypeScopes });
  expect(await ask("POST", `/${id}/permissions`, ["READ_TARGET"])).toContainEqual(object(null));
  expect(await ask("DELETE", scopes, [1])).toEqual(object(null));
  expect(await ask("PUT", scopes, [1, 2])).toEqual(object([1, 2]));
  expect(await ask("POST", scopes, [2, 3])).toEqual(object([1, 2, 3]));
  expect(await ask("DELETE", scopes, [1])).toEqual(object([2, 3]));
  expect(await ask("DELETE", scopes, [])).toEqual(object([2, 3]));
  expect(await ask("DELETE", scopes, [2, 3, 99])).toEqual(object([]));
  expect(await ask("DELETE", scopes)).toBeUndefined();
  expect(await ask("GET", `/${id}/permissions`)).toContainEqual(object(null));
  expect(await ask("DELETE", `/${id}/permissions/READ_TARGET`)).toEqual([{ permission: "READ_REPOSITORY", targetTypeScopes: null }]);
  expect(await status("PUT", scopes, [1])).toEqual([404, "repo.entityNotFound"]);
  expect(await status("PUT", `/${id}/permissions/READ_REPOSITORY/scopes`, [1])).toEqual([400, "repo.constraintViolation"]);
  await ask("POST", `/${id}/permissions`, ["READ_TARGET"]);
  expect(await status("PUT", scopes, [99])).toEqual([404, "repo.entityNotFound"]);
  expect(await status("PUT", scopes, ["x"])).toEqual([400, "rest.body.notReadable"]);
});

test("of two concurrent changes none is lost", async () => {
  const { id } = await make("raced", { permission: "READ_TARGET", targetTypeScopes: [] });
  const scopes = `/${id}/permissions/READ_TARGET/scopes`;
  await Promise.all([1, 2, 3].map((type) => ask("POST", scopes, [type])));
  expect((await ask("GET", `/${id}/permissions`))[0].targetTypeScopes.toSorted()).toEqual([1, 2, 3]);
});

test("with each change gateways forget the users of the tenant, but controller forgets no device", async () => {
  const before = (await changes()).length;
  const { id } = await make("told", { permission: "READ_TARGET" });
  await ask("PUT", `/${id}/permissions/READ_TARGET/scopes`, [1]);
  await ask("DELETE", `/${id}`);
  expect((await changes()).slice(before)).toEqual([0, 0, 0]);
  expect(await fixture.asController("select 1 from management.credential_changes_v1 where id > $1", [before])).toEqual([]);
});

test("several roles that a token names allow together what each of them allows", async () => {
  await make("readers", { permission: "READ_TARGET", targetTypeScopes: [1] });
  await make("writers", { permission: "READ_TARGET", targetTypeScopes: [2] }, { permission: "UPDATE_TARGET" });
  const of = (...names: string[]) => grantsOfRoles({ db: fixture.db.pool }, fixture.tenantId, names);
  const both = await of("readers", "writers", "nobody");
  expect(both.permissions).toEqual(["UPDATE_TARGET"]);
  expect(both.scoped["READ_TARGET"]?.toSorted()).toEqual([1, 2]);
  expect(await of("nobody")).toEqual({ permissions: [], scoped: {} });
  expect(await of("readers", "SYSTEM_ADMIN")).toEqual({ permissions: tenantPermissions, scoped: {} });
});
