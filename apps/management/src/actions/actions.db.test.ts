import { afterAll, beforeAll, expect, test } from "vitest";
import { createSets } from "../distribution-sets/distribution-sets.ts";
import { createModules } from "../software-modules/software-modules.ts";
import { type HttpFixture, httpFixture, origin } from "../testing/http.fixture.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";

let fixture: Fixture;
let http: HttpFixture;
let setId: number;
let action: number;
let rolled: number;
const api = "/api/mgmt/v1";

beforeAll(async () => {
  fixture = await managementFixture();
  http = await httpFixture(fixture);
  const [module] = await createModules(fixture, fixture.actor, [{ name: "m", version: "1", type: "os", encrypted: false }]);
  const set = { name: "set", version: "1.0", type: "os", requiredMigrationStep: false, locked: false, modules: [{ id: module?.id ?? 0 }] };
  const [row] = await createSets({ ...fixture, fault: () => {} }, fixture.actor, [set]);
  setId = row?.id ?? 0;
  const one = await fixture.addTarget("dev/1");
  const two = await fixture.addTarget("dev-2");
  await fixture.asRolloutEngine(
    `insert into rollouts (tenant_id, id, name, status, target_filter, set_id, set_name, set_version, set_type_id, migration_step, force_type,
                           created_by, last_modified_by) values (1, 50, 'wave', 'running', 'name==*', $1, 'set', '1.0', 11, false, 1, 't', 't')`,
    [setId],
  );
  action = await fixture.addAction({ targetId: one, controllerId: "dev/1", setId });
  rolled = await fixture.addAction({ targetId: two, controllerId: "dev-2", setId, rolloutId: 50, status: 0, active: false });
});
afterAll(async () => {
  await http.close();
  await fixture.close();
});

const get = (path: string, base = api) => http.call("GET", `${base}${path}`);

test("an action in the dialect of the specification has all links", async () => {
  const { body } = await get(`/targets/dev%2F1/actions/${action}`);
  const self = `${origin}${api}/targets/dev%2F1/actions/${action}`;
  expect(body).toMatchObject({
    id: action,
    type: "update",
    status: "pending",
    detailStatus: "running",
    active: true,
    forceType: "forced",
    weight: 1000,
  });
  expect(body).not.toHaveProperty("forceTime");
  expect(body).not.toHaveProperty("rollout");
  expect(body._links).toEqual({
    self: { href: self },
    target: { href: `${origin}${api}/targets/dev%2F1`, name: "name of dev/1" },
    distributionset: { href: `${origin}${api}/distributionsets/${setId}`, name: "set:1.0" },
    status: { href: `${self}/status?offset=0&limit=50&sort=id%3ADESC` },
  });
  expect((await get(`/actions/${action}`)).body).toEqual(body);
});

test("/rest/v1 shows the raw status without detailStatus, and an action of a rollout names its rollout", async () => {
  const { body } = await get(`/targets/dev-2/actions/${rolled}`, "/rest/v1");
  expect(body).toMatchObject({ status: "finished", active: false, rollout: 50, rolloutName: "wave" });
  expect(body).not.toHaveProperty("detailStatus");
  expect(body._links.rollout).toEqual({ href: `${origin}/rest/v1/rollouts/50`, name: "wave" });
  expect((await get(`/targets/dev-2/actions/${rolled}`)).body).toMatchObject({ status: "finished", detailStatus: "finished" });
});

test("the classic dialect on /rest/v1 answers like the specified path", async () => {
  const classic = await httpFixture(fixture, { restDialect: "classic" });
  const response = await classic.call("GET", `/rest/v1/actions/${action}`);
  expect(response.body).toMatchObject({ status: "pending", detailStatus: "running" });
  expect((await classic.call("PUT", "/rest/v1/system/configs/pollingTime", { body: { value: "00:01:00" } })).status).toBe(200);
  await classic.close();
});

test("lists show the newest actions first and compact unless asked otherwise, in one round trip each", async () => {
  expect(await fixture.roundTrips.during(() => get("/actions"))).toBe(1);
  const compact = (await get("/actions")).body;
  expect(compact.content.map((item: { id: number }) => item.id)).toEqual([rolled, action]);
  expect(Object.keys(compact.content[0]._links)).toEqual(["self"]);
  expect(Object.keys((await get("/actions?representation=FULL")).body.content[0]._links)).toContain("distributionset");
  expect(await fixture.roundTrips.during(() => get("/targets/dev%2F1/actions"))).toBe(1);
  expect((await get("/targets/dev%2F1/actions")).body).toMatchObject({ total: 1, content: [{ id: action }] });
  expect((await get("/targets/nobody/actions")).status).toBe(404);
  await fixture.addTarget("dev-idle");
  expect((await get("/targets/dev-idle/actions")).body).toEqual({ content: [], total: 0, size: 0 });
});

test.each<[string, string, number]>([
  ["/api/mgmt/v1", "status==pending", 1],
  ["/api/mgmt/v1", "detailstatus==running;active==true", 1],
  ["/rest/v1", "status==finished", 1],
  ["/rest/v1", "distributionset.name==SET;target.name==*dev-2", 1],
  ["/rest/v1", "rollout.name==wave", 1],
])("%s lists the actions that match q=%s", async (base, q, total) => {
  expect((await get(`/actions?q=${encodeURIComponent(q)}`, base)).body.total).toBe(total);
});

