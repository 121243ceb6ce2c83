import { HarrierError } from "@harrier/errors";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createSets, getSet } from "../distribution-sets/distribution-sets.ts";
import { createModules } from "../software-modules/software-modules.ts";
import { type HttpFixture, httpFixture, origin } from "../testing/http.fixture.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";

let fixture: Fixture;
let http: HttpFixture;
let setId: number;
let n = 0;
const api = "/api/mgmt/v1";

beforeAll(async () => {
  fixture = await managementFixture();
  http = await httpFixture(fixture);
  setId = await newSet();
});
afterAll(async () => {
  await http.close();
  await fixture.close();
});
beforeEach(() => {
  http.asked.length = 0;
});

async function newSet(): Promise<number> {
  const [module] = await createModules(fixture, fixture.actor, [{ name: `m-${n++}`, version: "1", type: "os", encrypted: false }]);
  const set = {
    name: `s-${n++}`,
    version: "1",
    type: "os",
    requiredMigrationStep: false,
    locked: false,
    modules: [{ id: module?.id ?? 0 }],
  };
  const [row] = await createSets({ ...fixture, fault: () => {} }, fixture.actor, [set]);
  return row?.id ?? 0;
}
const create = (...controllerIds: string[]) =>
  http.call("POST", `${api}/targets`, { body: controllerIds.map((controllerId) => ({ controllerId })) });
const methods = () => http.asked.map((call) => call.method);

test.each(["/api/mgmt/v1", "/rest/v1"])("%s: a fresh target, in the list, alone, and gone", async (base) => {
  const id = `fresh ${n++}`.replace(" ", "%");
  const self = `${origin}${base}/targets/${encodeURIComponent(id)}`;
  const created = await http.call("POST", `${base}/targets`, {
    body: { controllerId: id, description: "d", address: "http://10.0.0.1:80" },
  });
  expect(created.status).toBe(201);
  expect(created.body).toMatchObject([
    { controllerId: id, name: id, description: "d", address: "http://10.0.0.1:80", ipAddress: "10.0.0.1", updateStatus: "unknown" },
  ]);
  expect(created.body[0]).toMatchObject({ requestAttributes: true, securityToken: `token-of-${id}`, _links: { self: { href: self } } });
  expect(created.body[0]).not.toHaveProperty("pollStatus");
  expect(http.asked[0]).toMatchObject({ method: "createTargets", commandId: expect.stringMatching(/^create-targets:[\w-]{36}$/) });

  const single = await http.call("GET", `${base}/targets/${encodeURIComponent(id)}`);
  expect(single.status).toBe(200);
  expect(Object.keys(single.body._links)).toEqual(["self", "assignedDS", "installedDS", "attributes", "actions", "metadata"]);
  expect(single.body._links.actions.href).toBe(`${self}/actions?offset=0&limit=50&sort=id%3ADESC`);
  expect((await http.call("GET", `${base}/targets/${encodeURIComponent(id)}/attributes`)).status).toBe(204);
  expect((await http.call("GET", `${base}/targets/${encodeURIComponent(id)}/assignedDS`)).status).toBe(204);

  const renamed = await http.call("PUT", `${base}/targets/${encodeURIComponent(id)}`, { body: { name: "new", controllerId: "ignored" } });
  expect(renamed.body).toMatchObject({ controllerId: id, name: "new" });
  const gone = await http.call("DELETE", `${base}/targets/${encodeURIComponent(id)}`);
  expect(gone.status).toBe(base === "/rest/v1" ? 204 : 200);
  const missing = await http.call("GET", `${base}/targets/${encodeURIComponent(id)}`);
  expect(missing.status).toBe(404);
  expect(missing.body).toMatchObject({ errorCode: "hawkbit.server.error.repo.entityNotFound", info: { type: "Target", entityId: id } });
  expect((await http.call("DELETE", `${base}/targets/${encodeURIComponent(id)}`)).status).toBe(404);
});

test("bad creates store nothing and ask nobody", async () => {
  const attempt = async (body: unknown) => {
    const answer = await http.call("POST", `${api}/targets`, { body });
    return [answer.status, answer.body?.errorCode?.split(".").at(-1)];
  };
  expect(await attempt([{ name: "no id" }])).toEqual([400, "constraintViolation"]);
  expect(await attempt([{ controllerId: "a b" }])).toEqual([400, "constraintViolation"]);
  expect(await attempt([{ controllerId: "x".repeat(257) }])).toEqual([400, "constraintViolation"]);
  expect(await attempt("xyz")).toEqual([400, "notReadable"]);
  expect(await attempt([{ controllerId: "typed", targetType: 4711 }])).toEqual([404, "entityNotFound"]);
  expect(methods()).toEqual([]);
  expect(await attempt([])).toEqual([201, undefined]);
});

