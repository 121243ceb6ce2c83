import { actionStatus, bucket, type Feedback, forceType, updateStatus } from "@harrier/contracts";
import { HarrierError } from "@harrier/errors";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  type DeviceFixture,
  deviceFixture,
  deviceNamed,
  readAction,
  readHistory,
  readOutbox,
  readTarget,
  reportDeps,
  seedActions,
  seedSet,
  seedTargets,
} from "../device.fixture.ts";
import { type ReportDeps, report } from "./report.ts";

let fixture: DeviceFixture;
let deps: ReportDeps;
let next = 100;
/** Counts fresh targets `d<n>`, each with one open action `n + 10000`. */
let n: number;
let actionId: number;

const now = Date.UTC(2026, 10, 21, 12);

beforeAll(async () => {
  fixture = await deviceFixture();
  deps = reportDeps(fixture, () => now);
  await seedSet(fixture, { id: 100 });
});
afterAll(() => fixture.close());
beforeEach(async () => {
  n = next++;
  actionId = n + 10_000;
  await seedTargets(fixture, [{ id: n, updateStatus: updateStatus.pending, assignedSetId: 100 }]);
});

const feedback = (change: Partial<Feedback>): Feedback => ({
  execution: "closed",
  finished: "success",
  code: undefined,
  details: [],
  timestamp: undefined,
  ...change,
});

const send = (change: Partial<Feedback> = {}, channel: "deployment" | "cancel" = "deployment", device = deviceNamed(`d${n}`)) =>
  report(deps, { device, channel, actionId, feedback: feedback(change) });

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => new Error("nothing was refused"),
    (e: unknown) => e,
  );
  return error instanceof HarrierError ? error.code : String(error);
}

test("a report is one round trip, whatever it does", async () => {
  await seedActions(fixture, [{ id: actionId, targetId: n, rolloutId: n, groupId: 3 }]);
  const roundTrips = (change: Partial<Feedback>) => fixture.roundTrips.during(() => send(change).catch(() => undefined));
  expect(await roundTrips({ execution: "proceeding", finished: "none" })).toBe(1);
  expect(await roundTrips({ execution: "closed" })).toBe(1);
  expect(await roundTrips({ execution: "closed" })).toBe(1); // this report is rejected
});

test("success: action, target, history, progress and event change together", async () => {
  await seedActions(fixture, [{ id: actionId, targetId: n, rolloutId: n, groupId: 3 }]);
  const before = (await readOutbox(fixture)).length;
  const device = { ...deviceNamed(`d${n}`), traceparent: "00-trace" };
  await send({ details: ["installed"], code: 5, timestamp: 1_000 }, "deployment", device);
  expect(await readAction(fixture, actionId)).toEqual({ status: actionStatus.FINISHED, active: false, revision: 2, lastStatusCode: 5 });
  expect(await readTarget(fixture, n)).toEqual({
    updateStatus: updateStatus.in_sync,
    assignedSetId: 100,
    installedSetId: 100,
    installedActionId: actionId,
    requestAttributes: true,
  });
  const entries = await readHistory(fixture, actionId);
  expect(entries).toHaveLength(2);
  expect(entries[1]).toEqual({
    revision: 2,
    status: actionStatus.FINISHED,
    messages: ["installed", "Device reported status code: 5"],
    code: 5,
    occurredAt: 1_000,
  });
  const { rows } = await fixture.db.pool.query(
    "select from_bucket, to_bucket, n from group_deltas where tenant_id = 1 and rollout_id = $1",
    [n],
  );
  expect(rows).toEqual([{ from_bucket: bucket.running, to_bucket: bucket.finished, n: 1 }]);
  const events = (await readOutbox(fixture)).slice(before);
  expect(events).toEqual([
    {
      topic: "action-events",
      type: "io.update.action.status_changed.v1",
      common: {
        tenant: "DEFAULT",
        distributionSet: { id: 100, name: "set 100", version: "1.0" },
        rolloutId: n,
        rolloutGroupId: 3,
        initiatedBy: "admin",
      },
      items: [
        [
          actionId,
          `d${n}`,
          2,
          actionStatus.RUNNING,
          actionStatus.FINISHED,
          false,
          forceType.forced,
          1000,
          5,
          entries[1]?.messages,
          1_000,
          actionStatus.FINISHED,
        ],
      ],
      traceparent: "00-trace",
    },
  ]);
});

test("a proceeding report changes no bucket and so leaves no delta", async () => {
  await seedActions(fixture, [{ id: actionId, targetId: n, rolloutId: n, groupId: 3, status: actionStatus.RETRIEVED }]);
  await send({ execution: "proceeding", finished: "none" });
  expect(await readAction(fixture, actionId)).toMatchObject({ status: actionStatus.RUNNING, active: true, revision: 2 });
  const { rows } = await fixture.db.pool.query("select 1 from group_deltas where tenant_id = 1 and rollout_id = $1", [n]);
  expect(rows).toEqual([]);
});

