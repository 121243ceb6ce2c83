import { actionStatus, outcomeCode, type ResolvedPolicy, tally, updateStatus } from "@harrier/contracts";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type CommandsFixture, commandsFixture, contextOf, itemOf, progressOf, reservedSet } from "../commands.fixture.ts";
import { overAt } from "./settle.ts";
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

const limits: ResolvedPolicy["limits"] = {
  notFetchedSeconds: 600,
  downloadingSeconds: 1200,
  installingSeconds: 1800,
  count: "error",
  giveUpSeconds: 86_400,
};

async function one(change: Partial<ResolvedPolicy> = { limits }) {
  next += 1;
  const [rolloutId, targetId] = [next, next * 10];
  rollouts.push(rolloutId);
  const [action = 0] = await fleet.start(rolloutId, [targetId], policy(change));
  return { rolloutId, targetId, device: `d${targetId}`, action };
}

const { FINISHED, ERROR, RUNNING } = actionStatus;

/** An action that has become silent before its device fetched it. */
async function silent(change?: Partial<ResolvedPolicy>) {
  const it = await one(change);
  await fleet.later(it.action, 601);
  await fleet.settle();
  expect(await fleet.state(it.action)).toMatchObject({ status: RUNNING, active: true, tally: tally.silent, silent: true });
  return it;
}

test("beyond 2.1 not fetched for the limit: silent, still open, with an entry and an event", async () => {
  const { rolloutId, action } = await one();
  await fleet.later(action, 590);
  await fleet.settle();
  expect(await fleet.state(action)).toMatchObject({ tally: tally.plain, stage: "notFetched" });
  await fleet.later(action, 20);
  await fleet.settle();
  expect(await fleet.state(action)).toMatchObject({ status: RUNNING, active: true, tally: tally.silent, silent: true });
  expect(await fleet.beside(rolloutId)).toEqual([0, 1, 0]);
  expect(await fleet.lastText(action)).toBe("Update Server: Nothing heard for 10 min while the update was not fetched.");
  expect((await fleet.eventTypes(action)).at(-1)).toBe("silence_changed");
});

test("beyond 2.2 it fetches the update after all: running, downloading, with a new clock", async () => {
  const { rolloutId, device, action } = await silent();
  expect(await fleet.retrieve(device, action)).toBe("ok");
  expect(await fleet.state(action)).toMatchObject({ tally: tally.plain, silent: false, stage: "downloading" });
  expect(await fleet.beside(rolloutId)).toEqual([0, 0, 0]);
  expect((await fleet.eventTypes(action)).at(-1)).toBe("silence_changed");
  expect(await fleet.lastSafety(action)).toEqual({ silent: false, attempt: 1 });
  await fleet.later(action, 1201);
  await fleet.settle();
  expect(await fleet.state(action)).toMatchObject({ tally: tally.silent });
  expect(await fleet.retrieve(device, action)).toBe("ok"); // a second look speaks, too
  expect(await fleet.state(action)).toMatchObject({ tally: tally.plain });
});

test("beyond 2.3, 2.4 proceeding begins the installation, and further progress does not extend it", async () => {
  const { device, action } = await one();
  await fleet.retrieve(device, action);
  await fleet.report(device, action, "proceeding", "none");
  expect(await fleet.state(action)).toMatchObject({ stage: "installing" });
  for (let n = 0; n < 10; n += 1) {
    await fleet.later(action, 170);
    await fleet.report(device, action, "proceeding", "none");
  }
  await fleet.settle();
  expect(await fleet.state(action)).toMatchObject({ tally: tally.plain });
  await fleet.later(action, 101);
  await fleet.settle();
  expect(await fleet.state(action)).toMatchObject({ tally: tally.silent, stage: "installing" });
});

test("beyond 2.2 a download begins the stage of downloads, and ends a silence, too", async () => {
  const { rolloutId, action } = await silent();
  await fleet.downloads(action);
  expect(await fleet.state(action)).toMatchObject({ tally: tally.plain, silent: false, stage: "downloading" });
  expect(await fleet.beside(rolloutId)).toEqual([0, 0, 0]);
  expect((await fleet.eventTypes(action)).at(-1)).toBe("silence_changed");
  await fleet.later(action, 1190);
  await fleet.downloads(action); // within its stage it begins no clock anew
  expect((await fleet.eventTypes(action)).at(-1)).toBe("status_reported");
  await fleet.settle();
  expect(await fleet.state(action)).toMatchObject({ tally: tally.plain });
  await fleet.later(action, 11);
  await fleet.settle();
  expect(await fleet.state(action)).toMatchObject({ tally: tally.silent, stage: "downloading" });
});

