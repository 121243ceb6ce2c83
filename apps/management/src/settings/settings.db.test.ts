import { digest } from "@harrier/db";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";
import { type Actor, getSetting, listSettings, putSettings, resetSetting, type SettingsDeps } from "./settings.ts";

let fixture: Fixture;
let deps: SettingsDeps;
let caller: Actor;
const key = "authentication.gatewaytoken.key";

beforeAll(async () => {
  fixture = await managementFixture();
  deps = fixture;
  caller = { ...fixture.actor, permissions: ["READ_TENANT_CONFIGURATION", "TENANT_CONFIGURATION", "READ_GATEWAY_SECURITY_TOKEN"] };
});
afterAll(() => fixture.close());
beforeEach(async () => {
  await fixture.rows("delete from settings");
  await fixture.rows("delete from credential_changes");
});

const put = (values: Record<string, unknown>) => putSettings(deps, caller, new Map(Object.entries(values)));
const changes = async () => (await fixture.rows("select 1 from credential_changes")).length;
const credentials = () =>
  fixture.database
    .db("controller")
    .pool.query("select kind, tenant, digest, enabled from management.device_credentials_v1")
    .then(({ rows }) => rows);

test("defaults apply until a value is stored, and again after a reset", async () => {
  expect(await getSetting(deps, caller, "pollingTime")).toEqual({ key: "pollingTime", value: "00:05:00", global: true });
  const [stored] = await put({ pollingTime: "00:00:30" });
  expect(stored).toMatchObject({
    key: "pollingTime",
    value: "00:00:30",
    global: false,
    audit: { createdBy: "admin", lastModifiedBy: "admin" },
  });
  expect(await getSetting(deps, caller, "pollingTime")).toEqual(stored);
  await resetSetting(deps, caller, "pollingTime");
  expect(await getSetting(deps, caller, "pollingTime")).toMatchObject({ value: "00:05:00", global: true });
});

test("the list holds every key, stored or not, and the default set type", async () => {
  await put({ "implicit.lock.enabled": false });
  const all = new Map((await listSettings(deps, caller)).map((setting) => [setting.key, setting]));
  expect(all.get("implicit.lock.enabled")).toMatchObject({ value: false, global: false });
  expect(all.get("pollingOverdueTime")).toEqual({ key: "pollingOverdueTime", value: "00:05:00", global: true });
  expect(all.get("default.ds.type")).toEqual({ key: "default.ds.type", value: 13, global: false });
  expect(all.has(key)).toBe(true);
});

test("the gateway key is sealed in the table, published only as a digest, and shown only to users with its permission", async () => {
  await put({ [key]: "a secret gateway key", "authentication.gatewaytoken.enabled": true });
  const [row] = await fixture.rows("select value, digest, cipher from settings where key = $1", [key]);
  expect(row?.["value"]).toBeNull();
  expect(String(row?.["cipher"])).not.toContain("a secret gateway key");
  expect(row?.["digest"]).toEqual(digest("a secret gateway key"));
  expect(await credentials()).toEqual([{ kind: "gateway", tenant: "DEFAULT", digest: digest("a secret gateway key"), enabled: true }]);
  const published = await fixture.database.db("controller").pool.query("select key, value from management.tenant_settings_v1");
  expect(published.rows).toEqual([{ key: "authentication.gatewaytoken.enabled", value: true }]);

  expect(await getSetting(deps, caller, key)).toMatchObject({ value: "a secret gateway key", global: false });
  const blind = { ...caller, permissions: ["READ_TENANT_CONFIGURATION"] };
  await expect(getSetting(deps, blind, key)).rejects.toMatchObject({ code: "insufficientPermission" });
  // neither may a tag be tried out on it
  const guess = putSettings(deps, blind, new Map([[key, "short"]]), { one: key, ifMatch: [1] });
  await expect(guess).rejects.toMatchObject({ code: "insufficientPermission" });
  expect((await listSettings(deps, blind)).map((setting) => setting.key)).not.toContain(key);
});

test("an empty gateway key is refused", async () => {
  await put({ [key]: "", "authentication.gatewaytoken.enabled": true });
  expect(await credentials()).toEqual([]);
  expect(await getSetting(deps, caller, key)).toMatchObject({ value: "", global: false });
});

