import { actionStatus, bucket, updateStatus } from "@harrier/contracts";
import type { Queryable } from "@harrier/db";
import { eventually } from "@harrier/testkit";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import {
  type DeviceFixture,
  deviceFixture,
  readAction,
  readHistory,
  readOutbox,
  readTarget,
  seedActions,
  seedSet,
  seedTargets,
} from "../device.fixture.ts";
import { channels, executions, results } from "../domain/transitions.ts";
import { createReportRecorder, type StorableReport } from "./record-report.ts";

let fixture: DeviceFixture;
let first = 100;
/** Eight fresh targets `d<id>`, each with the open action `id + 10000`. */
let ids: number[];

beforeAll(async () => {
  fixture = await deviceFixture();
  await seedSet(fixture, { id: 100 });
});
afterAll(() => fixture.close());
beforeEach(async () => {
  ids = Array.from({ length: 8 }, () => first++);
  await seedTargets(
    fixture,
    ids.map((id) => ({ id, updateStatus: updateStatus.pending, assignedSetId: 100 })),
  );
  await seedActions(
    fixture,
    ids.map((id) => ({ id: id + 10_000, targetId: id, rolloutId: 7, groupId: 8 })),
  );
});

const reportOf = (id: number, change: Partial<StorableReport> = {}): StorableReport => ({
  tenantId: 1,
  controllerId: `d${id}`,
  actionId: id + 10_000,
  channel: channels.indexOf("deployment"),
  execution: executions.indexOf("proceeding"),
  result: results.indexOf("none"),
  code: null,
  messages: [`from ${id}`],
  occurredAtMs: Date.UTC(2026, 10, 21),
  maxEntries: 1_000,
  maxMessages: 50,
  tenant: "DEFAULT",
  traceparent: null,
  ...change,
});

const messagesOf = async (id: number) => (await readHistory(fixture, id + 10_000)).slice(1).map((entry) => entry.messages);

test("reports that arrive together are one round trip, and each has its own entry and its own outcome", async () => {
  const record = createReportRecorder(fixture.db.pool);
  const [a, b, c, d] = ids as [number, number, number, number];
  let outcomes: unknown[] = [];
  const roundTrips = await fixture.roundTrips.during(async () => {
    outcomes = await Promise.all([
      record(reportOf(a, { messages: ["one", "two"] })),
      record(reportOf(b, { messages: [] })),
      record(reportOf(c, { actionId: d + 10_000 })),
      record(reportOf(c, { actionId: 1 })),
      record(reportOf(d, { execution: executions.indexOf("closed"), result: results.indexOf("success"), code: 4 })),
      record(reportOf(a, { maxMessages: 1, messages: ["three", "four"] })),
    ]);
  });
  expect(roundTrips).toBe(1);
  expect(outcomes).toEqual(["ok", "ok", "foreignAction", "actionNotFound", "ok", "tooManyMessages"]);
  expect(await messagesOf(a)).toEqual([["one", "two"]]);
  expect(await messagesOf(b)).toEqual([[]]);
  expect(await messagesOf(c)).toEqual([]);
  expect(await messagesOf(d)).toEqual([[`from ${d}`]]);
  expect(await readAction(fixture, d + 10_000)).toMatchObject({ status: actionStatus.FINISHED, active: false });
  expect(await readTarget(fixture, d)).toMatchObject({ updateStatus: updateStatus.in_sync, installedSetId: 100 });
});

test("events of reports that arrive together share a row of the outbox, but for long texts and other rollouts", async () => {
  const record = createReportRecorder(fixture.db.pool);
  const [a, b, c, d] = ids as [number, number, number, number];
  await fixture.db.pool.query("update actions set rollout_id = 9 where tenant_id = 1 and id = $1", [d + 10_000]);
  const closed = { execution: executions.indexOf("closed"), result: results.indexOf("success") };
  await Promise.all([
    record(reportOf(a, { code: 3 })),
    record(reportOf(b, closed)),
    record(reportOf(c, { messages: ["one", "two"] })),
    record(reportOf(d, closed)),
  ]);
  const rows = await readOutbox(fixture);
  const last = rows.slice(-3).map(({ common, items }) => ({
    rolloutId: (common as { rolloutId?: number }).rolloutId,
    actions: items.map((item) => (item as unknown[])[0]),
  }));
  expect(last).toHaveLength(3);
  expect(last).toEqual(
    expect.arrayContaining([
      { rolloutId: 7, actions: [a + 10_000, b + 10_000] },
      { rolloutId: 7, actions: [c + 10_000] },
      { rolloutId: 9, actions: [d + 10_000] },
    ]),
  );
  const { rows: deltas } = await fixture.db.pool.query(
    "select rollout_id::int as rollout, from_bucket, to_bucket, n from group_deltas order by id desc limit 2",
  );
  const finished = { from_bucket: bucket.running, to_bucket: bucket.finished, n: 1 };
  expect(deltas).toEqual(expect.arrayContaining([7, 9].map((rollout) => ({ rollout, ...finished }))));
});

