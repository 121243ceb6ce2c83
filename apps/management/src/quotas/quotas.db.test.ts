import { quotaDefaults, quotaKeys } from "@harrier/contracts";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { attachArtifact } from "../catalogue/uploads.ts";
import { createModules } from "../software-modules/software-modules.ts";
import { type HttpFixture, httpFixture, origin } from "../testing/http.fixture.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";

let fixture: Fixture;
let http: HttpFixture;
beforeAll(async () => {
  fixture = await managementFixture();
  http = await httpFixture(fixture);
});
afterAll(async () => {
  await http.close();
  await fixture.close();
});
beforeEach(async () => {
  await fixture.rows("delete from quotas");
});

const bases = ["/api/mgmt/v1", "/rest/v1"] as const;
const get = async (key: string, base: string = bases[0]) => (await http.call("GET", `${base}/system/quotas/${key}`)).body;
const used = async (key: string) => (await get(key)).used;

describe.each(bases)("%s", (base) => {
  test("every quota has its limit, its use and its link, and audit members only where the limit was set", async () => {
    await fixture.setQuota("DSI_API_KEYS_MAX_COUNT", 5);
    const { status, body } = await http.call("GET", `${base}/system/quotas`);
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(quotaKeys);
    expect(body.TARGETS_MAX_COUNT).toEqual({
      limit: quotaDefaults.TARGETS_MAX_COUNT,
      used: expect.any(Number),
      _links: { self: { href: `${origin}${base}/system/quotas/TARGETS_MAX_COUNT` } },
    });
    expect(body.DSI_API_KEYS_MAX_COUNT).toMatchObject({ limit: 5, createdBy: "operator", lastModifiedBy: "operator" });
    expect(await get("DSI_API_KEYS_MAX_COUNT", base)).toEqual(body.DSI_API_KEYS_MAX_COUNT);
  });

  test("an unknown key is answered by 404, and reading needs its permission", async () => {
    for (const key of ["dsi_api_keys_max_count", "NOTHING", "__proto__"]) {
      expect((await http.call("GET", `${base}/system/quotas/${key}`)).status).toBe(404);
    }
    for (const path of ["/system/quotas", "/system/quotas/TARGETS_MAX_COUNT"]) {
      expect((await http.call("GET", base + path, { permissions: ["TENANT_CONFIGURATION"] })).status).toBe(403);
    }
  });
});

test("one quota and all quotas cost one round trip each", async () => {
  await get("TARGETS_MAX_COUNT");
  expect(await fixture.roundTrips.during(() => http.call("GET", "/rest/v1/system/quotas"))).toBe(1);
  expect(await fixture.roundTrips.during(() => get("TARGETS_MAX_COUNT"))).toBe(1);
});

