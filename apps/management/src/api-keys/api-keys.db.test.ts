import { parseDeviceApiKey } from "@harrier/contracts";
import { createDatabase, digest } from "@harrier/db";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type HttpFixture, httpFixture } from "../testing/http.fixture.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";
import { createKey } from "./api-keys.ts";
import { recordUses } from "./record-uses.ts";

let fixture: Fixture;
let http: HttpFixture;
const day = 24 * 60 * 60 * 1000;
const soon = () => Date.now() + day;
const path = "/api/mgmt/v1/api-keys/dsi";

beforeAll(async () => {
  fixture = await managementFixture();
  http = await httpFixture(fixture);
});
afterAll(async () => {
  await http.close();
  await fixture.close();
});
beforeEach(async () => {
  await fixture.rows("delete from api_keys");
  await fixture.rows("delete from credential_changes");
});

const create = (body: object = {}, base = path) => http.call("POST", base, { body: { name: "key", expiresAt: soon(), ...body } });
const changes = () => fixture.rows("select user_id from credential_changes");
const credentials = () => fixture.database.db("controller").pool.query("select * from management.device_credentials_v1");

test("the key is shown once, and only its digest is stored, which controller can read", async () => {
  const expiresAt = soon();
  const { status, body, headers } = await create({ name: " n ", description: "d", expiresAt });
  expect(status).toBe(201);
  expect(body).toEqual({ id: parseDeviceApiKey(body.apiKey), name: "n", description: "d", expiresAt, apiKey: body.apiKey });
  expect(headers.get("cache-control")).toBe("no-store");
  const { apiKey, ...record } = body;
  expect((await http.call("GET", path)).body).toEqual([record]);
  expect((await http.call("GET", `${path}/${body.id}`)).body).toEqual(record);
  const stored = JSON.stringify(await fixture.rows("select k::text, encode(digest, 'hex') as digest from api_keys k"));
  expect(stored).toContain(digest(apiKey).toString("hex"));
  expect(stored).not.toContain(apiKey.split("_")[2]);
  const known = { tenant_id: 1, tenant: "DEFAULT", kind: "api-key", id: body.id, enabled: true, expires_at: new Date(expiresAt) };
  expect((await credentials()).rows).toEqual([{ ...known, digest: digest(apiKey) }]);
  // The key has let in nobody before, so there is nothing to forget.
  expect(await changes()).toEqual([]);
});

test("a key must have a validity that begins in the future and ends within 365 days", async () => {
  const now = Date.now();
  for (const expiresAt of [
    undefined,
    null,
    now - 1,
    -1,
    1e300,
    now + 366 * day,
    "2020-01-01T00:00:00Z",
    "9999-12-31",
    "soon",
    "",
    true,
    1.5,
    [],
  ]) {
    const { status, body } = await create({ expiresAt });
    expect([status, body.errorCode], String(expiresAt)).toEqual([400, expect.stringMatching(/constraintViolation|notReadable/)]);
  }
  const deps = { ...fixture, now: () => now };
  const last = now + 365 * day;
  await expect(createKey(deps, fixture.actor, { name: "k", expiresAt: now })).rejects.toMatchObject({ code: "constraintViolation" });
  await expect(createKey(deps, fixture.actor, { name: "k", expiresAt: last + 1 })).rejects.toMatchObject({ code: "constraintViolation" });
  expect(await createKey(deps, fixture.actor, { name: "k", expiresAt: last })).toMatchObject({ expiresAt: last, lastUsedOn: null });
});

test("a validity may be a text of ISO 8601, in which a date alone means its midnight", async () => {
  const iso = new Date(Date.now() + 30 * day).toISOString();
  for (const text of [iso, iso.replace("Z", "+02:00")]) {
    const { body } = await create({ expiresAt: text });
    expect(body.expiresAt, text).toBe(Date.parse(text));
  }
  await fixture.rows("delete from api_keys");
  expect((await create({ expiresAt: iso.slice(0, 10) })).body.expiresAt).toBe(Date.parse(`${iso.slice(0, 10)}T00:00:00Z`));
});

test("a key must have a name of 128 characters at most, and its description has 512 at most", async () => {
  for (const body of [{ name: undefined }, { name: null }, { name: " " }, { name: "x".repeat(129) }, { description: "x".repeat(513) }]) {
    expect((await create(body)).body).toMatchObject({ errorCode: "hawkbit.server.error.repo.constraintViolation" });
  }
  expect((await create({ name: "x".repeat(128), description: "x".repeat(512) })).status).toBe(201);
});

test("two keys may have the same name, a third is over the quota, and expired keys count", async () => {
  expect((await create()).status).toBe(201);
  expect((await create()).status).toBe(201);
  await fixture.rows("update api_keys set created_at = now() - interval '2 days', expires_at = now() - interval '1 day'");
  const tooMany = { errorCode: "hawkbit.server.error.quota.tooManyEntries" };
  expect(await create()).toMatchObject({ status: 403, body: tooMany });
  expect(await create({}, "/rest/v1/api-keys/dsi")).toMatchObject({ status: 429, body: tooMany });
  const [expired] = (await http.call("GET", path)).body;
  expect((await credentials()).rows).toMatchObject([{ enabled: false }, { enabled: false }]);
  await http.call("DELETE", `${path}/${expired.id}`);
  expect((await create()).status).toBe(201);
});

