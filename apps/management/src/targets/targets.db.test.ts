import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { origin } from "../testing/http.fixture.ts";
import { api, type TargetsFixture, targetsFixture } from "./targets.fixture.ts";

let all: TargetsFixture;
let fixture: TargetsFixture["fixture"];
let http: TargetsFixture["http"];
let create: TargetsFixture["create"];
let methods: TargetsFixture["methods"];
let setId: number;
let n = 0;

beforeAll(async () => {
  all = await targetsFixture();
  ({ fixture, http, create, methods } = all);
  setId = await all.newSet();
});
afterAll(() => all?.close());
beforeEach(() => {
  all.http.requested.length = 0;
});

test.each(["/api/mgmt/v1", "/rest/v1"])("%s: a new target is listed, read and deleted", async (base) => {
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
  expect(http.requested[0]).toMatchObject({ method: "createTargets", commandId: expect.stringMatching(/^create-targets:[\w-]{36}$/) });

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

test("invalid creations store nothing and make no call", async () => {
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

test("a long controllerId is cut for the name; a duplicate is controller's error", async () => {
  const id = "i".repeat(200);
  expect((await create(id)).body).toMatchObject([{ name: "i".repeat(128) }]);
  expect((await create(id)).status).toBe(409);
});

test("a request of attributes cannot be withdrawn; a type can be removed but must exist to be set", async () => {
  await create("dev-update");
  const put = (body: object) => http.call("PUT", `${api}/targets/dev-update`, { body });
  const refused = await put({ requestAttributes: false });
  expect([refused.status, refused.body.info]).toEqual([400, { violations: [{ path: "requestAttributes", problem: expect.any(String) }] }]);
  expect((await put({ targetType: 4711 })).status).toBe(404);
  http.requested.length = 0;
  expect((await put({ targetType: -1, requestAttributes: true })).status).toBe(200);
  expect(http.requested[0]?.request).toEqual({ controllerId: "dev-update", targetTypeId: -1, requestAttributes: true });
});

test("a new token has 16 characters or more, but the stored one of a target is accepted again", async () => {
  // The token of the target is "token-of-dev-s".
  await create("dev-s");
  const put = (securityToken: string, more: object = {}) => http.call("PUT", `${api}/targets/dev-s`, { body: { securityToken }, ...more });
  expect((await put("token-of-dev-t")).body.errorCode).toBe("hawkbit.server.error.repo.constraintViolation");
  // A user who may not read the token cannot find it out by trying.
  expect((await put("token-of-dev-s", { permissions: ["UPDATE_TARGET"] })).status).toBe(400);
  const kept = await put("token-of-dev-s");
  expect([kept.status, kept.headers.get("cache-control")]).toEqual([200, "no-store"]);
  expect((await put("a-token-of-16-ch")).status).toBe(200);
  const made = { controllerId: "dev-short", securityToken: "x".repeat(15) };
  expect((await http.call("POST", `${api}/targets`, { body: [made] })).status).toBe(400);
});

test("a user who may not read tokens sees none, and controller is not asked for them", async () => {
  await create("dev-token");
  http.requested.length = 0;
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

test("targets can be paged, sorted and queried", async () => {
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
  expect(await fixture.roundTrips.during(() => http.call("GET", `${api}/targets?q=name==*dev*&sort=name:ASC`))).toBe(1);
  expect(methods()).toEqual(["readSecurityTokens"]);
});

test("a caller who is limited to target types sees only their targets, everywhere", async () => {
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
