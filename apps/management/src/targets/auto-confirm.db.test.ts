import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type HttpFixture, httpFixture, origin } from "../testing/http.fixture.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";

let fixture: Fixture;
let http: HttpFixture;
const path = "/targets/dev%2F1/autoConfirm";

beforeAll(async () => {
  fixture = await managementFixture();
  http = await httpFixture(fixture);
  await fixture.addTarget("dev/1");
});
afterAll(async () => {
  await http.close();
  await fixture.close();
});
beforeEach(() => {
  http.requested.length = 0;
});

test.each([
  ["/api/mgmt/v1", 200],
  ["/rest/v1", 204],
])("%s: auto-confirmation can be turned on and off, and each again", async (base, done) => {
  const self = `${origin}${base}${path}`;
  const state = async () => (await http.call("GET", base + path)).body;
  expect(await state()).toEqual({ active: false, _links: { activate: { href: `${self}/activate` } } });
  expect((await http.call("POST", `${base}${path}/activate`, { body: { initiator: " me ", remark: "" } })).status).toBe(done);
  expect(await state()).toEqual({
    active: true,
    initiator: "me",
    activatedAt: expect.closeTo(Date.now(), -4),
    _links: { deactivate: { href: `${self}/deactivate` } },
  });
  const again = await http.call("POST", `${base}${path}/activate`);
  expect([again.status, again.body.errorCode]).toEqual([409, "hawkbit.server.error.repo.autoConfAlreadyActive"]);
  for (let n = 0; n < 2; n += 1) expect((await http.call("POST", `${base}${path}/deactivate`)).status).toBe(done);
  expect(await state()).toMatchObject({ active: false });
  expect(http.requested.map(({ method, request }) => [method, request])).toEqual([
    ["activateAutoConfirm", { controllerId: "dev/1", initiator: "me" }],
    ["activateAutoConfirm", { controllerId: "dev/1" }],
    ["deactivateAutoConfirm", { controllerId: "dev/1" }],
    ["deactivateAutoConfirm", { controllerId: "dev/1" }],
  ]);
});

test.each<[string, unknown, string]>([
  ["a long initiator", { initiator: "x".repeat(65) }, "repo.constraintViolation"],
  ["a long remark", { remark: "x".repeat(513) }, "repo.constraintViolation"],
  ["no object", "[]", "rest.body.notReadable"],
])("an activation with %s is refused before any call", async (_, body, code) => {
  const { status, body: error } = await http.call("POST", `/rest/v1${path}/activate`, { body });
  expect([status, error.errorCode]).toEqual([400, `hawkbit.server.error.${code}`]);
  expect(http.requested).toEqual([]);
});

test("an unknown target and one outside the caller's scope are not found", async () => {
  const scopes = { READ_TARGET: [7] };
  expect((await http.call("GET", "/rest/v1/targets/nobody/autoConfirm")).body.info).toEqual({ type: "Target", entityId: "nobody" });
  expect((await http.call("GET", `/rest/v1${path}`, { scopes })).status).toBe(404);
});

test("targets show auto-confirmation where the confirmation flow is on, with no further round trip", async () => {
  await fixture.addTarget("dev-2");
  const put = (value: boolean) => http.call("PUT", "/rest/v1/system/configs/user.confirmation.flow.enabled", { body: { value } });
  const permissions = ["READ_TARGET"];
  const get = async (id: string) => (await http.call("GET", `/rest/v1/targets/${id}`, { permissions })).body;
  await http.call("POST", `/rest/v1${path}/activate`);
  expect(await get("dev%2F1")).not.toHaveProperty("autoConfirmActive");
  await put(true);
  expect(await get("dev%2F1")).toMatchObject({ autoConfirmActive: true, _links: { autoConfirm: { href: `${origin}/rest/v1${path}` } } });
  expect(await get("dev-2")).toMatchObject({ autoConfirmActive: false, _links: { autoConfirm: {} } });
  const roundTrips = await fixture.roundTrips.during(async () => {
    const { body } = await http.call("GET", "/rest/v1/targets?sort=controllerid:DESC", { permissions });
    expect(body.content.map((target: { autoConfirmActive: boolean }) => target.autoConfirmActive)).toEqual([true, false]);
  });
  expect(roundTrips).toBe(1);
  await put(false);
  expect(await get("dev-2")).not.toHaveProperty("autoConfirmActive");
});
