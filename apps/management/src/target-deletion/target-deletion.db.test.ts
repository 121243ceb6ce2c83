import { HarrierError } from "@harrier/errors";
import type { OutCall } from "@harrier/rpc";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type HttpFixture, httpFixture } from "../testing/http.fixture.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";
import { deleteDueTargets } from "./target-deletion-worker.ts";

const api = "/api/mgmt/v1";
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
  await fixture.rows("delete from background_operations");
  await fixture.asController("delete from targets");
});

const remove = (q: string, confirm: number | string, more = {}) =>
  http.call("DELETE", `${api}/targets?q=${encodeURIComponent(q)}&confirm=${confirm}`, more);
const left = async () => Number((await fixture.asController("select count(*)::int as n from targets"))[0]?.["n"]);
const chunks = async () => Number((await fixture.rows("select count(*)::int as n from operation_chunks"))[0]?.["n"]);
const operation = async () => (await fixture.rows("select * from background_operations order by id desc limit 1"))[0];

interface Requested {
  ids: number[];
  initiator: string;
  call: OutCall;
}

/** Carries operations out; the test double of controller deletes the given targets. */
function worker(requested: Requested[] = [], fails: () => void = () => {}) {
  const deps: Parameters<typeof deleteDueTargets>[0] = {
    db: fixture.db,
    log: { warn: () => {} },
    targets: {
      async deleteTargetsById({ targetIds = [], initiator = "" }, call) {
        requested.push({ ids: [...targetIds], initiator, call });
        const gone = await fixture.asController("delete from targets where id = any($1::int[]) returning id", [targetIds]);
        fails();
        return { deleted: gone.length };
      },
    },
  };
  return { carryOutDue: () => deleteDueTargets(deps) };
}

test("up to a thousand targets are deleted before the answer, and only those that match", async () => {
  await fixture.addFleet("a", 1_000, 100);
  await fixture.addFleet("b", 3, 5_000);
  const roundTrips = await fixture.roundTrips.during(async () => {
    expect((await remove("controllerid==a-*", 1_000)).status).toBe(204);
  });
  // The request costs one statement; the audit trail is not mounted here.
  expect(roundTrips).toBe(1);
  expect(await left()).toBe(3);
  expect(http.requested.at(-1)).toMatchObject({ method: "deleteTargetsById", request: { initiator: "admin" } });
  expect(await operation()).toBeUndefined();
  expect((await remove("controllerid==nobody", 0)).status).toBe(204);
});

test("a count that differs deletes nothing and is reported", async () => {
  await fixture.addFleet("a", 1_200, 100);
  for (const confirm of [0, 1_199, 1_201, 999_999_999]) {
    const { status, body } = await remove("name==a", confirm);
    expect(status).toBe(409);
    expect(body).toMatchObject({ errorCode: "hawkbit.server.error.repo.concurrentModification", info: { count: 1_200 } });
  }
  expect(await left()).toBe(1_200);
  expect([await operation(), await chunks()]).toEqual([undefined, 0]);
});

test.each(["", "?q=name==a", "?confirm=1", "?q=&confirm=1", "?q=%20&confirm=1", "?q=name&confirm=1", "?q=foo==1&confirm=1"])(
  "the request with the query %s is refused",
  async (query) => {
    await fixture.addFleet("a", 1, 100);
    expect((await http.call("DELETE", `${api}/targets${query}`)).status).toBe(400);
    for (const confirm of ["x", "-1", "1.5", "", "10000000000"]) expect((await remove("name==a", confirm)).status).toBe(400);
    expect(await left()).toBe(1);
  },
);

