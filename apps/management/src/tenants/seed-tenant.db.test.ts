import { afterAll, beforeAll, expect, test } from "vitest";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";
import { ensureDefaultTenant } from "./seed-tenant.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await managementFixture();
});
afterAll(() => fixture.close());

test("a tenant has the types of the contract, and os_app as its default", async () => {
  expect(await fixture.rows("select id, key, name, max_assignments from software_module_types order by id")).toEqual([
    { id: 11, key: "os", name: "OS", max_assignments: 1 },
    { id: 12, key: "application", name: "Application", max_assignments: 2147483647 },
  ]);
  expect(await fixture.rows("select id, key, name from distribution_set_types order by id")).toEqual([
    { id: 11, key: "os", name: "OS only" },
    { id: 12, key: "app", name: "App(s) only" },
    { id: 13, key: "os_app", name: "OS with app(s)" },
  ]);
  expect(
    await fixture.rows("select set_type_id, module_type_id, mandatory from set_type_module_types order by set_type_id, module_type_id"),
  ).toEqual([
    { set_type_id: 11, module_type_id: 11, mandatory: true },
    { set_type_id: 12, module_type_id: 12, mandatory: true },
    { set_type_id: 13, module_type_id: 11, mandatory: true },
    { set_type_id: 13, module_type_id: 12, mandatory: false },
  ]);
  expect(await fixture.rows("select tenant_id, name, status, default_set_type_id from tenants")).toEqual([
    { tenant_id: 1, name: "DEFAULT", status: "active", default_set_type_id: 13 },
  ]);
  expect(await fixture.ids.next(1, "set-type")).toBeGreaterThan(13);
});

test("a repeated seed changes nothing, also when several replicas seed at once", async () => {
  const before = await fixture.rows("select * from credential_changes");
  const again = await Promise.all([1, 2, 3].map(() => ensureDefaultTenant({ db: fixture.db.pool }, "default")));
  expect(again).toEqual([1, 2, 3].map(() => ({ tenantId: 1, name: "DEFAULT" })));
  expect(await fixture.rows("select * from credential_changes")).toEqual(before);
});

test("another name for the first tenant is refused and does not create a second tenant", async () => {
  await expect(ensureDefaultTenant({ db: fixture.db.pool }, "OTHER")).rejects.toThrow("HARRIER_DEFAULT_TENANT");
});

const readable = {
  controller: [
    "tenants_v1",
    "tenant_settings_v1",
    "device_credentials_v1",
    "credential_changes_v1",
    "distribution_sets_v1",
    "set_modules_v1",
    "software_modules_v1",
    "artifacts_v1",
    "set_types_v1",
    "target_types_v1",
    "target_type_set_types_v1",
  ],
  "rollout-engine": [
    "tenants_v1",
    "tenant_settings_v1",
    "distribution_sets_v1",
    "set_completeness_v1",
    "set_modules_v1",
    "set_types_v1",
    "target_types_v1",
  ],
  "artifact-store": ["tenants_v1", "artifacts_v1", "set_modules_v1", "software_modules_v1"],
} as const;

test.each(Object.entries(readable))("%s can read its published views and no table", async (service, views) => {
  const { pool } = fixture.database.db(service as keyof typeof readable);
  for (const view of views) await pool.query(`select * from management.${view}`);
  for (const table of ["settings", "users", "artifacts", "distribution_sets"]) {
    await expect(pool.query(`select * from management.${table}`)).rejects.toThrow("permission denied");
  }
  await expect(pool.query("delete from management.set_modules_v1")).rejects.toThrow("permission denied");
});