test.each([
  ["retrieval", (device: string, action: number) => fleet.retrieve(device, action, 2)],
  ["report", (device: string, action: number) => fleet.report(device, action, "proceeding", "none", null, 2)],
  ["download", (_device: string, action: number) => fleet.download(action, 2)],
] as const)("beyond 2.2 a %s ends a silence where the quota of entries is full, up to twice as many", async (_what, speak) => {
  const { device, action } = await silent(); // two entries: the start, and the silence
  expect(await speak(device, action)).toBe("ok");
  expect(await fleet.state(action)).toMatchObject({ tally: tally.plain, silent: false });
  expect(await fleet.report(device, action, "proceeding", "none", null, 2)).toBe("tooManyEntries");
  await fleet.later(action, 1801);
  await fleet.settle();
  expect(await fleet.state(action)).toMatchObject({ tally: tally.silent });
  await speak(device, action); // four entries
  expect(await fleet.state(action)).toMatchObject({ tally: tally.silent });
  expect(await fleet.report(device, action, "closed", "success", null, 2)).toBe("ok");
});

test("beyond 2.5 a mere poll leaves it silent", async () => {
  const { targetId, action } = await silent();
  await fleet.polls(targetId, 2);
  expect(await fleet.state(action)).toMatchObject({ tally: tally.silent });
});

test.each([
  ["beyond 2.6", "success", FINISHED, [0, 0, 1, 0, 0]],
  ["beyond 2.7", "failure", ERROR, [0, 0, 0, 1, 0]],
] as const)("%s silent, then closed with %s: it counts as that, once", async (_case, result, status, counts) => {
  const { rolloutId, device, action } = await silent();
  await fleet.report(device, action, "closed", result);
  expect(await fleet.state(action)).toMatchObject({ status, tally: tally.plain, stage: null });
  expect(await progressOf(fixture, rolloutId)).toEqual(counts);
  expect((await fleet.eventTypes(action)).at(-1)).toBe("silence_changed");
});

test("beyond 2.6 silent, then a claim that must be proven", async () => {
  const { rolloutId, device, action } = await silent({ limits, proof: proof() });
  await fleet.report(device, action);
  expect(await fleet.state(action)).toMatchObject({ tally: tally.proving, stage: "rebooting", silent: false });
  expect(await fleet.beside(rolloutId)).toEqual([1, 0, 0]);
  expect(await fleet.lastSafety(action)).toEqual({ proof: "proving", silent: false, attempt: 1 });
});

test("beyond 2.10 given up: an error with its reason, and a late report finds it closed", async () => {
  const { rolloutId, device, action } = await silent();
  await fleet.later(action, 86_400);
  await fleet.settle();
  expect(await fleet.state(action)).toMatchObject({
    status: ERROR,
    active: false,
    tally: tally.plain,
    outcome: outcomeCode("timeout", "none"),
    assigned: null,
    updateStatus: updateStatus.error,
    stage: null,
  });
  expect(await fleet.report(device, action)).toBe("closed");
  expect(await progressOf(fixture, rolloutId)).toEqual([0, 0, 0, 1, 0]);
});

test("beyond 2.12 no clock runs while it is asked to cancel; if it refuses, the installation begins anew", async () => {
  const { device, action } = await one();
  await fleet.retrieve(device, action);
  await fixture.actions.cancelAction({ controllerId: device, actionId: action, force: false }, contextOf());
  await fleet.later(action, 10_000);
  await fleet.settle();
  expect(await fleet.state(action)).toMatchObject({ tally: tally.plain });
  await fixture.db.pool.query("select report(1, $1, $2, 1::smallint, 4::smallint, 2::smallint, null, '{}', now(), 0, 0, 'DEFAULT', null)", [
    device,
    action,
  ]);
  expect(await fleet.state(action)).toMatchObject({ status: RUNNING, stage: "installing" });
  await fleet.later(action, 1790);
  await fleet.settle();
  expect(await fleet.state(action)).toMatchObject({ tally: tally.plain });
  await fleet.later(action, 20);
  await fleet.settle();
  expect(await fleet.state(action)).toMatchObject({ tally: tally.silent });
});

test("beyond 2.13 time outside of the maintenance window does not count", () => {
  const window = { schedule: "0 0 2 * * ?", duration: "02:00:00", timezone: "+00:00" };
  const at = (text: string) => Date.parse(`2026-03-${text}:00Z`);
  const over = (since: string, limitHours: number) => overAt({ ...window, sinceMs: at(since), limitMs: limitHours * 3_600_000 }, at(since));
  expect(over("01T12:00", 1)).toBe(at("02T03:00"));
  expect(over("01T02:30", 1)).toBe(at("01T03:30"));
  expect(over("01T03:30", 1)).toBeGreaterThanOrEqual(at("02T02:30"));
  expect(over("01T12:00", 5)).toBeGreaterThanOrEqual(at("04T03:00"));
  expect(over("01T12:00", 5)).toBeLessThan(at("04T03:01"));
});

