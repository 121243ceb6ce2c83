import { basePaths } from "@harrier/contracts";
import { digest } from "@harrier/db";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { tenantPermissions } from "../identity/permissions.ts";
import { type HttpFixture, httpFixture, origin } from "../testing/http.fixture.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";
import { maxClients } from "./oauth-clients.ts";

let fixture: Fixture;
let http: HttpFixture;
const path = `${basePaths.spec}/oauth2-clients`;

beforeAll(async () => {
  fixture = await managementFixture();
  http = await httpFixture(fixture);
});
afterAll(async () => {
  await http.close();
  await fixture.close();
});
beforeEach(async () => {
  await fixture.rows("delete from oauth_clients");
  await fixture.rows("delete from credential_changes");
});

const post = (body: unknown, permissions?: readonly string[]) => http.call("POST", path, { body, ...(permissions && { permissions }) });
const create = async (members: object = {}) => {
  const { status, body } = await post([{ name: "client", scopes: ["READ_TARGET"], ...members }]);
  expect([status, body]).toEqual([201, expect.anything()]);
  return body[0];
};
const changes = async () => (await fixture.rows("select user_id from credential_changes")).map((row) => row["user_id"]);
const one = (clientId: string, suffix = "") => `${path}/${clientId}${suffix}`;

test("the secret is shown once, and only its digest is stored", async () => {
  const { status, body, headers } = await post([{ name: " n ", description: "d", scopes: ["READ_TARGET", "API_KEY", "READ_TARGET"] }]);
  expect([status, headers.get("cache-control")]).toEqual([201, "no-store"]);
  const { clientSecret, ...view } = body[0];
  expect(clientSecret).toMatch(/^ocs_[\w-]{43}$/);
  expect(view).toEqual({
    clientId: expect.stringMatching(/^oc_1_\d+$/),
    name: "n",
    description: "d",
    scopes: ["READ_TARGET", "API_KEY"],
    accessTokenTtl: 3_600,
    createdBy: "admin",
    createdAt: expect.any(Number),
    lastModifiedBy: "admin",
    lastModifiedAt: view.createdAt,
    _links: { self: { href: `${origin}${one(view.clientId)}` } },
  });
  expect((await http.call("GET", one(view.clientId))).body).toEqual(view);
  expect((await http.call("GET", path)).body).toEqual({ content: [view], total: 1, size: 1 });
  const stored = JSON.stringify(await fixture.rows("select c::text from oauth_clients c"));
  expect(stored).toContain(digest(clientSecret).toString("hex"));
  expect(stored).not.toContain(clientSecret);
  // The client has let in nobody before, so there is nothing to forget.
  expect(await changes()).toEqual([]);
});

test("one object counts as a list of it, and a list is created whole or not at all", async () => {
  expect((await post({ name: "alone", scopes: ["API_KEY"] })).body).toHaveLength(1);
  const taken = await post([
    { name: "new", scopes: ["API_KEY"] },
    { name: "alone", scopes: ["API_KEY"] },
  ]);
  expect([taken.status, taken.body.errorCode]).toEqual([409, "hawkbit.server.error.repo.entityAlreadyExists"]);
  expect((await http.call("GET", path)).body.total).toBe(1);
  expect((await post([])).body).toEqual([]);
});

test.each([
  ["no name", { name: undefined }],
  ["an empty name", { name: " " }],
  ["a long name", { name: "x".repeat(129) }],
  ["markup in the name", { name: "<b>x</b>" }],
  ["a long description", { description: "x".repeat(513) }],
  ["no scopes", { scopes: undefined }],
  ["an empty list of scopes", { scopes: [] }],
  ["scopes that are no list", { scopes: "READ_TARGET" }],
  ["a scope that is no text", { scopes: [1] }],
  ["an unknown scope", { scopes: ["openid"] }],
  ["an unknown permission", { scopes: ["READ_EVERYTHING"] }],
  ["a role without a name", { scopes: ["role:"] }],
  ["a role with a blank", { scopes: ["role:a b"] }],
  ["a role that is wrongly encoded", { scopes: ["role:%zz"] }],
  ["too many scopes", { scopes: Array.from({ length: 51 }, (_, n) => `role:r${n}`) }],
  ["long scopes", { scopes: Array.from({ length: 20 }, (_, n) => `role:${"x".repeat(100)}${n}`) }],
  ["a short life", { accessTokenTtl: 59 }],
  ["a long life", { accessTokenTtl: 86_401 }],
  ["a broken life", { accessTokenTtl: 60.5 }],
  ["a life that is no number", { accessTokenTtl: "3600" }],
])("a client with %s is refused", async (_what, members) => {
  const { status, body } = await post([{ name: "client", scopes: ["READ_TARGET"], ...members }]);
  expect([status, body.errorCode]).toEqual([400, expect.stringMatching(/constraintViolation|notReadable/)]);
});