test("only changes that concern signing in make gateways forget, and only once per change", async () => {
  await put({ pollingTime: "00:01:00" });
  expect(await changes()).toBe(0);
  await put({ [key]: "a gateway key, long", "authentication.targettoken.enabled": true, pollingTime: "00:02:00" });
  expect(await changes()).toBe(1);
  await resetSetting(deps, caller, key);
  expect(await changes()).toBe(2);
  await resetSetting(deps, caller, key);
  expect(await changes()).toBe(2);
});

test("one invalid value of many keeps all from being stored", async () => {
  await expect(put({ pollingTime: "00:01:00", "default.ds.type": 12, pollingOverdueTime: "5m" })).rejects.toMatchObject({
    code: "configValueInvalid",
  });
  await expect(put({ pollingTime: "00:01:00", foo: 1 })).rejects.toMatchObject({ code: "configKeyInvalid" });
  await expect(put({ pollingTime: "00:01:00", "default.ds.type": 99999 })).rejects.toMatchObject({ code: "entityNotFound" });
  expect(await fixture.rows("select * from settings")).toEqual([]);
  expect(await getSetting(deps, caller, "default.ds.type")).toMatchObject({ value: 13 });
});

test("the default set type can be changed but not reset", async () => {
  expect(await put({ "default.ds.type": 12 })).toEqual([{ key: "default.ds.type", value: 12, global: false }]);
  await expect(resetSetting(deps, caller, "default.ds.type")).rejects.toMatchObject({ code: "constraintViolation" });
  await expect(put({ "default.ds.type": "12" })).rejects.toMatchObject({ code: "configValueInvalid" });
  await put({ "default.ds.type": 13 });
});

test("several assignments cannot be turned off again, and exclude batches and auto-close", async () => {
  await put({ "repository.actions.autoclose.enabled": true });
  await expect(put({ "multi.assignments.enabled": true })).rejects.toMatchObject({ code: "configChangeNotAllowed" });
  await put({ "repository.actions.autoclose.enabled": false, "multi.assignments.enabled": true });
  await expect(put({ "multi.assignments.enabled": false })).rejects.toMatchObject({ code: "configChangeNotAllowed" });
  await expect(resetSetting(deps, caller, "multi.assignments.enabled")).rejects.toMatchObject({ code: "configChangeNotAllowed" });
  await expect(put({ "batch.assignments.enabled": true })).rejects.toMatchObject({ code: "configChangeNotAllowed" });
  await expect(put({ "repository.actions.autoclose.enabled": true })).rejects.toMatchObject({ code: "configChangeNotAllowed" });
  await put({ "repository.actions.autoclose.enabled": false, pollingTime: "00:01:00" });
});

test("batches are turned on and off, and exclude several assignments", async () => {
  const batch = "batch.assignments.enabled";
  await put({ [batch]: true });
  expect(await getSetting(deps, caller, batch)).toMatchObject({ value: true, global: false });
  await expect(put({ "multi.assignments.enabled": true })).rejects.toMatchObject({ code: "configChangeNotAllowed" });
  await put({ [batch]: false, "multi.assignments.enabled": true });
  await resetSetting(deps, caller, batch);
});

test("two concurrent changes run one after the other", async () => {
  const both = [put({ "multi.assignments.enabled": true }), put({ "repository.actions.autoclose.enabled": true })];
  const results = await Promise.allSettled(both);
  expect(results.filter((result) => result.status === "rejected")).toHaveLength(1);
});

test("a new gateway token has 16 characters or more; a shorter one that is stored stays good and can be sent again", async () => {
  await expect(put({ [key]: "x".repeat(15) })).rejects.toMatchObject({ code: "configValueInvalid" });
  await put({ [key]: "x".repeat(16) });
  const short = { digest: digest("short"), cipher: deps.secrets.seal("short") };
  await fixture.rows("update settings set digest = $2, cipher = $3 where key = $1", [key, short.digest, short.cipher]);
  expect(await put({ [key]: "short", "authentication.gatewaytoken.enabled": true })).toMatchObject([{ value: "short" }, { value: true }]);
  await expect(put({ [key]: "other" })).rejects.toMatchObject({ code: "configValueInvalid" });
  expect(await getSetting(deps, caller, key)).toMatchObject({ value: "short" });
  await put({ [key]: "" });
});