test("the use is that of the tenant where there is such a number, else the highest of any owner", async () => {
  for (const name of ["a", "b", "c"]) await fixture.addTarget(name);
  expect(await used("TARGETS_MAX_COUNT")).toBe(3);

  const modules = await createModules(
    fixture,
    fixture.actor,
    ["m1", "m2"].map((name) => ({ name, version: "1", type: "os", encrypted: false })),
  );
  const [one = 0, two = 0] = modules.map((module) => module.id);
  const attach = (moduleId: number, filename: string, size: number) =>
    attachArtifact(
      { ...fixture, fault: () => {} },
      { ...fixture.actor, commandId: filename },
      { moduleId, filename, size, sha1: "1".repeat(40), md5: "2".repeat(32), sha256: "3".repeat(64) },
    );
  await attach(one, "a", 70);
  await attach(two, "b", 5);
  await attach(two, "c", 6);
  expect(await used("ARTIFACT_STORAGE_MAX_BYTES")).toBe(81);
  expect(await used("ARTIFACT_MAX_BYTES")).toBe(70);
  expect(await used("ARTIFACTS_PER_SOFTWARE_MODULE_MAX_COUNT")).toBe(2);
  expect(await used("SOFTWARE_MODULE_TYPES_PER_DISTRIBUTION_SET_TYPE_MAX_COUNT")).toBe(2);

  await fixture.asRolloutEngine(
    `insert into rollouts (tenant_id, id, name, status, target_filter, set_id, set_name, set_version, set_type_id, migration_step, force_type,
                           created_by, last_modified_by) values (1, 50, 'r', 'ready', 'name==*', 1, 'n', 'v', 13, false, 1, 't', 't')`,
  );
  await fixture.asRolloutEngine(
    `insert into rollout_groups (tenant_id, rollout_id, id, position, name, status, target_percentage, confirmation_required, success_condition,
                                 success_expression, success_action, success_action_expression, error_condition, error_expression, error_action,
                                 error_action_expression, total_targets, created_by, last_modified_by)
     select 1, 50, i, i, 'g' || i, 'ready', 50, false, '', '', '', '', '', '', '', '', 30 - i, 't', 't' from generate_series(11, 12) i`,
  );
  expect(await used("ROLLOUT_GROUPS_PER_ROLLOUT_MAX_COUNT")).toBe(2);
  expect(await used("TARGETS_PER_ROLLOUT_GROUP_MAX_COUNT")).toBe(19);

  await fixture.asController("insert into target_usage (tenant_id, attributes, so_far) values (1, 4, '{3,9,2,1}')");
  expect(await used("ATTRIBUTES_PER_TARGET_MAX_COUNT")).toBe(4);
  expect(await used("ACTIONS_PER_TARGET_MAX_COUNT")).toBe(9);
  expect(await used("STATUS_ENTRIES_PER_ACTION_MAX_COUNT")).toBe(2);
  expect(await used("MESSAGES_PER_STATUS_MAX_COUNT")).toBe(1);

  const store = fixture.database.db("artifact-store").pool;
  await store.query(
    `insert into data_traffic (tenant_id, month, slot, bytes)
     select 1, m, s, 1000 from unnest(array[date_trunc('month', now() at time zone 'UTC')::date, date '2020-01-01']) m, generate_series(0, 2) s`,
  );
  expect(await used("DATA_TRAFFIC_PER_MONTH_MAX_BYTES")).toBe(3_000);
});

test("limits of one tenant are not those of another, and the services read only limits that differ", async () => {
  await fixture.rows("insert into tenants (tenant_id, name, default_set_type_id) values (2, 'other', 1)");
  await fixture.rows(
    "insert into quotas (tenant_id, key, value, created_by, last_modified_by) values (2, 'TARGETS_MAX_COUNT', 7, 'o', 'o')",
  );
  expect((await get("TARGETS_MAX_COUNT")).limit).toBe(0);
  for (const service of ["controller", "artifact-store", "rollout-engine"] as const) {
    const { rows } = await fixture.database.db(service).pool.query("select * from management.tenant_quotas_v1");
    expect(rows).toEqual([{ tenant_id: 2, key: "TARGETS_MAX_COUNT", value: 7 }]);
  }
});

test("the limits of a request's assignments and of API keys apply at once, and 0 means none", async () => {
  const expiresAt = Date.now() + 60_000;
  const key = () => http.call("POST", "/api/mgmt/v1/api-keys/dsi", { body: { name: "k", expiresAt } });
  await fixture.setQuota("DSI_API_KEYS_MAX_COUNT", 1);
  expect((await key()).status).toBe(201);
  expect((await key()).body.message).toBe("Quota exceeded: Cannot assign 1 more ApiKey entities to Tenant. The maximum is 1.");
  await fixture.setQuota("DSI_API_KEYS_MAX_COUNT", 0);
  for (let i = 0; i < 3; i += 1) expect((await key()).status).toBe(201);
  expect(await used("DSI_API_KEYS_MAX_COUNT")).toBe(4);

  await fixture.setQuota("ASSIGNMENTS_PER_REQUEST_MAX_COUNT", 1);
  const body = [{ id: "a" }, { id: "b" }];
  const answer = await http.call("POST", "/rest/v1/distributionsets/4711/assignedTargets", { body });
  expect([answer.status, answer.body.message]).toEqual([429, "Quota exceeded: Cannot assign 2 entities at once. The maximum is 1."]);
});