test("what an event says of a safety policy is said of its own action alone", async () => {
  const record = createReportRecorder(fixture.db.pool);
  const [a, b, c] = ids as [number, number, number];
  const retry = { max: 3, delaySeconds: 60, backoff: 1, maxDelaySeconds: 60, withoutCode: true, onSilent: true };
  await fixture.db.pool.query("update actions set policy_id = intern_policy(1, $2) where tenant_id = 1 and id = $1", [
    b + 10_000,
    JSON.stringify({ retry }),
  ]);
  const failed = { execution: executions.indexOf("closed"), result: results.indexOf("failure") };
  await Promise.all([a, b, c].map((id) => record(reportOf(id, failed))));
  const [row] = (await readOutbox(fixture)).slice(-1);
  const told = row?.items.map((item) => (item as unknown[]).slice(12));
  expect(told).toEqual([[], [{ attempt: 1, nextAttemptAt: expect.any(Number) }], []]);
});

test("several reports for one action at the same moment are all recorded", async () => {
  const record = createReportRecorder(fixture.db.pool);
  const [a] = ids as [number];
  const outcomes = await Promise.all(["one", "two", "three"].map((text) => record(reportOf(a, { messages: [text] }))));
  expect(outcomes).toEqual(["ok", "ok", "ok"]);
  expect(await messagesOf(a)).toEqual([["one"], ["two"], ["three"]]);
  expect(await readAction(fixture, a + 10_000)).toMatchObject({ revision: 4 });
});

test("tenants whose reports share a call are kept apart, and an unknown target has its own outcome", async () => {
  const record = createReportRecorder(fixture.db.pool);
  const [a, b] = ids as [number, number];
  const outcomes = await Promise.all([record(reportOf(a)), record(reportOf(b, { tenantId: 2 })), record(reportOf(99_999))]);
  expect(outcomes).toEqual(["ok", "targetNotFound", "targetNotFound"]);
  expect(await messagesOf(b)).toEqual([]);
});

test("equal ids of two tenants in one call are kept apart", async () => {
  const record = createReportRecorder(fixture.db.pool);
  const [a] = ids as [number];
  const { pool } = fixture.db;
  await pool.query(
    `insert into targets (tenant_id, id, controller_id, name, token_digest, token_cipher, created_by, last_modified_by)
     select 2, id, controller_id, name, token_digest, token_cipher, created_by, last_modified_by from targets where tenant_id = 1 and id = $1`,
    [a],
  );
  await pool.query("insert into target_state (tenant_id, target_id, update_status, assigned_set_id) values (2, $1, 2, 200)", [a]);
  await pool.query(
    `insert into actions (tenant_id, id, target_id, controller_id, set_id, status, active, force_type, initiated_by, created_by, last_modified_by)
     select 2, id, target_id, controller_id, 200, status, active, force_type, 'x', 'x', 'x' from actions where tenant_id = 1 and id = $1`,
    [a + 10_000],
  );
  const closed = { execution: executions.indexOf("closed"), result: results.indexOf("success"), tenantId: 2, tenant: "OTHER" };
  expect(await Promise.all([record(reportOf(a)), record(reportOf(a, { ...closed, messages: ["of the other"] }))])).toEqual(["ok", "ok"]);
  expect(await readAction(fixture, a + 10_000)).toMatchObject({ status: actionStatus.RUNNING, active: true });
  expect(await messagesOf(a)).toEqual([[`from ${a}`]]);
  const { rows } = await pool.query(
    `select a.status, s.installed_set_id::int as installed, h.messages, o.common ->> 'tenant' as tenant, o.items -> 0 ->> 5 as active
       from actions a join target_state s using (tenant_id, target_id)
       join action_history h on h.tenant_id = a.tenant_id and h.action_id = a.id
       join outbox o on o.tenant_id = a.tenant_id
      where a.tenant_id = 2`,
  );
  const finished = { status: actionStatus.FINISHED, installed: 200, messages: ["of the other"], tenant: "OTHER", active: "false" };
  expect(rows).toEqual([finished]);
});

