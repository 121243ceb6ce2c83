import { randomUUID } from "node:crypto";
import type { PoolClient } from "@harrier/db";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HttpFixture, httpFixture } from "../testing/http.fixture.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";
import { createChanges, everything } from "./changes.ts";
import { decodeCursor, encodeCursor } from "./cursor.ts";

const path = "/api/mgmt/v1/events";
let fixture: Fixture;
let http: HttpFixture;
/** A transaction of controller that stays open while others commit. */
let slow: PoolClient;

beforeAll(async () => {
  fixture = await managementFixture();
  http = await httpFixture(fixture);
  slow = await fixture.database.db("controller").pool.connect();
});
afterAll(async () => {
  slow?.release();
  await http.close();
  await fixture.close();
});

const insert = "insert into outbox (tenant_id, topic, type, common, items) values ($1, $2, $3, $4, $5)";
const targets = (tenantId: number, ...ids: string[]) => {
  const items = ids.map((id) => ({ subject: `targets/${id}`, sequence: 1, data: { controllerId: id } }));
  return [tenantId, "target-events", "io.update.target.created.v1", JSON.stringify({ tenant: "DEFAULT" }), JSON.stringify(items)];
};
const addTargets = (...ids: string[]) => fixture.asController(insert, targets(1, ...ids));
const addRollout = (rolloutId: number) =>
  fixture.asRolloutEngine(insert, [
    1,
    "rollout-events",
    "io.update.rollout.created.v1",
    JSON.stringify({ tenant: "DEFAULT", rolloutId, name: "r" }),
    JSON.stringify([{ subject: `rollouts/${rolloutId}`, sequence: 1 }]),
  ]);

interface Page {
  subjects: string[];
  next: string;
  more: boolean;
}

async function read(query = ""): Promise<Page> {
  const { status, body } = await http.call("GET", `${path}${query}`);
  expect(status).toBe(200);
  return { subjects: body.content.map(({ subject }: { subject: string }) => subject), next: body.next, more: body.more };
}

async function readAll(after: string, limit: number): Promise<string[]> {
  const subjects: string[] = [];
  for (let page: Page = { subjects: [], next: after, more: true }; page.more; ) {
    page = await read(`?after=${page.next}&limit=${limit}`);
    subjects.push(...page.subjects);
  }
  return subjects;
}

test("without a cursor events begin now; those of both services come once, and those of other tenants never", async () => {
  await addTargets("before");
  const { subjects, next } = await read();
  expect(subjects).toEqual([]);
  await addTargets("a", "b");
  await fixture.asController(insert, targets(2, "foreign"));
  await addRollout(7);
  const page = await read(`?after=${next}`);
  expect(page).toMatchObject({ subjects: ["targets/a", "targets/b", "rollouts/7"], more: false });
  expect((await read(`?after=${page.next}`)).subjects).toEqual([]);
});

test("what commits late comes late, and nothing comes twice, however the pages are cut", async () => {
  const { next } = await read();
  await slow.query("begin");
  await slow.query(insert, targets(1, "late-1", "late-2"));
  await addTargets("early-1", "early-2", "early-3");
  const first = await read(`?after=${next}&limit=2`);
  expect(first).toMatchObject({ subjects: ["targets/early-1", "targets/early-2"], more: true });
  await slow.query("commit");
  await addTargets("next");
  expect(await readAll(first.next, 2)).toEqual(["targets/early-3"]);
  const again = await readAll(next, 100);
  expect(again.toSorted()).toEqual(["early-1", "early-2", "early-3", "late-1", "late-2", "next"].map((id) => `targets/${id}`).toSorted());
  let cursor = first.next;
  const rest: string[] = [];
  for (let i = 0; i < 6; i += 1) {
    const page = await read(`?after=${cursor}&limit=1`);
    rest.push(...page.subjects);
    cursor = page.next;
  }
  expect(rest.toSorted()).toEqual(["targets/early-3", "targets/late-1", "targets/late-2", "targets/next"]);
});

test("types choose among the events, and an unknown one is refused", async () => {
  const { next } = await read();
  await addTargets("typed");
  await addRollout(8);
  expect((await read(`?after=${next}&types=io.update.rollout.created.v1,io.update.rollout.deleted.v1`)).subjects).toEqual(["rollouts/8"]);
  expect((await http.call("GET", `${path}?types=io.update.nothing.v1`)).status).toBe(400);
});

test("an answer waits for the first event, and no longer than it was told", async () => {
  const { next } = await read();
  const waiting = read(`?after=${next}&wait=10`);
  await addTargets("awaited");
  expect((await waiting).subjects).toEqual(["targets/awaited"]);
  expect((await read(`?after=${(await waiting).next}&wait=1`)).subjects).toEqual([]);
});