describe("the operator and the quotas of a tenant", () => {
  const of = (tenant: string, key = "") => `${bases[0]}/system/tenants/${tenant}/quotas${key && `/${key}`}`;
  const set = (key: string, body: unknown, tenant = "DEFAULT") => http.call("PUT", of(tenant, key), { body });

  test("a limit can be set, set again, and applies at once; its creator stays recorded", async () => {
    const first = await set("DSI_API_KEYS_MAX_COUNT", { limit: 7 }, "default");
    expect(first.status).toBe(200);
    expect(first.body).toMatchObject({
      limit: 7,
      used: expect.any(Number),
      createdBy: "admin",
      lastModifiedBy: "admin",
      _links: { self: { href: `${origin}${of("DEFAULT", "DSI_API_KEYS_MAX_COUNT")}` } },
    });
    expect((await get("DSI_API_KEYS_MAX_COUNT")).limit).toBe(7);
    const again = await set("DSI_API_KEYS_MAX_COUNT", { limit: 0 });
    expect(again.body).toMatchObject({ limit: 0, createdAt: first.body.createdAt });
    expect((await http.call("GET", of("default", "DSI_API_KEYS_MAX_COUNT"))).body).toEqual(again.body);
    const all = await http.call("GET", of("default"));
    expect(Object.keys(all.body)).toEqual(quotaKeys);
    expect(all.body.DSI_API_KEYS_MAX_COUNT).toEqual(again.body);
  });

  test("a limit is a whole number that fits, also a negative one; bytes have a larger range than counts", async () => {
    for (const limit of [0, -1, 1, 2_147_483_647]) expect((await set("TARGETS_MAX_COUNT", { limit })).body.limit).toBe(limit);
    expect((await set("ARTIFACT_MAX_BYTES", { limit: 2 ** 40 })).body.limit).toBe(2 ** 40);
    for (const limit of [2_147_483_648, -2_147_483_648]) {
      const { status, body } = await set("TARGETS_MAX_COUNT", { limit });
      expect([status, body.errorCode]).toEqual([400, "hawkbit.server.error.repo.constraintViolation"]);
    }
    for (const body of [{}, { limit: null }]) expect((await set("TARGETS_MAX_COUNT", body)).status).toBe(400);
    for (const limit of [1.5, "five", 1e300, true]) {
      const { status, body } = await set("ARTIFACT_MAX_BYTES", { limit });
      expect([status, body.errorCode]).toEqual([400, "hawkbit.server.error.rest.body.notReadable"]);
    }
    expect((await get("TARGETS_MAX_COUNT")).limit).toBe(2_147_483_647);
  });

  test("unknown tenants and keys are answered by 404, tenants that are being deleted keep their limits, and other users are refused", async () => {
    for (const [tenant, key] of [
      ["nobody", "TARGETS_MAX_COUNT"],
      ["DEFAULT", "targets_max_count"],
      ["DEFAULT", "__proto__"],
    ] as const) {
      expect((await set(key, { limit: 1 }, tenant)).status).toBe(404);
      expect((await http.call("GET", of(tenant, key))).status).toBe(404);
    }
    expect((await http.call("GET", of("nobody"))).status).toBe(404);
    await fixture.rows("insert into tenants (tenant_id, name, default_set_type_id, status) values (3, 'going', 1, 'deleting')");
    expect((await set("TARGETS_MAX_COUNT", { limit: 1 }, "going")).body.errorCode).toBe("hawkbit.server.error.entityReadOnly");
    const body = { limit: 1 };
    const path = of("DEFAULT", "TARGETS_MAX_COUNT");
    expect((await http.call("PUT", path, { body, permissions: ["TENANT_CONFIGURATION"] })).status).toBe(403);
    for (const [method, at] of [
      ["PUT", path],
      ["GET", path],
      ["GET", of("DEFAULT")],
    ] as const)
      expect((await http.call(method, at, { ...(method === "PUT" && { body }), tenantId: 2 })).status).toBe(403);
    expect(await fixture.rows("select * from quotas")).toEqual([]);
  });
});