test("a report waits for the lock of its own target, and never for that of another", async () => {
  const record = createReportRecorder(fixture.db.pool);
  const [locked, ...others] = ids as [number, ...number[]];
  const holder = await fixture.database.db("controller").pool.connect();
  await holder.query("begin");
  await holder.query("select from target_state where tenant_id = 1 and target_id = $1 for update", [locked]);
  let answered = false;
  const late = record(reportOf(locked)).finally(() => {
    answered = true;
  });
  expect(await Promise.all(others.map((id) => record(reportOf(id))))).toEqual(others.map(() => "ok"));
  expect(answered).toBe(false);
  await holder.query("commit");
  holder.release();
  expect(await late).toBe("ok");
  expect(await messagesOf(locked)).toEqual([[`from ${locked}`]]);
});

test("reports that wait for locks, each alone, hold up no other", async () => {
  const record = createReportRecorder(fixture.db.pool);
  const [free, ...locked] = ids.slice(0, 4) as [number, ...number[]];
  const holder = await fixture.database.db("controller").pool.connect();
  await holder.query("begin");
  await holder.query("select from target_state where tenant_id = 1 and target_id = any ($1) for update", [locked]);
  const waiting: Promise<string>[] = [];
  for (const id of locked) {
    waiting.push(record(reportOf(id)));
    await eventually(async () => {
      // Not by the holder: within a transaction the view stays as it was first read.
      const { rows } = await fixture.database
        .db("controller")
        .pool.query("select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()");
      expect(rows[0].n).toBe(waiting.length);
    });
  }
  expect(await record(reportOf(free))).toBe("ok");
  await holder.query("commit");
  holder.release();
  expect(await Promise.all(waiting)).toEqual(locked.map(() => "ok"));
});

test("a report that PostgreSQL refuses fails alone: the others of its call are recorded once", async () => {
  const record = createReportRecorder(fixture.db.pool);
  const [a, b, c] = ids as [number, number, number];
  const answers = await Promise.allSettled([record(reportOf(a)), record(reportOf(b, { messages: ["\u0000"] })), record(reportOf(c))]);
  expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  for (const id of [a, c]) expect(await messagesOf(id)).toEqual([[`from ${id}`]]);
  expect(await messagesOf(b)).toEqual([]);
});

test("when nobody knows whether the call took effect, no report is recorded a second time", async () => {
  const { pool } = fixture.db;
  const lost: Queryable = {
    query: (async (config: Parameters<typeof pool.query>[0]) => {
      await pool.query(config as never);
      throw Object.assign(new Error("Connection terminated unexpectedly"), { code: "ECONNRESET" });
    }) as never,
  };
  const record = createReportRecorder(lost);
  const [a, b] = ids as [number, number];
  const answers = await Promise.allSettled([record(reportOf(a)), record(reportOf(b))]);
  expect(answers.map((answer) => answer.status === "rejected" && (answer.reason as { code: string }).code)).toEqual([
    "unavailable",
    "unavailable",
  ]);
  for (const id of [a, b]) expect(await messagesOf(id)).toHaveLength(1);
});

test("reports do not pile up while the database answers nothing", async () => {
  let time = 0;
  const record = createReportRecorder({ query: () => new Promise(() => undefined) } as never, () => time);
  for (let i = 0; i < 4; i++) {
    void record(reportOf(ids[i] as number));
    await vi.waitFor(() => new Promise((resolve) => setImmediate(resolve)));
    time += 100;
  }
  const waiting = record(reportOf(ids[4] as number));
  const refused = expect(waiting).rejects.toMatchObject({ code: "unavailable" });
  time += 20_000;
  void record(reportOf(ids[5] as number));
  await refused;
});
