import { actionStatus, outcomeCode, tally } from "@harrier/contracts";
import { runOne } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import { afterAll, beforeAll, expect, test } from "vitest";
import { brokenSequences, type CommandsFixture, commandsFixture, contextOf, itemOf, reservedSet } from "../commands.fixture.ts";
import { settleWatches } from "./settle.sql.ts";
import { settle } from "./settle.ts";
import { policy, watchedFleet } from "./watches.fixture.ts";

// Retries that are due at the same time are carried out by the same statements.

let fixture: CommandsFixture;
let fleet: ReturnType<typeof watchedFleet>;
beforeAll(async () => {
  fixture = await commandsFixture();
  fleet = watchedFleet(fixture);
});
afterAll(() => fixture.close());

const safety = policy({
  retry: { max: 3, delaySeconds: 10, backoff: 1, maxDelaySeconds: 3600, withoutCode: true, onSilent: false, waitingCounts: "running" },
});
const { ERROR, RUNNING } = actionStatus;

/** Starts a rollout on so many targets, all of which fail and are due. */
async function failing(rolloutId: number, count: number): Promise<number[]> {
  await fleet.rolloutIs(rolloutId, "running");
  const targets = Array.from({ length: count }, (_, n) => rolloutId * 100 + n);
  const actions = await fleet.start(rolloutId, targets, safety);
  for (const [n, action] of actions.entries()) {
    expect(await fleet.report(`d${targets[n]}`, action, "closed", "failure", 503)).toBe("ok");
    await fleet.later(action, 12);
  }
  return actions;
}

const attempts = async (rolloutId: number) => {
  const { rows } = await fixture.db.pool.query(
    `select a.id::int, a.retried_by::int as "retriedBy", a.status, a.active, a.tally, a.attempt, a.outcome from actions a
      where a.rollout_id = $1 order by a.target_id, a.attempt`,
    [rolloutId],
  );
  return rows;
};

async function exact(rolloutId: number): Promise<void> {
  expect(await fleet.beside(rolloutId)).toEqual(await fleet.countedBeside(rolloutId));
  expect(await brokenSequences(fixture)).toEqual([]);
}

test("each of those that are due in one round comes to its own: some begin, one waits on, the others end", async () => {
  const [begin, paused, stopped, quota] = [1, 2, 3, 4] as const;
  const running = await failing(begin, 4);
  const [waiting = 0] = await failing(paused, 1);
  await fleet.rolloutIs(paused, "paused");
  const [ended = 0] = await failing(stopped, 1);
  await fleet.rolloutIs(stopped, "stopped");
  const [full = 0] = await failing(quota, 1);
  await fixture.db.pool.query(
    `insert into actions (tenant_id, id, target_id, controller_id, set_id, status, active, force_type, force_time, weight, initiated_by, created_by, last_modified_by)
     select tenant_id, 900000 + n, target_id, controller_id, set_id, 0, false, force_type, force_time, weight, 'x', 'x', 'x'
       from actions, generate_series(1, 5) n where id = $1`,
    [full],
  );
  const [elsewhere = 0] = running.splice(1, 1);
  await fixture.actions.assignSet({ set: reservedSet(101), items: [itemOf("d101")], initiator: "admin" }, contextOf());

  await fleet.settleWith({ ACTIONS_PER_TARGET_MAX_COUNT: 5 });
  await fixture.db.pool.query("delete from actions where id > 900000");

  const begun = (await attempts(begin)).filter((row) => row.attempt === 2);
  expect(begun).toHaveLength(3);
  expect(begun.every((row) => row.status === RUNNING && row.active && row.retriedBy === null)).toBe(true);
  expect((await attempts(begin)).filter((row) => row.retriedBy !== null).map((row) => row.id)).toEqual(running);
  for (const { id } of begun) {
    expect(await fleet.eventTypes(id)).toEqual(["created"]);
    expect(await fleet.lastText(id)).toBe("Update Server: Attempt 2 of 4.");
  }
  expect(await attempts(paused)).toEqual([expect.objectContaining({ id: waiting, tally: tally.retrying })]);
  for (const [id, why] of [
    [ended, "the rollout is stopped."],
    [elsewhere, "the target has another assignment."],
    [full, "the target has as many actions as it may have."],
  ] as const) {
    expect(await fleet.state(id)).toMatchObject({ status: ERROR, tally: tally.plain, stage: null });
    expect(await fleet.lastText(id)).toBe(`Update Server: No further attempt: ${why}`);
    expect((await fleet.eventTypes(id)).at(-1)).toBe("retry_changed");
  }
  expect((await fleet.state(full)).outcome).toBe(outcomeCode("quota", "none"));
  for (const rollout of [begin, paused, stopped, quota]) await exact(rollout);
});

