import { quotaDefaults } from "@harrier/contracts";
import { createJob } from "@harrier/jobs";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type DeviceFixture, deviceFixture, seedSet } from "../device.fixture.ts";
import { jobs } from "../jobs.ts";
import { createTenantSettings } from "./tenant-settings.ts";

let fixture: DeviceFixture;
const warnings: string[] = [];
const log = { warn: (_: object, message: string) => warnings.push(message) };

beforeAll(async () => {
  fixture = await deviceFixture();
  await seedSet(fixture, { id: 100 }); // creates the tenant
});
afterAll(() => fixture.close());

const store = (key: string, value: unknown) =>
  fixture.database.db("management").pool.query(
    `insert into settings (tenant_id, key, value, created_by, last_modified_by) values (1, $1, $2, 'admin', 'admin')
     on conflict (tenant_id, key) do update set value = excluded.value`,
    [key, JSON.stringify(value)],
  );

test("the defaults apply, then the stored values of a tenant; before settings are read nothing is served", async () => {
  const settings = createTenantSettings({ pool: fixture.db.pool });
  expect(settings.ready()).toBe(false);
  expect(() => settings.get(1)).toThrow(expect.objectContaining({ code: "unavailable" }));
  await settings.refresh();
  expect(settings.get(1)).toMatchObject({ pollingTime: "00:05:00", "repository.actions.autoclose.enabled": false });
  await store("pollingTime", "00:00:30");
  await store("repository.actions.autoclose.enabled", true);
  await settings.refresh();
  expect(settings.get(1)).toMatchObject({ pollingTime: "00:00:30", "repository.actions.autoclose.enabled": true });
  expect(settings.get(2).pollingTime).toBe("00:05:00");
  await fixture.database.db("management").pool.query("delete from settings");
  await settings.refresh();
  expect(settings.get(1).pollingTime).toBe("00:05:00");
});

test("the default limits of quotas apply, then the stored ones, which need no change of a setting to show", async () => {
  const settings = createTenantSettings({ pool: fixture.db.pool });
  await settings.refresh();
  expect(settings.get(1).quotas).toEqual(quotaDefaults);
  const { pool } = fixture.database.db("management");
  const put = "insert into quotas (tenant_id, key, value, created_by, last_modified_by) values (1, $1, $2, 'operator', 'operator')";
  await pool.query(put, ["TARGETS_MAX_COUNT", 5]);
  await settings.refresh();
  expect(settings.get(1).quotas).toEqual({ ...quotaDefaults, TARGETS_MAX_COUNT: 5 });
  expect(settings.get(2).quotas).toEqual(quotaDefaults);
  await pool.query("delete from quotas");
  await settings.refresh();
  expect(settings.get(1).quotas).toEqual(quotaDefaults);
});

test("without a change a poll is one round trip, and a value of another type is ignored", async () => {
  const settings = createTenantSettings({ pool: fixture.db.pool });
  await store("pollingTime", 42);
  await settings.refresh();
  expect(settings.get(1).pollingTime).toBe("00:05:00");
  expect(await fixture.roundTrips.during(() => settings.refresh())).toBe(1);
});

test("a value that is changed while the settings are read, and back again, does not stay", async () => {
  const { pool } = fixture.database.db("management");
  await pool.query("delete from settings");
  let statements = 0;
  const meanwhile = {
    query: async (config: never) => {
      statements += 1;
      if (statements === 2) await store("pollingTime", "00:00:45");
      return fixture.db.pool.query(config);
    },
  };
  const settings = createTenantSettings({ pool: meanwhile as never });
  await settings.refresh();
  expect(settings.get(1).pollingTime).toBe("00:00:45");
  await pool.query("delete from settings");
  await settings.refresh();
  expect(settings.get(1).pollingTime).toBe("00:05:00");
});

test("a running cache sees a change by itself, and an outage leaves it as it was", async () => {
  let broken = false;
  const pool = { query: (config: never) => (broken ? Promise.reject(new Error("no database")) : fixture.db.pool.query(config)) };
  const settings = createTenantSettings({ pool: pool as never });
  const job = createJob(jobs["tenant-settings"], { settings }, { log, everyMs: 10 });
  void job.start();
  await vi.waitUntil(() => settings.ready());
  await store("pollingTime", "01:00:00");
  await vi.waitUntil(() => settings.get(1).pollingTime === "01:00:00");
  warnings.length = 0;
  broken = true;
  await vi.waitUntil(() => warnings.length > 0);
  expect(settings.get(1).pollingTime).toBe("01:00:00");
  broken = false;
  await store("pollingTime", "02:00:00");
  await vi.waitUntil(() => settings.get(1).pollingTime === "02:00:00");
  expect(warnings).toHaveLength(1);
  await job.stop();
});
