import { actionStatus, outcomeCode, type ResolvedPolicy, tally } from "@harrier/contracts";
import { runOne } from "@harrier/db";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { stopChunk } from "../actions/ends.sql.ts";
import { type CommandsFixture, chunkOf, commandsFixture, contextOf, itemOf, progressOf, reservedSet } from "../commands.fixture.ts";
import { expectConsistent, policy, proof, watchedFleet } from "./watches.fixture.ts";

let fixture: CommandsFixture;
let fleet: ReturnType<typeof watchedFleet>;
const rollouts: number[] = [];
let next = 0;
beforeAll(async () => {
  fixture = await commandsFixture();
  fleet = watchedFleet(fixture);
});
afterAll(() => fixture.close());
afterEach(() => expectConsistent(fixture, rollouts));

const retry = (change: Partial<NonNullable<ResolvedPolicy["retry"]>> = {}): NonNullable<ResolvedPolicy["retry"]> => ({
  max: 3,
  delaySeconds: 10,
  backoff: 2,
  maxDelaySeconds: 3600,
  codes: [{ from: 500, to: 599 }],
  withoutCode: true,
  onSilent: false,
  waitingCounts: "running",
  ...change,
});

const rolloutRow = (id: number, status: string) => fleet.rolloutIs(id, status);

async function one(change: Partial<ResolvedPolicy> = { retry: retry() }) {
  next += 1;
  const [rolloutId, targetId] = [next, next * 10];
  rollouts.push(rolloutId);
  await rolloutRow(rolloutId, "running");
  const [action = 0] = await fleet.start(rolloutId, [targetId], policy(change));
  return { rolloutId, targetId, device: `d${targetId}`, action };
}

const { ERROR, RUNNING } = actionStatus;
const fail = (device: string, action: number, code: number | null = 503) => fleet.report(device, action, "closed", "failure", code);

/** The newest attempt after the one given. */
async function successor(action: number): Promise<{ id: number; attempt: number; retry_of: number } | undefined> {
  const { rows } = await fixture.db.pool.query(
    "select n.id, n.attempt, n.retry_of from actions a join actions n on n.tenant_id = a.tenant_id and n.id = a.retried_by where a.id = $1",
    [action],
  );
  return rows[0];
}

async function dueIn(action: number): Promise<number> {
  const { rows } = await fixture.db.pool.query(
    "select extract(epoch from due_at - since)::float8 as s from action_watches where action_id = $1",
    [action],
  );
  return rows[0].s;
}

test("beyond 3.1 a code in the range: a second action after the delay", async () => {
  const { rolloutId, device, action } = await one();
  await fail(device, action);
  expect(await fleet.state(action)).toMatchObject({ status: ERROR, tally: tally.retrying, stage: "retryWait" });
  expect(await fleet.beside(rolloutId)).toEqual([0, 0, 1]);
  expect(await progressOf(fixture, rolloutId)).toEqual([0, 1, 0, 0, 0]);
  expect((await fleet.eventTypes(action)).at(-1)).toBe("retry_changed");
  expect(await fleet.lastSafety(action)).toEqual({ attempt: 1, nextAttemptAt: expect.any(Number) });
  await fleet.settle();
  expect(await successor(action)).toBeUndefined();
  await fleet.later(action, 12);
  await fleet.settle();
  const second = await successor(action);
  expect(second).toEqual({ id: expect.any(Number), attempt: 2, retry_of: action });
  expect(second?.id).toBeGreaterThan(action);
  expect(await fleet.state(second?.id ?? 0)).toMatchObject({ status: RUNNING, active: true, assigned: 100 });
  expect(await fleet.lastText(second?.id ?? 0)).toBe("Update Server: Attempt 2 of 4.");
  expect(await fleet.beside(rolloutId)).toEqual([0, 0, 0]);
  expect(await progressOf(fixture, rolloutId)).toEqual([0, 1, 0, 0, 0]);
});

test.each([
  ["another code", retry(), 42],
  ["none, where that does not count", retry({ withoutCode: false }), null],
  ["an excluded code", retry({ notCodes: [{ from: 503, to: 503 }] }), 503],
] as const)("beyond 3.2 %s: an error at once", async (_what, rule, code) => {
  const { rolloutId, device, action } = await one({ retry: rule });
  await fail(device, action, code);
  expect(await fleet.state(action)).toMatchObject({ status: ERROR, tally: tally.plain, stage: null });
  expect(await progressOf(fixture, rolloutId)).toEqual([0, 0, 0, 1, 0]);
});