test("more than a thousand targets are deleted by an operation, which deletes the counted targets and no later ones", async () => {
  await fixture.addFleet("a", 1_300, 100);
  const { status, body } = await remove("controllerid==a-*", 1_300);
  expect(status).toBe(202);
  expect(body).toMatchObject({ kind: "delete-targets", subject: "controllerid==a-*", status: "waiting", done: 0, total: 1_300 });
  expect(await chunks()).toBe(3);
  // One of the targets is created anew, and another one comes to match.
  await fixture.asController("delete from targets where controller_id in ('a-1', 'a-2')");
  await fixture.addFleet("a", 2, 9_000);
  const requested: Requested[] = [];
  expect(await worker(requested).carryOutDue()).toBe(true);
  expect(requested.map(({ ids }) => ids.length)).toEqual([500, 500, 300]);
  expect(requested[0]).toMatchObject({ initiator: "admin", call: { principal: { kind: "service", tenantId: 1, tenant: "DEFAULT" } } });
  expect(requested[0]?.call.principal.targetTypeScopes).toBeUndefined();
  expect(await left()).toBe(2);
  const shown = (await http.call("GET", `${api}/operations/${body.id}`)).body;
  expect(shown).toMatchObject({ status: "finished", done: 1_300, total: 1_300, endedAt: expect.any(Number) });
  expect(await chunks()).toBe(0);
  expect(await worker().carryOutDue()).toBe(false);
});

test("after a kill in the middle another replica repeats the chunk and counts it once", async () => {
  await fixture.addFleet("a", 1_300, 100);
  await remove("controllerid==a-*", 1_300);
  let calls = 0;
  // The second chunk is deleted, and its worker dies before it can record that.
  const dying = worker([], () => {
    calls += 1;
    if (calls === 2) throw new HarrierError("unavailable", "gone");
  });
  await dying.carryOutDue();
  expect(await operation()).toMatchObject({ status: "running", done: 500, attempts: 1, last_error: "gone" });
  expect(await left()).toBe(300);
  expect(await worker().carryOutDue()).toBe(false);
  await fixture.rows("update background_operations set due_at = now()");
  const requested: Requested[] = [];
  await worker(requested).carryOutDue();
  expect(requested.map(({ ids }) => ids.length)).toEqual([500, 300]);
  expect(await operation()).toMatchObject({ status: "finished", done: 1_300, total: 1_300, attempts: 0, last_error: null });
  expect(await left()).toBe(0);
});

test("messages of the database or of a library are not shown in the operation", async () => {
  await fixture.addFleet("a", 1_001, 100);
  await remove("name==a", 1_001);
  const broken = worker([], () => {
    throw new Error('deadlock detected in "update controller.actions"');
  });
  await broken.carryOutDue();
  expect(await operation()).toMatchObject({ last_error: "An unexpected error occurred. The log of management tells more." });
});

test("two workers never claim the same operation", async () => {
  await fixture.addFleet("a", 1_001, 100);
  await remove("name==a", 1_001);
  const taken = await Promise.all([worker().carryOutDue(), worker().carryOutDue()]);
  expect(taken.toSorted()).toEqual([false, true]);
});

test("a user limited to target types deletes what is both visible and deletable, and sees no operation of others", async () => {
  await fixture.addFleet("a", 1_200, 100, 7);
  await fixture.addFleet("b", 1_100, 3_000, 8);
  await fixture.addFleet("c", 5, 6_000);
  const scopes = { DELETE_TARGET: [7, 9], READ_TARGET: [7, 8] };
  expect((await remove("controllerid==*", 2_305, { scopes })).status).toBe(409);
  const { body } = await remove("controllerid==*", 1_200, { scopes });
  expect((await remove("name==b", 1_100)).status).toBe(202);
  const requested: Requested[] = [];
  for (let n = 0; n < 2; n += 1) await worker(requested).carryOutDue();
  expect(await left()).toBe(5);
  expect(requested[0]?.call.principal.targetTypeScopes).toEqual({ DELETE_TARGET: [7] });
  const seen = async (more: object) => (await http.call("GET", `${api}/operations`, more)).body.total;
  expect([await seen({}), await seen({ scopes }), await seen({ permissions: ["READ_TARGET"] })]).toEqual([2, 2, 0]);
  await fixture.rows("update background_operations set created_by = 'somebody else' where id <> $1", [body.id]);
  expect([await seen({}), await seen({ scopes })]).toEqual([2, 1]);
  expect((await http.call("GET", `${api}/operations/${body.id}`, { scopes })).status).toBe(200);
});