test("of two final reports at once one closes the action, the other is too late", async () => {
  await seedActions(fixture, [{ id: actionId, targetId: n, rolloutId: n, groupId: 3 }]);
  const outcomes = await Promise.allSettled([send({ finished: "success" }), send({ finished: "failure" }), send({ finished: "success" })]);
  expect(outcomes.filter((o) => o.status === "fulfilled")).toHaveLength(1);
  for (const o of outcomes) if (o.status === "rejected") expect(o.reason).toMatchObject({ code: "actionClosed" });
  expect(await readAction(fixture, actionId)).toMatchObject({ active: false, revision: 2 });
  expect(await readHistory(fixture, actionId)).toHaveLength(2);
  const { rows } = await fixture.db.pool.query("select sum(n)::int as n from group_deltas where tenant_id = 1 and rollout_id = $1", [n]);
  expect(rows).toEqual([{ n: 1 }]);
});

test("concurrent reports are counted one after the other, none is lost", async () => {
  await seedActions(fixture, [{ id: actionId, targetId: n }]);
  await Promise.all(Array.from({ length: 20 }, (_, i) => send({ execution: "proceeding", finished: "none", details: [`step ${i}`] })));
  const entries = await readHistory(fixture, actionId);
  expect(entries.map((e) => e.revision)).toEqual(Array.from({ length: 21 }, (_, i) => i + 1));
  expect(new Set(entries.slice(1).flatMap((e) => e.messages)).size).toBe(20);
});

test("unknown target, unknown action and another target's action get different errors", async () => {
  await seedActions(fixture, [{ id: actionId, targetId: n }]);
  await seedTargets(fixture, [{ id: next, controllerId: "other" }]);
  next += 1;
  await expect(send({}, "deployment", deviceNamed("nobody"))).rejects.toMatchObject({
    code: "entityNotFound",
    message: "Target with given identifier {nobody} does not exist.",
  });
  await expect(send({}, "deployment", deviceNamed("other"))).rejects.toMatchObject({
    code: "entityNotFound",
    message: `Not a valid action (${actionId}) for target: other`,
  });
  for (const id of [1, -4, 2 ** 31, Number.MAX_SAFE_INTEGER]) {
    actionId = id;
    await expect(send()).rejects.toMatchObject({ code: "entityNotFound", message: `Action with given identifier {${id}} does not exist.` });
  }
});

test("another tenant's action is unknown", async () => {
  await seedActions(fixture, [{ id: actionId, targetId: n }]);
  expect(await codeOf(send({}, "deployment", { ...deviceNamed(`d${n}`), tenantId: 2 }))).toBe("entityNotFound");
});

test("reports on waiting, closed and not cancelled actions have an error each", async () => {
  await seedActions(fixture, [{ id: actionId, targetId: n, status: actionStatus.WAIT_FOR_CONFIRMATION }]);
  expect(await codeOf(send())).toBe("stateNotFound");
  expect(await codeOf(send({}, "cancel"))).toBe("actionNotCancelable");
  actionId += 50_000;
  await seedActions(fixture, [{ id: actionId, targetId: n, status: actionStatus.FINISHED, active: false }]);
  expect(await codeOf(send())).toBe("actionClosed");
  expect(await codeOf(send({}, "cancel"))).toBe("actionNotCancelable");
});

test("the 1,001st entry is rejected, the end of the action is not", async () => {
  await seedActions(fixture, [{ id: actionId, targetId: n, revision: 1_000 }]);
  await expect(send({ execution: "proceeding", finished: "none" })).rejects.toMatchObject({
    code: "quotaTooManyEntries",
    message: `Quota exceeded: Cannot assign 1 more ActionStatus entities to Action '${actionId}'. The maximum is 1000.`,
  });
  await send();
  expect(await readAction(fixture, actionId)).toMatchObject({ status: actionStatus.FINISHED, revision: 1_001 });
});

test("51 messages are rejected, in a final report too", async () => {
  await seedActions(fixture, [{ id: actionId, targetId: n }]);
  const details = Array.from({ length: 51 }, (_, i) => `line ${i}`);
  expect(await codeOf(send({ details }))).toBe("quotaTooManyEntries");
  await send({ details: details.slice(1) });
  expect((await readHistory(fixture, actionId))[1]?.messages).toHaveLength(50);
});

test("48 lines of which some are long are accepted as one entry, as SWUpdate sends them", async () => {
  await seedActions(fixture, [{ id: actionId, targetId: n }]);
  const details = Array.from({ length: 48 }, (_, i) => (i % 4 === 0 ? "x".repeat(1_100) : `line ${i}`));
  await send({ details });
  expect((await readHistory(fixture, actionId))[1]?.messages).toHaveLength(48 + 2 * 12);
});