test("beyond 3.3, 3.4 three attempts at growing distances, then it is final", async () => {
  const { rolloutId, device, action } = await one();
  let now = action;
  for (const delay of [10, 20, 40]) {
    await fail(device, now);
    const due = await dueIn(now);
    expect(due).toBeGreaterThanOrEqual(delay * 0.9);
    expect(due).toBeLessThanOrEqual(delay * 1.1);
    await fleet.later(now, 50);
    await fleet.settle();
    now = (await successor(now))?.id ?? 0;
  }
  await fail(device, now);
  expect(await fleet.state(now)).toMatchObject({ status: ERROR, tally: tally.plain });
  expect(await progressOf(fixture, rolloutId)).toEqual([0, 0, 0, 1, 0]);
});

test("beyond 3.5 a paused rollout waits and goes on after its resume", async () => {
  const { rolloutId, device, action } = await one();
  await fail(device, action);
  await rolloutRow(rolloutId, "paused");
  await fleet.later(action, 12);
  await fleet.settle();
  expect(await fleet.state(action)).toMatchObject({ tally: tally.retrying });
  await rolloutRow(rolloutId, "running");
  await fleet.later(action, 10);
  await fleet.settle();
  expect(await successor(action)).toMatchObject({ attempt: 2 });
});

test("beyond 3.5 the longer a rollout is paused, the more seldom its retries are looked at, every two minutes at last", async () => {
  const { rolloutId, device, action } = await one();
  await fail(device, action);
  await rolloutRow(rolloutId, "paused");
  const waits: number[] = [];
  for (const seconds of [12, 108, 3600]) {
    await fleet.later(action, seconds);
    await fleet.settle();
    const { rows } = await fixture.db.pool.query(
      "select extract(epoch from due_at - now())::float8 as s from action_watches where action_id = $1",
      [action],
    );
    waits.push(Math.round(rows[0].s / 10) * 10);
  }
  expect(waits).toEqual([10, 30, 120]);
});

test("beyond 3.6 stopped: an error, and no action", async () => {
  const { rolloutId, device, action } = await one();
  await fail(device, action);
  await rolloutRow(rolloutId, "stopped");
  await fleet.later(action, 12);
  await fleet.settle();
  expect(await fleet.state(action)).toMatchObject({ status: ERROR, tally: tally.plain, stage: null });
  expect(await progressOf(fixture, rolloutId)).toEqual([0, 0, 0, 1, 0]);
  expect((await fleet.eventTypes(action)).at(-1)).toBe("retry_changed");
});

test("beyond 3.6 a page of the stop that ends at a target with several attempts leaves none of them open", async () => {
  next += 1;
  const rolloutId = next;
  rollouts.push(rolloutId);
  await rolloutRow(rolloutId, "running");
  const targets = [1, 2, 3].map((n) => rolloutId * 10 + n);
  const actions = await fleet.start(rolloutId, targets, policy({ retry: retry() }));
  for (const [n, action] of actions.entries()) {
    await fail(`d${targets[n]}`, action);
    await fleet.later(action, 12);
  }
  await fleet.settle();
  await rolloutRow(rolloutId, "stopping");
  await fixture.actions.closeFence({ rolloutId, epoch: 1 }, contextOf());
  for (let cursor = -1, done = false; !done; ) {
    const page = await runOne(fixture.db.pool, stopChunk, [1, "DEFAULT", rolloutId, cursor, 1, true, true, "admin", null]);
    if (page === undefined) throw new Error("a page has a row");
    ({ cursor, done } = page);
  }
  const { rows } = await fixture.db.pool.query(
    "select count(*)::int as attempts, count(*) filter (where active)::int as open from actions where rollout_id = $1",
    [rolloutId],
  );
  expect(rows).toEqual([{ attempts: 6, open: 0 }]);
});

test("beyond 3.7 another assignment meanwhile: none", async () => {
  const { device, action } = await one();
  await fail(device, action);
  await fixture.actions.assignSet({ set: reservedSet(101), items: [itemOf(device)], initiator: "admin" }, contextOf());
  await fleet.later(action, 12);
  await fleet.settle();
  expect(await successor(action)).toBeUndefined();
  expect(await fleet.state(action)).toMatchObject({ tally: tally.plain, assigned: 101 });
});

test("beyond 3.11 a repeated chunk makes no extra action", async () => {
  const { rolloutId, device, action } = await one();
  await fail(device, action);
  await fleet.later(action, 12);
  await fleet.settle();
  await fixture.actions.scheduleChunk(chunkOf(rolloutId), contextOf());
  await fixture.actions.startChunk(chunkOf(rolloutId), contextOf());
  const { rows } = await fixture.db.pool.query("select count(*)::int as n from actions where rollout_id = $1", [rolloutId]);
  expect(rows).toEqual([{ n: 2 }]);
});

