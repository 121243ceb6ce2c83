import { HarrierError } from "@harrier/errors";
import type { OutCall } from "@harrier/rpc";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type HttpFixture, httpFixture } from "../testing/http.fixture.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";
import { changeDueTargets } from "./target-change-worker.ts";

const api = "/api/mgmt/v1";
let fixture: Fixture;
let http: HttpFixture;

beforeAll(async () => {
  fixture = await managementFixture();
  http = await httpFixture(fixture);
  await fixture.rows("insert into target_tags (tenant_id, id, name, created_by, last_modified_by) values (1, 5, 'eu', 't', 't')");
  await fixture.rows("insert into target_types (tenant_id, id, key, name, created_by, last_modified_by) values (1, 7, 'k', 'n', 't', 't')");
});
afterAll(async () => {
  await http.close();
  await fixture.close();
});
beforeEach(async () => {
  await fixture.rows("delete from background_operations");
  await fixture.asController("delete from targets");
});

const change = (body: object, more = {}) => http.call("POST", `${api}/targets.bulk`, { body, ...more });
const shown = async (id: number) => (await http.call("GET", `${api}/operations/${id}`)).body;

interface Requested {
  ids: number[];
  change: string;
  value: number;
  call: OutCall;
}

/** Carries operations out; the test double of controller reaches what `reaches` answers. */
function worker(requested: Requested[] = [], reaches: (ids: number[]) => number[] = (ids) => ids) {
  const deps: Parameters<typeof changeDueTargets>[0] = {
    db: fixture.db,
    log: { warn: () => {} },
    actions: { assignSet: () => Promise.reject(new Error("nothing is assigned")) },
    targets: {
      async changeTargetsById({ targetIds = [], change = "", value = 0 }, call) {
        requested.push({ ids: [...targetIds], change, value: Number(value), call });
        return { reached: reaches([...targetIds]), changed: 0 };
      },
    },
  };
  return () => changeDueTargets(deps);
}

test("the targets that a confirmed query means are changed by an operation, those that match later are not", async () => {
  await fixture.addFleet("a", 1_300, 100);
  const { status, body } = await change({ action: "addTag", tagId: 5, q: "name==a", confirm: 1_300 });
  expect(status).toBe(202);
  expect(body).toMatchObject({ kind: "change-targets", subject: "addTag 5: name==a", status: "waiting", total: 1_300 });
  await fixture.addFleet("a2", 5, 9_000);
  const requested: Requested[] = [];
  expect(await worker(requested)()).toBe(true);
  expect(requested.map(({ ids }) => ids.length)).toEqual([500, 500, 300]);
  expect(requested[0]).toMatchObject({ change: "addTag", value: 5, call: { principal: { kind: "service", tenantId: 1 } } });
  const done = await shown(body.id);
  expect(done).toMatchObject({ status: "finished", done: 1_300, total: 1_300 });
  expect([done.failed, done.failures]).toEqual([undefined, undefined]);
  expect(await worker()()).toBe(false);
});

test("another number than the confirmed one changes nothing and is reported", async () => {
  await fixture.addFleet("a", 3, 100);
  for (const confirm of [0, 2, 4]) {
    const { status, body } = await change({ action: "requestAttributes", q: "name==a", confirm });
    expect([status, body.info]).toEqual([409, { count: 3 }]);
  }
  expect(await fixture.rows("select id from background_operations")).toEqual([]);
  expect((await change({ action: "requestAttributes", q: "name==nobody", confirm: 0 })).body.total).toBe(0);
  await worker()();
  expect(await fixture.rows("select status from background_operations")).toEqual([{ status: "finished" }]);
});

test("of a list those that are not there are named at once, of any targets those that could not be reached later", async () => {
  await fixture.addFleet("a", 3, 100);
  await fixture.addFleet("b", 1, 200, 7);
  const { body } = await change({ action: "setType", targetTypeId: 7, controllerIds: ["a-1", "a-2", "nobody", "a-1", "b-1"] });
  expect(body).toMatchObject({ total: 3, failed: 1, failures: [{ controllerId: "nobody", reason: "entityNotFound" }] });
  await fixture.asController("delete from targets where controller_id = 'a-2'");
  await worker([], (ids) => ids.filter((id) => id === 101))();
  expect(await shown(body.id)).toMatchObject({
    status: "finished",
    done: 3,
    failed: 3,
    failures: [
      { controllerId: "nobody", reason: "entityNotFound" },
      { controllerId: "b-1", reason: "entityNotFound" },
    ],
  });
});