test("beyond 2.15 superseded while silent: cancelled when its device says so, and nothing is awaited", async () => {
  const { rolloutId, device, action } = await silent();
  await fixture.actions.assignSet({ set: reservedSet(101), items: [itemOf(device)], initiator: "admin" }, contextOf());
  await fixture.actions.cancelAction({ controllerId: device, actionId: action, force: true }, contextOf());
  expect(await fleet.state(action)).toMatchObject({ status: actionStatus.CANCELED, tally: tally.plain, stage: null });
  expect(await progressOf(fixture, rolloutId)).toEqual([0, 0, 0, 0, 1]);
});

test("beyond 2.16 two rounds at once make one entry", async () => {
  const { action } = await one();
  await fleet.later(action, 601);
  await Promise.all([fleet.settle(), fleet.settle(), fleet.settle()]);
  expect((await fleet.eventTypes(action)).filter((type) => type === "silence_changed")).toHaveLength(1);
});

test("a policy without limits makes no row before there is something to wait for", async () => {
  const { action } = await one({ retry: undefined });
  expect(await fleet.state(action)).toMatchObject({ stage: null });
});

/** How many watches of each tenant a round of so many takes, where tenants from 901 on have so many that are due, and one more that is not. */
async function roundOf(limit: number, due: readonly number[]): Promise<number[]> {
  const client = await fixture.db.pool.connect();
  try {
    await client.query("begin");
    await client.query("delete from action_watches");
    await client.query(
      `insert into action_watches (tenant_id, action_id, target_id, policy_id, stage, due_at)
       select 900 + t.n, g, g, 1, 1, now() - case when g > t.due then interval '-1 hour' else interval '1 hour' * (100 - t.n) end
         from unnest($1::int[]) with ordinality t (due, n) cross join lateral generate_series(1, t.due + 1) g`,
      [due],
    );
    const { rows } = await client.query<{ n: number }>(
      `select count(d)::int as n from generate_series(901, 900 + $2::int) t left join due_watches($1) d on d.tenant_id = t group by t order by t`,
      [limit, due.length],
    );
    return rows.map(({ n }) => n);
  } finally {
    await client.query("rollback");
    client.release();
  }
}

test.each([
  ["the many of one leave room for those of another", 100, [300, 1], [50, 1]],
  ["ten with many starve no eleventh", 110, Array(11).fill(100), Array(11).fill(10)],
  ["who has nothing due takes no share", 100, [100, 0, 100], [50, 0, 50]],
  ["of more tenants than places those come first that have waited longest", 3, [9, 9, 9, 9], [1, 1, 1, 0]],
] as const)("of the watches that are due %s, in every round", async (_what, limit, due, taken) => {
  expect(await roundOf(limit, due)).toEqual(taken);
});

test("beyond 2.13 an installation with a window that comes due in the middle of a round waits for the next one", async () => {
  const { action, device } = await one();
  await fixture.db.pool.query(
    "update actions set maintenance_schedule = '0 0 2 * * ?', maintenance_duration = '02:00:00', maintenance_timezone = '+00:00' where id = $1",
    [action],
  );
  await fleet.report(device, action, "proceeding", "none");
  await fleet.later(action, 1801);
  // the round that read no windows
  await fixture.db.pool.query("select settle_watches(2000, '{}', '{}', '{}', '{}', '{}', '{}', '{}')");
  expect(await fleet.state(action)).toMatchObject({ stage: "installing", silent: false });
  await fixture.db.pool.query("select settle_watches(2000, '{}', '{}', '{}', '{}', '{1}', $1, $2)", [[action], [new Date(0)]]);
  expect(await fleet.state(action)).toMatchObject({ silent: true });
});

test("beyond 2.13 an installation that has used up its time over hundreds of short windows is silent", async () => {
  const { action, device } = await one({ limits: { installingSeconds: 86_400, count: "error" } });
  await fixture.db.pool.query(
    "update actions set maintenance_schedule = '0 0 * * * ?', maintenance_duration = '00:05', maintenance_timezone = '+00:00' where id = $1",
    [action],
  );
  await fleet.report(device, action, "proceeding", "none");
  await fleet.later(action, 11 * 86_400);
  await fleet.settle();
  expect(await fleet.state(action)).toMatchObject({ stage: "installing", silent: false });
  await fleet.later(action, 2 * 86_400);
  await fleet.settle();
  expect(await fleet.state(action)).toMatchObject({ stage: "installing", silent: true });
});
