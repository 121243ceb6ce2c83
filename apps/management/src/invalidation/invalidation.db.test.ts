import { HarrierError } from "@harrier/errors";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { reserve } from "../catalogue/reserve-set.ts";
import { type HttpFixture, httpFixture } from "../testing/http.fixture.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";
import type { Invalidation } from "./invalidation.sql.ts";
import { InvalidationWorker } from "./invalidation-worker.ts";

const api = "/api/mgmt/v1";
let fixture: Fixture;
let http: HttpFixture;
let moduleId: number;

beforeAll(async () => {
  fixture = await managementFixture();
  http = await httpFixture(fixture);
  [{ id: moduleId }] = (await http.call("POST", `${api}/softwaremodules`, { body: [{ name: "m", version: "1", type: "os" }] })).body;
});
afterAll(async () => {
  await http.close();
  await fixture.close();
});
beforeEach(async () => {
  http.requested.length = 0;
  await fixture.rows("delete from background_operations");
});

let sets = 0;
async function newSet(modules = [{ id: moduleId }]): Promise<number> {
  const body = [{ name: `s${++sets}`, version: "1", type: "os", modules }];
  return (await http.call("POST", `${api}/distributionsets`, { body })).body[0].id;
}
const invalidate = (id: number, body: unknown, more = {}) =>
  http.call("POST", `${api}/distributionsets/${id}/invalidate`, { body, ...more });
const statusOf = async (...requested: Parameters<typeof invalidate>) => (await invalidate(...requested)).status;
const codeOf = async (...requested: Parameters<typeof invalidate>) =>
  (await invalidate(...requested)).body.errorCode.split(".").slice(-2).join(".");

test("an invalidation that ends neither actions nor rollouts changes the set alone; others are operations that begin at once", async () => {
  const [alone, soft] = [await newSet(), await newSet()];
  expect(await statusOf(alone, { actionCancelationType: "none" })).toBe(200);
  expect(await fixture.rows("select * from background_operations")).toEqual([]);
  expect((await http.call("GET", `${api}/distributionsets/${alone}`)).body.valid).toBe(false);
  const rest = await http.call("POST", `/rest/v1/distributionsets/${soft}/invalidate`, { body: { actionCancelationType: "soft" } });
  expect(rest.status).toBe(204);
  expect(http.requested.at(-1)).toMatchObject({
    method: "carryOut",
    request: { setId: soft, cancel: "soft", stopRollouts: true, createdBy: "admin" },
  });
  const { content } = (await http.call("GET", `${api}/operations`)).body;
  expect(content).toMatchObject([{ kind: "invalidate-set", subject: `s${sets}:1`, status: "running", done: 0 }]);
  expect((await http.call("GET", `${api}/operations`, { permissions: ["READ_REPOSITORY"] })).body.total).toBe(0);
});

test("a refused invalidation changes nothing", async () => {
  const [set, empty] = [await newSet(), await newSet([])];
  expect(await statusOf(4711, { actionCancelationType: "none" })).toBe(404);
  expect(await codeOf(empty, { actionCancelationType: "none" })).toBe("distributionset.incomplete");
  for (const body of [
    {},
    { actionCancelationType: "hard" },
    { actionCancelationType: null },
    { actionCancelationType: "none", cancelRollouts: "x" },
  ]) {
    expect(await codeOf(set, body)).toBe("body.notReadable");
  }
  const soft = { actionCancelationType: "soft" };
  expect(await statusOf(set, soft, { scopes: { UPDATE_TARGET: [7] } })).toBe(403);
  expect((await http.call("GET", `${api}/distributionsets/${set}`)).body.valid).toBe(true);
  // The permissions of the route are enough, whatever happens to the rollouts (spec 001 §4.1).
  expect(await statusOf(set, soft, { permissions: ["UPDATE_REPOSITORY", "UPDATE_TARGET"] })).toBe(200);
  expect(await codeOf(set, soft)).toBe("distributionset.invalid");
});

test("afterwards the set can only be read and deleted (contract management.md §5.2)", async () => {
  const set = await newSet();
  await invalidate(set, { actionCancelationType: "none" });
  const code = async (method: string, path: string, body: unknown) =>
    (await http.call(method, `${api}/distributionsets/${set}${path}`, { body })).body.errorCode;
  for (const answer of [
    await code("PUT", "", { description: "d" }),
    await code("POST", "/metadata", [{ key: "k", value: "v" }]),
    await code("POST", "/assignedSM", [{ id: moduleId }]),
    await code("DELETE", `/assignedSM/${moduleId}`, undefined),
    await code("POST", "/assignedTargets", [{ id: "t" }]),
  ]) {
    expect(answer).toBe("hawkbit.server.error.distributionset.invalid");
  }
  await expect(reserve(fixture, fixture.actor, set)).rejects.toMatchObject({ code: "setInvalid" });
  expect((await http.call("DELETE", `${api}/distributionsets/${set}`)).status).toBe(200);
});