test("a cursor behind which events may be gone is 410, and what is no cursor 400", async () => {
  const positions = { controller: { seen: "1:1:" }, rollout_engine: { seen: "1:1:" }, management: { seen: "1:1:" } };
  const old = encodeCursor({ at: Date.now() - 49 * 60 * 60_000, positions });
  const expired = await http.call("GET", `${path}?after=${old}`);
  expect([expired.status, expired.body.errorCode]).toEqual([410, "hawkbit.server.error.event.cursorExpired"]);
  expect((await http.call("GET", `${path}?after=nonsense`)).status).toBe(400);
  expect((await http.call("GET", `${path}/stream?after=nonsense`)).status).toBe(400);
});

test("a cursor is as old as what it has read, and of a database that is behind it 410", async () => {
  const { next } = await read();
  const { at, positions } = decodeCursor(next);
  const old = encodeCursor({ at: at - 60_000, positions });
  await addTargets("old-1", "old-2", "old-3");
  const page = await read(`?after=${old}&limit=2`);
  expect([page.more, decodeCursor(page.next).at]).toEqual([true, at - 60_000]);
  const caughtUp = await read(`?after=${page.next}`);
  expect([caughtUp.subjects, caughtUp.more]).toEqual([["targets/old-3"], false]);
  expect(decodeCursor(caughtUp.next).at).toBeGreaterThanOrEqual(at);
  const ahead = { seen: "900000000:900000000:" };
  const foreign = encodeCursor({ at, positions: { controller: ahead, rollout_engine: ahead, management: ahead } });
  expect((await http.call("GET", `${path}?after=${foreign}`)).status).toBe(410);
});

test("a page is bounded by bytes, whatever the rows hold, and nothing is lost between pages", async () => {
  const { next } = await read();
  // Random names are hard to compress: each row is as large as a page may be.
  const rows = Array.from({ length: 3 }, () => Array.from({ length: 6_000 }, () => randomUUID()));
  for (const row of rows) await addTargets(...row);
  const { body } = await http.call("GET", `${path}?after=${next}&limit=1000`);
  expect([body.content.length, body.more]).toEqual([1_000, true]);
  const subjects = await readAll(next, 1_000);
  expect(subjects).toEqual(rows.flat().map((id) => `targets/${id}`));
});

test("a user who is restricted to types of targets may not read events", async () => {
  for (const permission of ["READ_TARGET", "READ_ROLLOUT"]) {
    const refused = await http.call("GET", path, { scopes: { [permission]: [1] } });
    expect([refused.status, refused.body.info]).toMatchObject([403, { permissions: [permission] }]);
  }
});

test("listeners are told what has changed in their tenant: of few targets each, of many that there are some", async () => {
  let woken = 0;
  const changes = createChanges({ db: fixture.db.pool, onFirst: () => (woken += 1) });
  expect(await changes.read()).toBe(false);
  const told: string[][] = [];
  const ended: string[] = [];
  const listener = (tenantId: number, name: string) => ({
    tenantId,
    changed: (subjects: readonly string[]) => void told.push([name, ...subjects.toSorted()]),
    ended: () => void ended.push(name),
  });
  const leave = changes.listen(listener(1, "one"));
  const leaveOther = changes.listen(listener(2, "other"));
  expect(woken).toBe(1);
  await changes.read();
  expect(told.splice(0)).toEqual([
    ["one", everything],
    ["other", everything],
  ]);
  await addTargets("x", "y");
  await addRollout(9);
  const action = [1, "dev-1", 2, 3, 3, true, 0, 0, null, null, 0, 3];
  const actionRow = [1, "action-events", "io.update.action.status_changed.v1", JSON.stringify({ tenant: "DEFAULT", rolloutId: 11 })];
  await fixture.asController(insert, [...actionRow, JSON.stringify([action])]);
  await changes.read();
  expect(told.splice(0)).toEqual([["one", "rollouts/11", "rollouts/9", "targets/dev-1", "targets/x", "targets/y"]]);
  await fixture.asController(insert, [...actionRow, JSON.stringify(Array.from({ length: 101 }, () => action))]);
  await fixture.asController(insert, targets(1));
  await changes.read();
  expect(told.splice(0)).toEqual([["one", "rollouts/11", "targets"]]);
  leaveOther();
  const leaveLate = changes.listen(listener(1, "late"));
  await addTargets("z");
  await changes.read();
  expect(told.splice(0)).toEqual([
    ["one", "targets/z"],
    ["late", everything],
  ]);
  const many = Array.from({ length: 6 }, (_, row) => Array.from({ length: 100 }, (_all, n) => `many-${row}-${n}`));
  for (const row of many) await addTargets(...row);
  await changes.read();
  expect(told.splice(0)).toEqual([
    ["one", everything],
    ["late", everything],
  ]);
  leaveLate();
  changes.close();
  expect(ended).toEqual(["one"]);
  leave();
  expect(await changes.read()).toBe(false);
});
