import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { changeGrants } from "../grants/change-grants.ts";
import { createRoles, removeRole } from "../roles/roles.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";
import { createUsers, removeUser } from "../users/users.ts";
import { tenantPermissions } from "./permissions.ts";
import { resolveToken } from "./resolve-token.ts";

let fixture: Fixture;
let deps: Pick<Fixture, "db" | "ids">;
const granter = (tenantId: number) => ({ tenantId, subject: "admin", permissions: ["SYSTEM_ADMIN"] });

beforeAll(async () => {
  fixture = await managementFixture();
  deps = fixture;
  await fixture.rows("insert into tenants (tenant_id, name, default_set_type_id) values (2, 'Other', 13)");
  await fixture.rows(
    `insert into target_types (tenant_id, id, key, name, created_by, last_modified_by)
     select 1, n, 'type ' || n, 'type ' || n, 'test', 'test' from generate_series(1, 3) n`,
  );
});
beforeEach(() => fixture.rows("delete from roles where not system_managed").then(() => fixture.rows("delete from users")));
afterAll(() => fixture.close());

const resolve = (scopes: string[], { tenant = "DEFAULT", user = "" } = {}) =>
  resolveToken({ db: fixture.db.pool }, { tenant, user, scopes });
const makeRole = async (name: string, permissions: { permission: string; targetTypeScopes?: number[] }[], tenantId = 1) =>
  (await createRoles(deps, granter(tenantId), [{ name, permissions }]))[0]?.id as number;
const makeUser = async (name: string, permissions: string[], password?: string) =>
  (await createUsers(deps, granter(1), [{ name, permissions, ...(password && { password }) }]))[0]?.id as number;
const changes = () => fixture.rows("select tenant_id, user_id from credential_changes order by id desc limit 1");

test("a scope names a role, with or without the prefix role:, and the permissions and target types of roles are added up", async () => {
  await makeRole("reader", [{ permission: "READ_TARGET", targetTypeScopes: [1, 2] }]);
  await makeRole("fleet admin", [{ permission: "READ_TARGET", targetTypeScopes: [3] }, { permission: "TENANT_CONFIGURATION" }]);
  expect(await resolve(["openid", "reader"])).toMatchObject({
    ok: true,
    tenantId: 1,
    tenant: "DEFAULT",
    permissions: [],
    targetTypeScopes: { READ_TARGET: { ids: [1, 2] } },
    devices: false,
    userId: 0,
  });
  expect(await resolve(["reader", "role:fleet admin"], { tenant: "default" })).toMatchObject({
    permissions: ["TENANT_CONFIGURATION", "READ_TENANT_CONFIGURATION", "READ_GATEWAY_SECURITY_TOKEN"],
    targetTypeScopes: { READ_TARGET: { ids: expect.toSatisfy((ids: number[]) => `${[...ids].sort()}` === "1,2,3") } },
  });
  expect(await resolve(["reader", "READ_TARGET"])).toMatchObject({ permissions: ["READ_TARGET"], targetTypeScopes: {} });
});

test("scopes can give full access, the predefined role or single permissions, but never SYSTEM_ADMIN as a permission", async () => {
  for (const scope of ["management-full-access", "SYSTEM_ADMIN", "role:SYSTEM_ADMIN"]) {
    expect((await resolve([scope])).permissions).toEqual([...tenantPermissions]);
  }
  expect(await resolve(["device-full-access"])).toMatchObject({ permissions: [], devices: true });
  expect((await resolve(["API_KEY"])).permissions).toEqual(["API_KEY"]);
});

test("without a known scope a user has no permission", async () => {
  for (const scopes of [[], ["openid", "nobody"], ["a\u0000", "role:"]]) {
    expect(await resolve(scopes)).toMatchObject({ ok: true, permissions: [], targetTypeScopes: {}, devices: false });
  }
});

test("grants of the identity provider's user are added, but not those of a user with a password", async () => {
  const ann = await makeUser("ann", ["READ_ROLLOUT"]);
  await makeUser("bob", ["READ_ROLLOUT"], "correct horse");
  expect(await resolve(["API_KEY"], { user: "ann" })).toMatchObject({ permissions: ["READ_ROLLOUT", "API_KEY"], userId: ann });
  for (const user of ["bob", "Ann", "", "a\u0000"]) expect(await resolve(["API_KEY"], { user })).toMatchObject({ userId: 0 });
  expect((await resolve([], { user: "bob" })).permissions).toEqual([]);
});

test("roles and users of another tenant do not count", async () => {
  await makeRole("shared", [{ permission: "READ_TARGET" }]);
  await makeRole("shared", [{ permission: "READ_ROLLOUT" }], 2);
  await makeUser("ann", ["API_KEY"]);
  expect(await resolve(["shared"], { tenant: "OTHER", user: "ann" })).toMatchObject({
    tenantId: 2,
    tenant: "Other",
    permissions: ["READ_ROLLOUT"],
    userId: 0,
  });
});

test("a token of a tenant that is unknown, suspended or no valid name allows nothing", async () => {
  await fixture.rows("update tenants set status = 'suspended' where tenant_id = 2");
  for (const tenant of ["Nowhere", "Other", "", "DEFAULT\u0000"]) {
    const { revision, ...answer } = await resolve(["management-full-access"], { tenant });
    expect(answer).toEqual({ ok: false, tenantId: 0, tenant: "", permissions: [], targetTypeScopes: {}, devices: false, userId: 0 });
    expect(revision).toBeGreaterThanOrEqual(0);
  }
  await fixture.rows("update tenants set status = 'active' where tenant_id = 2");
});

test("every change of a token's meaning is sent to the gateways", async () => {
  const role = await makeRole("reader", [{ permission: "READ_TARGET" }]);
  expect(await changes()).toEqual([{ tenant_id: 1, user_id: 0 }]);
  const ann = await makeUser("ann", []);
  expect(await changes()).toEqual([{ tenant_id: 1, user_id: 0 }]);
  await changeGrants(deps, granter(1), { holder: "users", id: ann }, () => ({ permissions: ["API_KEY"], scoped: {} }));
  expect(await changes()).toEqual([{ tenant_id: 1, user_id: ann }]);
  await changeGrants(deps, granter(1), { holder: "roles", id: role }, () => ({ permissions: ["API_KEY"], scoped: {} }));
  expect(await changes()).toEqual([{ tenant_id: 1, user_id: 0 }]);
  await removeUser(deps, granter(1), { id: ann });
  expect(await changes()).toEqual([{ tenant_id: 1, user_id: ann }]);
  await removeRole(deps, granter(1), { id: role });
  expect(await changes()).toEqual([{ tenant_id: 1, user_id: 0 }]);
  const before = await fixture.rows("select 1 from credential_changes");
  await makeUser("bob", [], "correct horse");
  expect(await fixture.rows("select 1 from credential_changes")).toEqual(before);
});

test("a token costs one round trip, and one more for the roles that it names", async () => {
  await resolve(["warm", "up"]);
  expect(await fixture.roundTrips.during(() => resolve(["READ_TARGET"]))).toBe(1);
  expect(await fixture.roundTrips.during(() => resolve(["openid", "reader"]))).toBe(2);
});