test("a reservation that waits for the set's row while it becomes invalid is refused", async () => {
  const set = await newSet();
  const holder = await fixture.database.db("management").pool.connect();
  await holder.query("begin");
  await holder.query("update distribution_sets set valid = false where id = $1", [set]);
  const waiting = reserve(fixture, fixture.actor, set);
  const refused = expect(waiting).rejects.toMatchObject({ code: "setInvalid" });
  await new Promise((resolve) => setTimeout(resolve, 200));
  await holder.query("commit");
  holder.release();
  await refused;
});

/** These owners need several calls; each records what was asked of it. */
function owners(calls: string[], { stopping = 0, chunks = 1, failures = 0 } = {}) {
  let left = { stopping, failures };
  return {
    rollouts: {
      async stopRolloutsOfSet({ keepRunning = false }) {
        calls.push(keepRunning ? "stop, keep" : "stop");
        const now = left.stopping;
        left = { ...left, stopping: Math.max(0, now - 1) };
        return { stopping: now };
      },
    },
    actions: {
      async cancelSetChunk({ cursor = -1, force = false }: { cursor?: number | string | object | null; force?: boolean }) {
        calls.push(`${force ? "force" : "soft"} from ${cursor}`);
        if (left.failures-- > 0) throw new HarrierError("unavailable");
        const next = Number(cursor) + 10;
        return { cursor: next, done: next >= chunks * 10 - 1, canceled: 3 };
      },
    },
  };
}

async function begun(requested: object): Promise<Invalidation> {
  const set = await newSet();
  await invalidate(set, requested);
  return http.requested.at(-1)?.request as unknown as Invalidation;
}
const operation = async () => (await fixture.rows("select status, done::int as done, last_error from background_operations"))[0];
const dueNow = () => fixture.rows("update background_operations set due_at = now()");
const warnings: object[] = [];
const log = { warn: (details: object) => void warnings.push(details) };
const later = () => Date.now() + 10_000;

test("rollouts are ended first, then all actions, and an ended invalidation is not taken up again", async () => {
  const calls: string[] = [];
  const due = await begun({ actionCancelationType: "force" });
  const worker = new InvalidationWorker({ db: fixture.db, log, ...owners(calls, { stopping: 2, chunks: 3 }) });
  expect(await worker.carryOut(due, later())).toBe(true);
  expect(calls).toEqual(["stop", "stop", "stop", "force from -1", "force from 9", "force from 19"]);
  expect(await operation()).toMatchObject({ status: "finished", done: 9 });
  await dueNow();
  expect(await worker.carryOutDue()).toBe(false);
});

test("an invalidation that ends rollouts but no actions leaves the actions alone", async () => {
  const calls: string[] = [];
  const due = await begun({ actionCancelationType: "none", cancelRollouts: true });
  expect(await new InvalidationWorker({ db: fixture.db, log, ...owners(calls) }).carryOut(due, later())).toBe(true);
  expect(calls).toEqual(["stop, keep"]);
});

test("another replica goes on after a kill, after the end of a round's time, and after a failure", async () => {
  const calls: string[] = [];
  const due = await begun({ actionCancelationType: "soft" });
  const parts = { db: fixture.db, log, ...owners(calls, { chunks: 2, failures: 1 }) };
  expect(await new InvalidationWorker(parts).carryOut(due, later())).toBe(false);
  expect(await operation()).toMatchObject({ status: "running", last_error: expect.any(String) });
  expect(warnings).toHaveLength(1);
  await dueNow();
  expect(await new InvalidationWorker(parts).carryOut(due, 0)).toBe(false); // Its time ends after one chunk.
  await dueNow();
  expect(await new InvalidationWorker(parts).carryOutDue()).toBe(true);
  expect(calls).toEqual(["stop", "soft from -1", "stop", "soft from -1", "stop", "soft from 9"]);
  expect(await operation()).toMatchObject({ status: "finished", done: 6, last_error: null });
});

test("actions of a set that was reserved at that moment are searched once more, when they must exist", async () => {
  const calls: string[] = [];
  const set = await newSet();
  await reserve(fixture, fixture.actor, set);
  await invalidate(set, { actionCancelationType: "soft" });
  const due = http.requested.at(-1)?.request as unknown as Invalidation;
  expect(due.settledAt).toBeGreaterThan(Date.now() + 50_000);
  let now = Date.now();
  const worker = new InvalidationWorker({ db: fixture.db, log, now: () => now, ...owners(calls) });
  expect(await worker.carryOut(due, now + 1_000)).toBe(false);
  expect(await worker.carryOutDue()).toBe(false);
  now = due.settledAt;
  await dueNow();
  expect(await worker.carryOutDue()).toBe(true);
  expect(calls).toEqual(["stop", "soft from -1", "stop", "soft from -1"]);
  expect(await operation()).toMatchObject({ status: "finished" });
});