test("a long controllerId is cut for the name; a duplicate is controller's word", async () => {
  const id = "i".repeat(200);
  expect((await create(id)).body).toMatchObject([{ name: "i".repeat(128) }]);
  expect((await create(id)).status).toBe(409);
});

test("attributes cannot be declined, and a type can be taken away but must exist to be given", async () => {
  await create("dev-update");
  const put = (body: object) => http.call("PUT", `${api}/targets/dev-update`, { body });
  const refused = await put({ requestAttributes: false });
  expect([refused.status, refused.body]).toEqual([400, undefined]);
  expect((await put({ targetType: 4711 })).status).toBe(404);
  http.asked.length = 0;
  expect((await put({ targetType: -1, requestAttributes: true })).status).toBe(200);
  expect(http.asked[0]?.request).toEqual({ controllerId: "dev-update", targetTypeId: -1, requestAttributes: true });
});

test("who may not read tokens sees none, and controller is not asked for them", async () => {
  await create("dev-token");
  http.asked.length = 0;
  const blind = await http.call("GET", `${api}/targets/dev-token`, { permissions: ["READ_TARGET"] });
  expect(blind.body).not.toHaveProperty("securityToken");
  expect(methods()).toEqual([]);
  expect((await http.call("GET", `${api}/targets/dev-token`)).body.securityToken).toBe("token-of-dev-token");
  expect((await http.call("GET", `${api}/targets`, { permissions: ["READ_REPOSITORY"] })).status).toBe(403);
});

test("attributes, poll status, sets and host of an address come from controller's views", async () => {
  const id = await fixture.addTarget("dev-rich", { assignedSetId: setId, installedSetId: setId });
  await fixture.asController(
    "insert into target_attributes (tenant_id, target_id, key, value) values (1, $1, 'b', '2'), (1, $1, 'aa', '1')",
    [id],
  );
  await fixture.asController("insert into target_polls (tenant_id, target_id, last_poll_at) values (1, $1, to_timestamp(1700000000.123))", [
    id,
  ]);
  await fixture.asController("update target_state set update_status = 3, installed_at = to_timestamp(1700000001) where target_id = $1", [
    id,
  ]);
  await fixture.asController("update targets set address = 'amqp://vhost/x' where id = $1", [id]);
  await http.call("PUT", `${api}/system/configs/pollingTime`, { body: { value: "00:01:00" } });
  const { body } = await http.call("GET", `${api}/targets/dev-rich`);
  expect(body).toMatchObject({
    updateStatus: "in_sync",
    lastControllerRequestAt: 1700000000123,
    installedAt: 1700000001000,
    address: "amqp://vhost/x",
    pollStatus: { lastRequestAt: 1700000000123, nextExpectedRequestAt: 1700000060123, overdue: true },
  });
  expect(body).not.toHaveProperty("ipAddress");
  expect((await http.call("GET", `${api}/targets/dev-rich/attributes`)).body).toEqual({ aa: "1", b: "2" });
  for (const which of ["assignedDS", "installedDS"]) {
    const set = await http.call("GET", `${api}/targets/dev-rich/${which}`);
    expect(set.body).toMatchObject({ id: setId, complete: true, _links: { modules: {}, type: {}, metadata: {} } });
  }
  expect((await http.call("GET", `${api}/targets/nobody/assignedDS`)).status).toBe(404);
  expect((await http.call("GET", `${api}/targets/nobody/attributes`)).status).toBe(404);
  for (const which of ["assignedTargets", "installedTargets"]) {
    const list = await http.call("GET", `${api}/distributionsets/${setId}/${which}?q=name==*dev-rich`);
    expect(list.body).toMatchObject({ total: 1, size: 1, content: [{ controllerId: "dev-rich" }] });
    expect((await http.call("GET", `${api}/distributionsets/4711/${which}`)).status).toBe(404);
  }
});