test("a client is changed in part, searched and sorted", async () => {
  const [b, a] = [await create({ name: "b" }), await create({ name: "a", description: "d" })];
  const changed = await http.call("PUT", one(b.clientId), { body: { name: "c", description: null, accessTokenTtl: 60 } });
  expect(changed.body).toMatchObject({ clientId: b.clientId, name: "c", accessTokenTtl: 60, scopes: ["READ_TARGET"] });
  expect(changed.body).not.toHaveProperty("clientSecret");
  expect(await changes()).toEqual([]);
  const names = async (query: string) => (await http.call("GET", `${path}?${query}`)).body.content.map((row: { name: string }) => row.name);
  expect(await names("sort=name:DESC")).toEqual(["c", "a"]);
  expect(await names("sort=name:ASC&limit=1")).toEqual(["a"]);
  expect(await names(`q=clientid==${a.clientId}`)).toEqual(["a"]);
  expect(await names("q=name==C")).toEqual(["c"]);
  expect(await names("q=description==d;createdby==admin")).toEqual(["a"]);
  expect((await http.call("GET", `${path}?sort=secret:ASC`)).status).toBe(400);
  expect((await http.call("GET", `${path}?q=secret==*`)).status).toBe(400);
  expect((await http.call("PUT", one(a.clientId), { body: { name: "c" } })).status).toBe(409);
});

test("changed scopes and a deletion reach the gateways' feed in the same statement", async () => {
  const { clientId } = await create();
  const feedId = -Number(clientId.split("_")[2]);
  expect((await http.call("PUT", one(clientId), { body: { scopes: ["API_KEY"] } })).body.scopes).toEqual(["API_KEY"]);
  expect(await changes()).toEqual([feedId]);
  expect((await http.call("DELETE", one(clientId))).status).toBe(200);
  expect(await changes()).toEqual([feedId, feedId]);
  expect((await http.call("GET", one(clientId))).status).toBe(404);
});

test("the old secret stays good for the requested time, and is refused at once if that is 0", async () => {
  const { clientId, clientSecret } = await create();
  const rotate = (body?: object) => http.call("POST", one(clientId, "/secret"), body === undefined ? {} : { body });
  const secrets = async () => {
    const [row] = await fixture.rows(
      "select encode(secret, 'hex') as now, encode(previous_secret, 'hex') as before, generation from oauth_clients",
    );
    return row;
  };
  const hex = (secret: string) => digest(secret).toString("hex");
  const first = await rotate();
  expect([first.status, first.headers.get("cache-control")]).toEqual([200, "no-store"]);
  expect(Math.abs(first.body.previousSecretExpiresAt - Date.now() - 86_400_000)).toBeLessThan(60_000);
  expect(await secrets()).toEqual({ now: hex(first.body.clientSecret), before: hex(clientSecret), generation: 1 });
  expect(await changes()).toEqual([]);
  const second = await rotate({ previousSecretTtl: 0 });
  expect(second.body).not.toHaveProperty("previousSecretExpiresAt");
  expect(await secrets()).toEqual({ now: hex(second.body.clientSecret), before: null, generation: 2 });
  expect(await changes()).toHaveLength(1);
  for (const previousSecretTtl of [-1, 604_801, 1.5, "1"]) expect((await rotate({ previousSecretTtl })).status).toBe(400);
});

test("unknown clients and those of other tenants are not found", async () => {
  const { clientId } = await create();
  const id = clientId.split("_")[2];
  for (const other of [`oc_2_${id}`, "oc_1_999999", "oc_1", "nothing", "oc_99999999999_1", `oc_1_${id}x`, "oc_1_0"]) {
    for (const [method, suffix, body] of [
      ["GET", "", undefined],
      ["PUT", "", { name: "x" }],
      ["DELETE", "", undefined],
      ["POST", "/secret", {}],
    ] as const) {
      const { status, body: said } = await http.call(method, one(other, suffix), body === undefined ? {} : { body });
      expect([status, said.errorCode], `${method} ${other}`).toEqual([404, "hawkbit.server.error.repo.entityNotFound"]);
    }
  }
});