test("an operation whose tag is deleted meanwhile ends; any other failure is tried again", async () => {
  await fixture.addFleet("a", 2, 100);
  const { body } = await change({ action: "removeType", q: "name==a", confirm: 2 });
  const requested: Requested[] = [];
  await worker(requested, () => {
    throw new HarrierError("unavailable", "gone");
  })();
  expect(requested[0]).toMatchObject({ change: "setType", value: 0 });
  expect(await shown(body.id)).toMatchObject({ status: "running", done: 0, lastError: "gone" });
  await fixture.rows("update background_operations set due_at = now()");
  await worker([], () => {
    throw new HarrierError("entityNotFound", "no such tag");
  })();
  expect(await shown(body.id)).toMatchObject({
    status: "finished",
    done: 2,
    failed: 2,
    failures: [{ controllerId: "a-1" }, { controllerId: "a-2" }],
  });
});

test("at most a hundred failures are named, and all are counted", async () => {
  await fixture.addFleet("a", 700, 100);
  const { body } = await change({ action: "requestAttributes", q: "name==a", confirm: 700 });
  await worker([], () => [])();
  const { failed, failures } = await shown(body.id);
  expect([failed, failures.length]).toEqual([700, 100]);
});

test("a restricted user changes what READ_TARGET and UPDATE_TARGET both reach, and sees no operation of others", async () => {
  await fixture.addFleet("a", 2, 100, 7);
  await fixture.addFleet("b", 3, 200, 8);
  const scopes = { UPDATE_TARGET: [7, 9], READ_TARGET: [7, 8] };
  const request = { action: "addTag", tagId: 5, q: "controllerid==*" };
  expect((await change({ ...request, confirm: 5 }, { scopes })).status).toBe(409);
  const { body } = await change({ ...request, confirm: 2 }, { scopes });
  const requested: Requested[] = [];
  await worker(requested)();
  expect(requested[0]?.call.principal.targetTypeScopes).toEqual({ UPDATE_TARGET: [7] });
  expect((await http.call("GET", `${api}/operations/${body.id}`, { scopes })).status).toBe(200);
  await fixture.rows("update background_operations set created_by = 'somebody else'");
  expect((await http.call("GET", `${api}/operations/${body.id}`, { scopes })).status).toBe(404);
});

test.each([
  [{ action: "addTag", q: "name==a", confirm: 0 }, 400],
  [{ action: "addTag", tagId: 6, q: "name==a", confirm: 0 }, 404],
  [{ action: "setType", targetTypeId: 6, controllerIds: ["a"] }, 404],
  [{ action: "setType", tagId: 5, controllerIds: ["a"] }, 400],
  [{ action: "requestAttributes", tagId: 5, controllerIds: ["a"] }, 400],
  [{ action: "requestAttributes" }, 400],
  [{ action: "requestAttributes", q: "name==a" }, 400],
  [{ action: "requestAttributes", q: "name==a", confirm: 0, controllerIds: ["a"] }, 400],
  [{ action: "requestAttributes", controllerIds: [] }, 400],
  [{ action: "requestAttributes", controllerIds: Array.from({ length: 1_001 }, (_, n) => `t-${n}`) }, 400],
  [{ action: "requestAttributes", q: "foo==1", confirm: 0 }, 400],
  [{ action: "explode", controllerIds: ["a"] }, 400],
  [{ action: "assignSet", controllerIds: ["a"] }, 400],
  [{ action: "assignSet", distributionSetId: 4711, controllerIds: ["a"] }, 404],
  [{ action: "cancelActions", distributionSetId: 1, controllerIds: ["a"] }, 400],
  [{ action: "cancelActions", weight: 10, controllerIds: ["a"] }, 400],
  [{ action: "activateAutoConfirm", tagId: 5, controllerIds: ["a"] }, 400],
])("the request %j is refused with %i", async (body, expected) => {
  expect((await change(body)).status).toBe(expected);
  expect(await fixture.rows("select id from background_operations")).toEqual([]);
});