test("paging, sorting and queries", async () => {
  await create("p-1", "p-2", "p-3");
  const list = async (query: string) => {
    const { status, body } = await http.call("GET", `${api}/targets?${query}`, { permissions: ["READ_TARGET"] });
    return status === 200
      ? [body.total, body.content.map((target: { controllerId: string }) => target.controllerId)]
      : [status, body.errorCode.split(".").at(-1)];
  };
  const q = (text: string) => `q=${encodeURIComponent(text)}`;
  expect(await list(q("controllerid==p-*"))).toEqual([3, ["p-1", "p-2", "p-3"]]);
  expect(await list(`${q("id==p-*")}&sort=NAME:desc&limit=2`)).toEqual([3, ["p-3", "p-2"]]);
  expect(await list(`${q("id==p-*")}&offset=2`)).toEqual([3, ["p-3"]]);
  expect(await list(`${q("id==p-*")}&offset=7`)).toEqual([3, []]);
  expect(await list(q("attribute.aa==1;assignedds.version==1,id==p-2"))).toEqual([2, ["dev-rich", "p-2"]]);
  const macro = (name: string) => `$\{${name}}`;
  expect(await list(q(`lastcontrollerrequestat=le=${macro("OVERDUE_TS")}`))).toEqual([1, ["dev-rich"]]);
  expect(await list(q(`id==p-1;createdat=le=${macro("NOW_TS")}`))).toEqual([1, ["p-1"]]);
  expect(await list("sort=name")).toEqual([400, "sortParamSyntax"]);
  expect(await list("sort=foo:ASC")).toEqual([400, "invalidField"]);
  expect(await list("sort=name:UP")).toEqual([400, "invalidDirection"]);
  expect(await list("q=")).toEqual([400, "rsqlParamSyntax"]);
  expect(await list(q("foo==1"))).toEqual([400, "rsqlInvalidField"]);
});

test("a list costs one round trip, and one call to controller where tokens are shown", async () => {
  expect(await fixture.trips.during(() => http.call("GET", `${api}/targets?q=name==*dev*&sort=name:ASC`))).toBe(1);
  expect(methods()).toEqual(["readSecurityTokens"]);
});

test("a caller who is limited to target types sees those only, everywhere", async () => {
  await fixture.rows(
    "insert into target_types (tenant_id, id, key, name, created_by, last_modified_by) values (1, 21, 'a', 'A', 't', 't')",
  );
  const typed = await fixture.addTarget("typed-a", { typeId: 21, assignedSetId: setId });
  const plain = await fixture.addTarget("untyped", { assignedSetId: setId });
  const mine = await fixture.addAction({ targetId: typed, controllerId: "typed-a", setId });
  const other = await fixture.addAction({ targetId: plain, controllerId: "untyped", setId });
  const limited = { scopes: { READ_TARGET: [21] } };
  const get = (path: string) => http.call("GET", `${api}${path}`, limited);
  expect((await get("/targets")).body).toMatchObject({
    total: 1,
    content: [{ controllerId: "typed-a", targetType: 21, targetTypeName: "A" }],
  });
  expect((await get("/targets/typed-a")).body._links.targetType.href).toBe(`${origin}${api}/targettypes/21`);
  expect((await get("/targets/untyped")).status).toBe(404);
  expect((await get("/targets/untyped/attributes")).status).toBe(404);
  expect((await get("/targets/untyped/assignedDS")).status).toBe(404);
  expect((await get(`/distributionsets/${setId}/assignedTargets`)).body.total).toBe(1);
  expect((await get("/actions")).body).toMatchObject({ total: 1, content: [{ id: mine }] });
  expect((await get(`/actions/${other}`)).status).toBe(404);
  expect((await get("/targets/untyped/actions")).status).toBe(404);
  expect((await get(`/targets/untyped/actions/${other}`)).status).toBe(404);
  expect((await get(`/targets/typed-a/actions/${mine}`)).status).toBe(200);
  expect((await http.call("GET", `${api}/targets`, { scopes: { READ_TARGET: [] } })).body.total).toBe(0);
});

test("assigning: known ones get an action, unknown ones are not counted, again is already assigned; the set is locked", async () => {
  const set = await newSet();
  await create("as-1", "as-2");
  http.asked.length = 0;
  const assign = () =>
    http.call("POST", `${api}/distributionsets/${set}/assignedTargets`, { body: [{ id: "as-1" }, { id: "as-2" }, { id: "nobody" }] });
  const { status, body } = await assign();
  expect(status).toBe(200);
  expect(body).toMatchObject({ assigned: 2, alreadyAssigned: 0, total: 2 });
  const [action] = body.assignedActions;
  expect(action._links.self.href).toBe(`${origin}${api}/targets/as-1/actions/${action.id}`);
  expect((await assign()).body).toEqual({ assigned: 0, alreadyAssigned: 2, total: 2, assignedActions: [] });
  expect(http.asked[0]).toMatchObject({
    method: "assignSet",
    commandId: expect.stringMatching(/^assign:[\w-]{36}$/),
    request: {
      set: { id: set, typeId: 11, migrationStep: false },
      initiator: "admin",
      items: [{ controllerId: "as-1", forceType: "forced", weight: 1000 }, {}, {}],
    },
  });
  expect(await getSet(fixture, 1, set)).toMatchObject({ locked: true });
  expect(await fixture.rows("select reservations from distribution_sets where id = $1", [set])).toEqual([{ reservations: 0 }]);
});