test("with fewer ids than retries that are due, the others wait for the next round, and none begins twice", async () => {
  const rollout = 5;
  const actions = await failing(rollout, 5);
  const first = await fixture.ids.take(1, "action", 2);
  const row = await runOne(fixture.db.pool, settleWatches, [100, [1], [first], [2], [0], [], [], []]);
  expect(row?.settled).toBe(2);
  expect((await attempts(rollout)).filter(({ attempt }) => attempt === 2).map(({ id }) => id)).toEqual([first, first + 1]);
  await exact(rollout);
  await fleet.settle();
  await fleet.settle();
  const all = await attempts(rollout);
  expect(all.filter(({ attempt }) => attempt === 1).map(({ id }) => id)).toEqual(actions);
  expect(all.filter(({ attempt }) => attempt === 2)).toHaveLength(actions.length);
  expect(all).toHaveLength(2 * actions.length);
  await exact(rollout);
});

test("retries that wait on in a paused rollout take no ids, however often they are looked at", async () => {
  const rollout = 6;
  const [waiting = 0, other = 0] = await failing(rollout, 2);
  await fleet.rolloutIs(rollout, "paused");
  const before = await fixture.ids.take(1, "action", 1);
  for (let round = 0; round < 3; round += 1) {
    await fleet.settle();
    const { rows } = await fixture.db.pool.query("select due_at > now() as later from action_watches where action_id = any($1)", [
      [waiting, other],
    ]);
    expect(rows).toEqual([{ later: true }, { later: true }]);
    for (const action of [waiting, other]) await fleet.later(action, 300);
  }
  expect(await fixture.ids.take(1, "action", 1)).toBe(before + 1);
  await fleet.rolloutIs(rollout, "running");
  await fleet.settle();
  expect((await attempts(rollout)).filter(({ attempt }) => attempt === 2)).toHaveLength(2);
  await exact(rollout);
});

test("a tenant that has used up its ids keeps its retries waiting, and nothing else", async () => {
  const [rollout, proven] = [7, 8];
  const [waiting = 0] = await failing(rollout, 1);
  await fleet.rolloutIs(proven, "running");
  const limits = { installingSeconds: 60, notFetchedSeconds: 60, downloadingSeconds: 60, count: "error" } as const;
  const [silent = 0] = await fleet.start(proven, [proven * 100], policy({ limits }));
  await fleet.later(silent, 61);
  const usedUp = new HarrierError("quotaTooManyEntries", "The tenant has used up its ids of kind action.");
  await settle({ ...fleet.deps, ids: { take: () => Promise.reject(usedUp) } });
  expect(await fleet.state(silent)).toMatchObject({ tally: tally.silent });
  expect(await attempts(rollout)).toEqual([expect.objectContaining({ id: waiting, tally: tally.retrying })]);
  await fleet.later(waiting, 300);
  await fleet.settle();
  expect(await attempts(rollout)).toHaveLength(2);
  await exact(rollout);
});

test("an attempt that is due after the ids were counted waits for the next round, which others of its round do not", async () => {
  const [late = 0] = await failing(40, 1);
  await runOne(fixture.db.pool, settleWatches, [50, [], [], [], [], [], [], []]);
  expect(await attempts(40)).toEqual([expect.objectContaining({ id: late, retriedBy: null, tally: tally.retrying })]);
  await fleet.settle();
  expect(await attempts(40)).toHaveLength(2);
});