test("beyond 3.14 by hand, twice at once: one action and one error", async () => {
  const { device, action } = await one({ retry: retry({ max: 1 }) });
  await fail(device, action, 42);
  const answers = await Promise.allSettled([fleet.retry(device, action), fleet.retry(device, action)]);
  expect(answers.filter((a) => a.status === "fulfilled")).toHaveLength(1);
  expect(answers.find((a) => a.status === "rejected")).toMatchObject({ reason: { code: "actionNotRetryable" } });
  expect(await successor(action)).toMatchObject({ attempt: 2 });
});

test("beyond 3.14 by hand at once in a paused rollout, and not in a stopped one, which is said", async () => {
  const { rolloutId, device, action } = await one();
  await fail(device, action);
  await rolloutRow(rolloutId, "paused");
  await fleet.retry(device, action);
  const second = await successor(action);
  expect(second).toMatchObject({ attempt: 2 });
  expect(await fleet.beside(rolloutId)).toEqual([0, 0, 0]);
  await fail(device, second?.id ?? 0);
  await rolloutRow(rolloutId, "stopping");
  const refused = { code: "actionNotRetryable", message: "The rollout of the action is stopped or deleted." };
  await expect(fleet.retry(device, second?.id ?? 0)).rejects.toMatchObject(refused);
  // A stop whose status is not seen yet has closed the fence.
  await rolloutRow(rolloutId, "running");
  await fixture.actions.closeFence({ rolloutId, epoch: 1 }, contextOf());
  await expect(fleet.retry(device, second?.id ?? 0)).rejects.toMatchObject(refused);
  expect(await successor(second?.id ?? 0)).toBeUndefined();
});

test("beyond 3.7 by hand, another assignment is said to be in the way", async () => {
  const { device, action } = await one({ retry: retry({ codes: [] }) });
  await fail(device, action);
  await fixture.actions.assignSet({ set: reservedSet(101), items: [itemOf(device)], initiator: "admin" }, contextOf());
  await expect(fleet.retry(device, action)).rejects.toMatchObject({ message: expect.stringContaining("another action under way") });
});

test("beyond 3.5 while its tenant is suspended nothing happens, and afterwards it goes on", async () => {
  const { rolloutId, device, action } = await one();
  await fail(device, action);
  const tenantIs = (status: string) =>
    fixture.database.db("management").pool.query("update tenants set status = $1 where tenant_id = 1", [status]);
  await tenantIs("suspended");
  await fleet.later(action, 12);
  await fleet.settle();
  expect(await fleet.state(action)).toMatchObject({ status: ERROR, tally: tally.retrying, stage: "retryWait" });
  expect(await fleet.beside(rolloutId)).toEqual([0, 0, 1]);
  await tenantIs("active");
  await fleet.later(action, 61);
  await fleet.settle();
  expect(await successor(action)).toMatchObject({ attempt: 2 });
});

test("beyond 3.15 the quota of actions is reached: a plain error with its reason", async () => {
  const { device, action } = await one();
  await fail(device, action);
  await fleet.later(action, 12);
  await fleet.settleWith({ ACTIONS_PER_TARGET_MAX_COUNT: 1 });
  expect(await fleet.state(action)).toMatchObject({ tally: tally.plain, outcome: outcomeCode("quota", "none") });
});

test("beyond 3.16 a late success of the failed attempt finds it closed, and the retry goes on", async () => {
  const { device, action } = await one();
  await fail(device, action);
  expect(await fleet.report(device, action)).toBe("closed");
  await fleet.later(action, 12);
  await fleet.settle();
  expect(await successor(action)).toBeDefined();
});

test("beyond 3.17 three rounds at once make one attempt", async () => {
  const { rolloutId, device, action } = await one();
  await fail(device, action);
  await fleet.later(action, 12);
  await Promise.all([fleet.settle(), fleet.settle(), fleet.settle()]);
  await fleet.settle();
  const { rows } = await fixture.db.pool.query("select count(*)::int as n from actions where rollout_id = $1", [rolloutId]);
  expect(rows).toEqual([{ n: 2 }]);
});

test("a fall-back is tried again where the policy says so, and the attempt must be proven, too", async () => {
  const { rolloutId, device, action } = await one({ proof: proof(), retry: retry({ onSilent: true }) });
  await fleet.report(device, action);
  await fleet.later(action, 1000);
  await fleet.shows(device, { sw_version: "1.2" });
  expect(await fleet.state(action)).toMatchObject({ status: ERROR, tally: tally.retrying, stage: "retryWait" });
  expect(await fleet.beside(rolloutId)).toEqual([0, 0, 1]);
  await fleet.later(action, 12);
  await fleet.settle();
  const second = (await successor(action))?.id ?? 0;
  await fleet.report(device, second);
  expect(await fleet.state(second)).toMatchObject({ tally: tally.proving });
  expect(await fleet.beside(rolloutId)).toEqual([1, 0, 0]);
});