test("long and unstorable texts are split and replaced, never rejected", async () => {
  await seedActions(fixture, [{ id: actionId, targetId: n }]);
  await send({ details: ["x".repeat(1_300), "a\u0000b", "\ud800 alone"] });
  const messages = (await readHistory(fixture, actionId))[1]?.messages ?? [];
  expect(messages.map((m) => m.length)).toEqual([512, 512, 276, 3, 7]);
  expect(messages[3]).toBe("a\ufffdb");
});

test("a device with a wrong clock installs as well as any other", async () => {
  await seedActions(fixture, [{ id: actionId, targetId: n }]);
  await send({ timestamp: 0 });
  expect(await readTarget(fixture, n)).toMatchObject({ installedSetId: 100, updateStatus: updateStatus.in_sync });
  const { rows } = await fixture.db.pool.query(
    "select installed_at > now() - interval '1 minute' as recent from target_state where tenant_id = 1 and target_id = $1",
    [n],
  );
  expect(rows).toEqual([{ recent: true }]);
  for (const timestamp of [-1, 1e18]) {
    actionId += 1_000;
    await seedActions(fixture, [{ id: actionId, targetId: n }]);
    await send({ timestamp });
    expect((await readHistory(fixture, actionId))[1]?.occurredAt).toBe(now);
  }
});

test("a report without a code resets the last status code", async () => {
  await seedActions(fixture, [{ id: actionId, targetId: n }]);
  await send({ execution: "proceeding", finished: "none", code: 7 });
  expect(await readAction(fixture, actionId)).toMatchObject({ lastStatusCode: 7 });
  await send({ execution: "proceeding", finished: "none" });
  expect(await readAction(fixture, actionId)).toMatchObject({ lastStatusCode: null });
});

test("a confirmed cancellation falls back to the installed set; a second one is answered and changes nothing", async () => {
  await seedActions(fixture, [{ id: actionId, targetId: n, status: actionStatus.CANCELING, rolloutId: n, groupId: 1 }]);
  await send({ details: ["stopped"] }, "cancel");
  expect(await readAction(fixture, actionId)).toMatchObject({ status: actionStatus.CANCELED, active: false, revision: 2 });
  expect(await readTarget(fixture, n)).toMatchObject({ assignedSetId: null, updateStatus: updateStatus.in_sync });
  expect((await readHistory(fixture, actionId))[1]?.messages).toEqual([
    "Update Server: Cancellation confirmed.",
    "stopped",
    "Update Server: Cancellation completion is finished successfully.",
  ]);
  await send({ finished: "failure" }, "cancel");
  expect(await readAction(fixture, actionId)).toMatchObject({ status: actionStatus.CANCELED, revision: 2 });
  expect(await codeOf(send())).toBe("actionClosed");
});

test("after a rejected cancellation the device sees the deployment again", async () => {
  await seedActions(fixture, [{ id: actionId, targetId: n, status: actionStatus.CANCELING }]);
  await send({ execution: "rejected" }, "cancel");
  expect(await readAction(fixture, actionId)).toMatchObject({ status: actionStatus.RUNNING, active: true });
  expect((await readHistory(fixture, actionId))[1]?.status).toBe(actionStatus.CANCEL_REJECTED);
});

test("the first report of a device stores a last poll, and a later report does not change it", async () => {
  await seedActions(fixture, [{ id: actionId, targetId: n }]);
  const lastPoll = async () =>
    (await fixture.db.pool.query("select last_poll_at as at from target_polls where tenant_id = 1 and target_id = $1", [n])).rows;
  expect(await lastPoll()).toEqual([]);
  expect(await fixture.roundTrips.during(() => send({ execution: "proceeding", finished: "none" }))).toBe(1);
  expect(await lastPoll()).toEqual([{ at: expect.any(Date) }]);
  await fixture.db.pool.query("update target_polls set last_poll_at = '2026-01-01' where tenant_id = 1 and target_id = $1", [n]);
  const polled = await lastPoll();
  await send();
  expect(await lastPoll()).toEqual(polled);
});

test("a change of status that does not end the action writes to no index (HOT)", async () => {
  await seedActions(fixture, [{ id: actionId, targetId: n }]);
  const counted = async (): Promise<{ updates: number; hot: number }> => {
    const { rows } = await fixture.database
      .db("controller")
      .pool.query("select n_tup_upd::int as updates, n_tup_hot_upd::int as hot from pg_stat_user_tables where relname = 'actions'");
    return rows[0];
  };
  const client = await fixture.database.db("controller").pool.connect();
  const flushed = () => client.query("select pg_stat_force_next_flush()");
  await flushed();
  const before = await counted();
  for (const status of [actionStatus.RETRIEVED, actionStatus.RUNNING]) {
    await client.query("update actions set status = $1, revision = revision + 1 where tenant_id = 1 and id = $2", [status, actionId]);
  }
  await flushed();
  client.release();
  const after = await counted();
  expect({ updates: after.updates - before.updates, hot: after.hot - before.hot }).toEqual({ updates: 2, hot: 2 });
});