test("concurrent creations in several replicas never exceed the quota", async () => {
  const other = createDatabase({ url: fixture.database.urlOf("management"), applicationName: "test/other", max: 5 });
  const make = (n: number) =>
    createKey({ db: n % 2 === 0 ? other : fixture.db, ids: fixture.ids, now: Date.now }, fixture.actor, {
      name: "k",
      expiresAt: soon(),
    });
  const made = await Promise.allSettled(Array.from({ length: 12 }, (_, n) => make(n)));
  await other.close();
  expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
  expect(await fixture.rows("select 1 from api_keys")).toHaveLength(2);
});

test("tenants share neither their quota nor their keys", async () => {
  await fixture.rows("insert into tenants (tenant_id, name, default_set_type_id) values (2, 'OTHER', 13) on conflict do nothing");
  const other = { tenantId: 2, subject: "admin" };
  await create();
  await create();
  const { id } = await createKey({ ...fixture, now: Date.now }, other, { name: "theirs", expiresAt: soon() });
  expect(await fixture.rows("select 1 from api_keys where tenant_id = 2")).toHaveLength(1);
  await fixture.rows("delete from api_keys where tenant_id = 1");
  for (const [method, body] of [["GET"], ["PUT", { description: "mine" }], ["DELETE"]] as const) {
    expect(await http.call(method, `${path}/${id}`, { body })).toMatchObject({ status: 404, body: { info: { type: "ApiKey" } } });
  }
  expect((await http.call("GET", path)).body).toEqual([]);
  await fixture.rows("delete from tenants where tenant_id = 2");
  expect(await fixture.rows("select 1 from api_keys")).toEqual([]);
});

test("only the description can be changed", async () => {
  const { body } = await create({ description: "d" });
  const { apiKey: _once, ...record } = body;
  const put = async (change: object) => (await http.call("PUT", `${path}/${body.id}`, { body: change })).body;
  expect(await put({ description: "e", name: "other", expiresAt: 5, lastUsedOn: "2020-01-01" })).toEqual({ ...record, description: "e" });
  expect(await put({})).toEqual({ ...record, description: "e" });
  const { description: _gone, ...bare } = record;
  expect(await put({ description: null })).toEqual(bare);
  expect(await put({ description: "x".repeat(513) })).toMatchObject({ errorCode: "hawkbit.server.error.repo.constraintViolation" });
  expect(await put({ description: [5] })).toMatchObject({ errorCode: "hawkbit.server.error.rest.body.notReadable" });
  expect(await changes()).toEqual([]);
});

test("a deleted key no longer exists, and gateways forget whom it let in", async () => {
  const { body } = await create();
  expect((await http.call("DELETE", `${path}/${body.id}`)).status).toBe(200);
  expect(await changes()).toEqual([{ user_id: null }]);
  expect((await credentials()).rows).toEqual([]);
  for (const method of ["GET", "DELETE"]) expect((await http.call(method, `${path}/${body.id}`)).status).toBe(404);
  expect(await changes()).toHaveLength(1);
  const again = await create();
  expect((await http.call("DELETE", `/rest/v1/api-keys/dsi/${again.body.id}`)).status).toBe(204);
});

test("a user without the permission API_KEY can do none of this", async () => {
  const { body } = await create();
  const permissions = ["TENANT_CONFIGURATION", "USER_MANAGEMENT"];
  for (const [method, url, sent] of [
    ["GET", path],
    ["POST", path, { name: "n", expiresAt: soon() }],
    ["GET", `${path}/${body.id}`],
    ["PUT", `${path}/${body.id}`, { description: "e" }],
    ["DELETE", `${path}/${body.id}`],
  ] as const) {
    expect((await http.call(method, url, { body: sent, permissions })).status, method).toBe(403);
  }
  expect((await http.call("GET", path, { permissions: ["API_KEY"] })).body).toMatchObject([{ id: body.id, name: "key" }]);
});

test("the last day of use never goes back, and one round trip records all keys", async () => {
  const [a, b] = [(await create()).body.id, (await create()).body.id];
  const tenantId = fixture.tenantId;
  const record = (...uses: [keyId: number, day: number, tenantId?: number][]) =>
    recordUses({ db: fixture.db.pool }, { uses: uses.map(([keyId, on, tenant]) => ({ keyId, day: on, tenantId: tenant ?? tenantId })) });
  const days = async () => (await http.call("GET", path)).body.map((key: { lastUsedOn?: string }) => key.lastUsedOn);
  expect(await fixture.roundTrips.during(() => record([a, 20_000], [b, 20_001], [a, 20_002], [999, 20_000], [b, 20_009, 7]))).toBe(1);
  expect(await days()).toEqual(["2024-10-06", "2024-10-05"]);
  await record([a, 19_000], [b, 20_002]);
  expect(await days()).toEqual(["2024-10-06", "2024-10-06"]);
  const [before] = await fixture.rows("select xmin, last_modified_at from api_keys where id = $1", [a]);
  await record([a, 20_002]);
  await record();
  expect(await fixture.rows("select xmin, last_modified_at from api_keys where id = $1", [a])).toEqual([before]);
});

test("gateways that send the same keys at once do not deadlock", async () => {
  const keys = [(await create()).body.id, (await create()).body.id];
  const use = (keyId: number, on: number) => ({ tenantId: fixture.tenantId, keyId, day: on });
  const batch = (on: number, ids: number[]) => recordUses({ db: fixture.db.pool }, { uses: ids.map((id) => use(id, on)) });
  await Promise.all(Array.from({ length: 40 }, (_, n) => batch(20_000 + n, n % 2 === 0 ? keys : keys.toReversed())));
  expect((await http.call("GET", path)).body).toMatchObject([{ lastUsedOn: "2024-11-12" }, { lastUsedOn: "2024-11-12" }]);
});