describe("a user cannot give a client more than their own permissions", () => {
  const admin = ["USER_MANAGEMENT", "READ_TARGET"];
  const refused = [403, "hawkbit.server.error.insufficientPermission"];
  const requested = async (scopes: string[], permissions: readonly string[] = admin, more: object = {}) => {
    const { status, body } = await http.call("POST", path, { body: { name: "client", scopes }, permissions, ...more });
    return [status, body.errorCode];
  };

  test("a user must hold all permissions of the scopes, also those of devices, of the whole tenant and of the operator", async () => {
    expect(await requested(["UPDATE_TARGET"])).toEqual(refused);
    expect(await requested(["READ_TARGET", "UPDATE_TARGET"])).toEqual(refused);
    expect(await requested(["management-full-access"])).toEqual(refused);
    expect(await requested(["device-full-access"])).toEqual(refused);
    expect(await requested(["SYSTEM_ADMIN"], tenantPermissions)).toEqual(refused);
    expect(await requested(["READ_TARGET"])).toEqual([201, undefined]);
    await fixture.rows("delete from oauth_clients");
    expect(await requested(["device-full-access"], ["USER_MANAGEMENT", "API_KEY"])).toEqual([201, undefined]);
    await fixture.rows("delete from oauth_clients");
    expect(await requested(["management-full-access"], tenantPermissions)).toEqual([201, undefined]);
  });

  test("a permission for some target types is not enough", async () => {
    const restricted = { scopes: { READ_TARGET: [11] } };
    expect(await requested(["READ_TARGET"], admin, restricted)).toEqual(refused);
  });

  test("roles must exist, and the user must hold what they allow", async () => {
    const made = await http.call("POST", `${basePaths.spec}/roles`, {
      body: [{ name: "night shift", permissions: [{ permission: "READ_TARGET" }, { permission: "HANDLE_ROLLOUT" }] }],
    });
    expect(made.status).toBe(201);
    expect(await requested(["role:night%20shift"])).toEqual(refused);
    expect(await requested(["role:SYSTEM_ADMIN"])).toEqual(refused);
    expect(await requested(["role:nobody"])).toEqual([404, "hawkbit.server.error.repo.entityNotFound"]);
    expect(await requested(["role:night%20shift"], [...admin, "HANDLE_ROLLOUT"])).toEqual([201, undefined]);
  });

  test("neither a new secret nor a change gives more, but a user may leave a client its scopes or remove them", async () => {
    const { clientId } = await create({ scopes: ["management-full-access", "READ_TARGET"] });
    const call = async (method: string, suffix: string, body: object, permissions: readonly string[] = admin) =>
      (await http.call(method, one(clientId, suffix), { body, permissions })).status;
    expect(await call("POST", "/secret", {})).toBe(403);
    expect(await call("POST", "/secret", {}, tenantPermissions)).toBe(200);
    expect(await call("PUT", "", { scopes: ["management-full-access", "API_KEY"] })).toBe(403);
    expect(await call("PUT", "", { scopes: ["management-full-access"], name: "other" })).toBe(200);
    expect(await call("PUT", "", { scopes: ["READ_TARGET"] })).toBe(200);
    expect(await call("POST", "/secret", {})).toBe(200);
  });

  test("only the operator manages the operator's clients", async () => {
    const { clientId } = await create({ scopes: ["SYSTEM_ADMIN"] });
    const status = async (method: string, suffix = "", body?: object) =>
      (await http.call(method, one(clientId, suffix), { permissions: tenantPermissions, ...(body && { body }) })).status;
    expect(await status("PUT", "", { name: "x" })).toBe(403);
    expect(await status("POST", "/secret", {})).toBe(403);
    expect(await status("DELETE")).toBe(403);
    expect((await http.call("DELETE", one(clientId))).status).toBe(200);
  });

  test("only the operator manages clients that have the operator's permission by a role", async () => {
    await http.call("POST", `${basePaths.spec}/roles`, { body: [{ name: "operators", permissions: [{ permission: "SYSTEM_ADMIN" }] }] });
    const { clientId } = await create({ scopes: ["role:operators"] });
    const status = async (method: string, suffix = "", body?: object) =>
      (await http.call(method, one(clientId, suffix), { permissions: tenantPermissions, ...(body && { body }) })).status;
    expect(await status("PUT", "", { scopes: ["READ_TARGET"] })).toBe(403);
    expect(await status("POST", "/secret", {})).toBe(403);
    expect(await status("DELETE")).toBe(403);
    expect((await http.call("PUT", one(clientId), { body: { name: "x" } })).status).toBe(200);
  });
});

test("the number of clients of a tenant is limited", async () => {
  await fixture.rows(
    `insert into oauth_clients (tenant_id, id, name, scopes, access_token_ttl, secret, created_by, last_modified_by)
     select 1, 1000000 + n, 'c' || n, '{API_KEY}', 60, decode(repeat('00', 32), 'hex'), 't', 't' from generate_series(1, $1) n`,
    [maxClients - 1],
  );
  const two = ["x", "y"].map((name) => ({ name, scopes: ["API_KEY"] }));
  const { status, body } = await post(two);
  expect([status, body.errorCode]).toEqual([403, "hawkbit.server.error.quota.tooManyEntries"]);
  expect((await post([two[0]])).status).toBe(201);
  expect((await post([two[1]])).status).toBe(403);
  expect((await http.call("POST", `${basePaths.rest}/oauth2-clients`, { body: [two[1]] })).status).toBe(429);
});

test("lists and reads cost as many round trips as the README says", async () => {
  const { clientId } = await create();
  expect(await fixture.roundTrips.during(() => http.call("GET", path))).toBe(1);
  expect(await fixture.roundTrips.during(() => http.call("GET", one(clientId)))).toBe(1);
});