test("assigning costs two round trips, and seven more at the first use of a set", async () => {
  const set = await newSet();
  await create("as-5", "as-6");
  // the controller of this test writes by its own connections, which are not counted
  const assign = (id: string) => http.call("POST", `${api}/distributionsets/${set}/assignedTargets`, { body: [{ id }] });
  expect(await fixture.trips.during(() => assign("as-5"))).toBe(9);
  expect(await fixture.trips.during(() => assign("as-6"))).toBe(2);
});

test("a failed assignment ends its reservation only where it is certain that nothing happened", async () => {
  const set = await newSet();
  const body = [{ id: "as-1" }];
  const reservations = async () =>
    (await fixture.rows("select reservations from distribution_sets where id = $1", [set]))[0]?.["reservations"];
  http.failNext(new HarrierError("targetTypeIncompatible"));
  expect((await http.call("POST", `${api}/distributionsets/${set}/assignedTargets`, { body })).status).toBe(400);
  expect(await reservations()).toBe(0);
  http.failNext(new HarrierError("unavailable"));
  expect((await http.call("POST", `${api}/distributionsets/${set}/assignedTargets`, { body })).status).toBe(503);
  expect(await reservations()).toBe(1);
});

test.each<[string, unknown, number, string]>([
  ["two different items for one target", [{ id: "t" }, { id: "t", type: "soft" }], 400, "multiAssignmentNotEnabled"],
  ["weight 1001", [{ id: "t", weight: 1001 }], 400, "constraintViolation"],
  ["unknown type", [{ id: "t", type: "hard" }], 400, "notReadable"],
  ["no id", [{ type: "soft" }], 400, "notReadable"],
  ["a maintenance window", [{ id: "t", maintenanceWindow: { schedule: "0 0 0 ? * *" } }], 400, "maintenanceScheduleInvalid"],
  ["5001 items", Array.from({ length: 5001 }, (_, i) => ({ id: `t${i}` })), 403, "tooManyEntries"],
])("%s is refused before anything is asked", async (_, body, status, code) => {
  const answer = await http.call("POST", `${api}/distributionsets/${setId}/assignedTargets`, { body });
  expect([answer.status, answer.body.errorCode.split(".").at(-1)]).toEqual([status, code]);
  expect(methods()).toEqual([]);
});

test("refusals of the set, in both directions", async () => {
  await create("as-3");
  const status = async (path: string, body: unknown) => (await http.call("POST", `${api}${path}`, { body })).status;
  expect(await status("/distributionsets/4711/assignedTargets", [{ id: "as-3" }])).toBe(404);
  expect(await status(`/distributionsets/${setId}/assignedTargets?offline=true`, [{ id: "as-3" }])).toBe(400);
  expect(await status("/targets/nobody/assignedDS", [{ id: setId }])).toBe(404);
  expect(await status("/targets/as-3/assignedDS", [{ id: setId }, { id: 4711 }])).toBe(400);
  expect(await status("/targets/as-3/assignedDS", [{ id: 4711 }])).toBe(404);
  expect(await status(`/distributionsets/${setId}/assignedTargets`, [])).toBe(200);
  const single = await http.call("POST", "/rest/v1/targets/as-3/assignedDS", {
    body: { id: setId, type: "timeforced", forcetime: 5, weight: 7 },
  });
  expect(single.body).toMatchObject({ assigned: 1, total: 1 });
  expect(http.asked.at(-1)?.request["items"]).toEqual([{ controllerId: "as-3", forceType: "timeforced", forceTime: 5, weight: 7 }]);
});

test("identical items collapse; the time of a forced item does not matter", async () => {
  await create("as-4");
  const body = [{ id: "as-4" }, { id: "as-4", forcetime: 99, weight: 1000 }];
  expect((await http.call("POST", `${api}/distributionsets/${setId}/assignedTargets`, { body })).body).toMatchObject({ total: 1 });
});

test("every request is a command of its own, whatever request id and body it has", async () => {
  const set = await newSet();
  const assign = (id: string) => http.call("POST", `${api}/distributionsets/${set}/assignedTargets`, { body: [{ id }], rid: "rid-same" });
  await assign("x-1");
  await assign("x-1");
  const [one, two] = http.asked.map((call) => call.commandId);
  expect(one).not.toBe(two);
});