test("an unknown action is answered by a 404 with a body, an action of another target by a 404 without one", async () => {
  expect((await get("/actions/4711")).body.info).toEqual({ type: "Action", entityId: 4711 });
  expect((await get(`/targets/nobody/actions/${action}`)).body.info).toEqual({ type: "Target", entityId: "nobody" });
  expect((await get("/targets/dev-2/actions/4711")).body.info).toEqual({ type: "Action", entityId: 4711 });
  const foreign = await get(`/targets/dev-2/actions/${action}`);
  expect([foreign.status, foreign.body]).toEqual([404, undefined]);
});

test("the history is sorted as requested", async () => {
  await fixture.asController(
    "insert into action_history (tenant_id, action_id, revision, status, messages, code, occurred_at) values (1, $1, 2, 7, '{a,b}', 12, to_timestamp(5))",
    [action],
  );
  const { body } = await get(`/targets/dev%2F1/actions/${action}/status?offset=0&limit=50&sort=id%3ADESC`);
  expect(body).toMatchObject({
    total: 2,
    content: [
      { id: 2, type: "download", messages: ["a", "b"], code: 12, timestamp: 5000 },
      { id: 1, type: "running", messages: ["Assignment initiated by user 'admin'"] },
    ],
  });
  expect(body.content[1]).not.toHaveProperty("code");
  expect((await get(`/targets/dev%2F1/actions/${action}/status?sort=reportedat:ASC&limit=1`)).body.content).toMatchObject([{ id: 1 }]);
  expect((await get(`/targets/dev-2/actions/${action}/status`)).status).toBe(404);
});

test("every answer shows the maintenance window of controller's view", async () => {
  const window = { schedule: "0 0 2 ? * *", duration: "01:00", timezone: "+02:00" };
  const set = "update actions set maintenance_schedule = $2, maintenance_duration = $3, maintenance_timezone = $4 where id = $1";
  await fixture.asController(set, [action, window.schedule, window.duration, window.timezone]);
  const shown = { ...window, nextStartAt: expect.any(Number) };
  for (const path of [`/actions/${action}`, `/targets/dev%2F1/actions/${action}`]) {
    expect((await get(path)).body.maintenanceWindow).toEqual(shown);
  }
  for (const path of [`/actions?q=id==${action}`, "/targets/dev%2F1/actions"]) {
    expect((await get(path, "/rest/v1")).body.content[0].maintenanceWindow).toEqual(shown);
  }
  const next = (await get(`/actions/${action}`)).body.maintenanceWindow.nextStartAt;
  expect(next).toBeGreaterThan(Date.now() - 3_600_000);
  expect(new Date(next).toISOString()).toMatch(/T00:00:00.000Z$/);
});

test.each([
  [api, 200],
  ["/rest/v1", 204],
])("%s: controller confirms and denies an action in place of the device", async (base, done) => {
  http.requested.length = 0;
  const path = `${base}/targets/dev%2F1/actions/${action}/confirmation`;
  expect((await http.call("PUT", path, { body: { confirmation: "denied", code: 7, details: "one" } })).status).toBe(done);
  expect((await http.call("PUT", path, { body: { confirmation: "confirmed", code: null } })).status).toBe(done);
  for (const body of [{}, { confirmation: "CONFIRMED" }, { confirmation: null }, { confirmation: "denied", code: 1.5 }]) {
    const refused = await http.call("PUT", path, { body });
    expect([refused.status, refused.body.errorCode]).toEqual([400, "hawkbit.server.error.rest.body.notReadable"]);
  }
  expect((await http.call("PUT", path, { body: { confirmation: "denied" }, permissions: ["UPDATE_TARGET"] })).status).toBe(403);
  expect(http.requested.map((call) => call.request)).toEqual([
    { controllerId: "dev/1", actionId: action, confirmed: false, code: 7, details: ["one"], ifRevisions: [] },
    { controllerId: "dev/1", actionId: action, confirmed: true, details: [], ifRevisions: [] },
  ]);
});

test("controller forces and cancels actions; the answer is 204 in both dialects", async () => {
  const path = `${api}/targets/dev%2F1/actions/${action}`;
  expect((await http.call("PUT", path, { body: { forceType: "soft" } })).body.errorCode).toContain("constraintViolation");
  expect((await http.call("PUT", path, { body: {} })).status).toBe(400);
  expect((await http.call("PUT", path, { body: { forceType: "forced" } })).body).toMatchObject({
    id: action,
    forceType: "forced",
    _links: { target: {} },
  });
  expect((await http.call("DELETE", path)).status).toBe(204);
  expect((await get(`/targets/dev%2F1/actions/${action}`)).body).toMatchObject({
    type: "cancel",
    detailStatus: "canceling",
    _links: { canceledaction: {} },
  });
  expect((await http.call("DELETE", `${path.replace(api, "/rest/v1")}?force=true`)).status).toBe(204);
  expect((await get(`/targets/dev%2F1/actions/${action}`)).body).toMatchObject({
    status: "finished",
    detailStatus: "canceled",
    active: false,
  });
  const again = await http.call("DELETE", path);
  expect([again.status, again.body.errorCode]).toEqual([405, "hawkbit.server.error.action.notCancelable"]);
  expect(http.requested.filter((call) => call.method === "cancelAction").map((call) => call.request)).toEqual([
    { controllerId: "dev/1", actionId: action, force: false },
    { controllerId: "dev/1", actionId: action, force: true },
    { controllerId: "dev/1", actionId: action, force: false },
  ]);
});
