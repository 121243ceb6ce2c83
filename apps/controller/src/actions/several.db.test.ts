import { actionStatus, maxOpenActions, updateStatus } from "@harrier/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  actionsOfRollout,
  assignTo,
  brokenSequences,
  type CommandsFixture,
  chunkOf,
  commandsFixture,
  contextOf,
  countedProgress,
  itemOf,
  newTarget,
  openRollout,
  progressOf,
  reservedSet,
  runGroup,
  setSetting,
} from "../commands.fixture.ts";
import { deviceNamed, readAction, readHistory, readTarget, reportDeps, seedActions } from "../device.fixture.ts";
import { report } from "../feedback/report.ts";
import { linksOf } from "../poll/poll.ts";
import { createPollReader, type PollReader } from "../poll/poll-reader.ts";

/*
 * A target has several actions side by side (contract rollouts.md §6.9): on real PostgreSQL, in a tenant with multi-assignment. The model of
 * domain/model.fixture.ts covers the same by random steps.
 */

let fixture: CommandsFixture;
let readPoll: PollReader;
beforeAll(async () => {
  fixture = await commandsFixture();
  readPoll = createPollReader(fixture.db.pool);
  await setSetting(fixture, "multi.assignments.enabled", true);
});
afterAll(() => fixture.close());

const { RUNNING, CANCELING, SCHEDULED, ERROR, FINISHED } = actionStatus;
const own = () => fixture.database.db("controller").pool;
const assign = (target: number, setId: number, change = {}): Promise<number> => assignTo(fixture, target, { setId, ...change });

/** Reads the links of the target's poll. */
async function links(target: number): Promise<string[]> {
  const device = deviceNamed(`d${target}`);
  const row = await readPoll({ tenantId: device.tenantId, controllerId: device.controllerId, address: null });
  const found = row === undefined ? {} : linksOf(row, device, Date.now());
  return Object.entries(found).map(([rel, link]) => {
    const id = /\/(\d+)(?:\?|$)/.exec(link?.href ?? "")?.[1];
    return id === undefined ? rel : `${rel} ${id}`;
  });
}

async function say(target: number, actionId: number, finished: "success" | "failure", channel: "deployment" | "cancel" = "deployment") {
  const feedback = { execution: "closed" as const, finished, code: undefined, details: [], timestamp: undefined };
  await report(reportDeps(fixture), { device: deviceNamed(`d${target}`), channel, actionId, feedback });
}

const standing = async (target: number) => {
  const { updateStatus: status, assignedSetId, installedSetId } = await readTarget(fixture, target);
  return [status, assignedSetId, installedSetId];
};

test("the device gets actions by weight, of equal ones the oldest first, each after the end of the one before", async () => {
  const target = await newTarget(fixture);
  const light = await assign(target, 100, { weight: 10 });
  const heavy = await assign(target, 101, { weight: 900 });
  const later = await assign(target, 102, { weight: 900 });
  for (const id of [light, heavy, later])
    expect(await readAction(fixture, id)).toMatchObject({ status: RUNNING, active: true, revision: 1 });
  expect(await standing(target)).toEqual([updateStatus.pending, 102, null]);

  expect(await links(target)).toEqual([`deploymentBase ${heavy}`]);
  await say(target, heavy, "success");
  expect(await standing(target)).toEqual([updateStatus.pending, 100, 101]);
  expect(await links(target)).toEqual([`deploymentBase ${later}`, `installedBase ${heavy}`, "configData"]);
  await say(target, later, "failure");
  expect(await standing(target)).toEqual([updateStatus.error, null, 101]);
  expect((await links(target))[0]).toBe(`deploymentBase ${light}`);
  await say(target, light, "success");
  expect(await standing(target)).toEqual([updateStatus.in_sync, 100, 100]);
});

test("the end of the action assigned last, but offered first, does not decide the state of the target", async () => {
  const target = await newTarget(fixture);
  const first = await assign(target, 100, { weight: 1 });
  const last = await assign(target, 101, { weight: 2 });
  await say(target, last, "success");
  expect(await standing(target)).toEqual([updateStatus.pending, 100, 101]);
  await say(target, first, "success");
  expect(await standing(target)).toEqual([updateStatus.in_sync, 100, 100]);
});

test("the same set may be assigned again: it is another action each time", async () => {
  const target = await newTarget(fixture);
  const [one, two] = [await assign(target, 100), await assign(target, 100)];
  expect(one).not.toBe(two);
  await say(target, one, "success");
  expect(await standing(target)).toEqual([updateStatus.pending, 100, 100]);
  expect((await links(target))[0]).toBe(`deploymentBase ${two}`);
  await say(target, two, "success");
  expect(await standing(target)).toEqual([updateStatus.in_sync, 100, 100]);
});

test("a cancellation affects one action only; a cancelled action is offered by weight like the others", async () => {
  const target = await newTarget(fixture);
  const light = await assign(target, 100, { weight: 1 });
  const heavy = await assign(target, 101, { weight: 2 });
  await fixture.actions.cancelAction({ controllerId: `d${target}`, actionId: light, force: false }, contextOf());
  expect(await readAction(fixture, light)).toMatchObject({ status: CANCELING, active: true });
  expect(await links(target)).toEqual([`deploymentBase ${heavy}`]);
  await say(target, heavy, "success");
  expect((await links(target))[0]).toBe(`cancelAction ${light}`);
  await say(target, light, "success", "cancel");
  expect(await standing(target)).toEqual([updateStatus.in_sync, 101, 101]);

  const [a, b] = [await assign(target, 100), await assign(target, 102)];
  for (const force of [false, true]) await fixture.actions.cancelAction({ controllerId: `d${target}`, actionId: b, force }, contextOf());
  expect(await standing(target)).toEqual([updateStatus.pending, 100, 101]);
  await fixture.actions.forceAction({ controllerId: `d${target}`, actionId: a, ifRevisions: [] }, contextOf());
  expect(await readAction(fixture, a)).toMatchObject({ status: RUNNING });
});

test("several sets for one target are assigned in one round trip, in the order of the items", async () => {
  const target = await newTarget(fixture);
  const request = {
    sets: [reservedSet(102), reservedSet(100)],
    items: [
      itemOf(`d${target}`, { setIndex: 0, weight: 5 }),
      itemOf(`d${target}`, { setIndex: 1, weight: 5 }),
      itemOf(`d${target}`, { setIndex: 0, weight: 7, forceType: "soft" }),
    ],
    initiator: "admin",
  };
  const once = contextOf({}, "several sets at once");
  let actions: { id: number }[] = [];
  const roundTrips = await fixture.roundTrips.during(async () => {
    actions = ((await fixture.actions.assignSets(request, once)).actions ?? []) as { id: number }[];
  });
  expect(roundTrips).toBe(1);
  const { rows } = await own().query(
    "select id::int, set_id::int as set, weight, multi_assignment as beside from actions where target_id = $1 order by id",
    [target],
  );
  expect(rows).toEqual([
    { id: actions[0]?.id, set: 102, weight: 5, beside: true },
    { id: actions[1]?.id, set: 100, weight: 5, beside: true },
    { id: actions[2]?.id, set: 102, weight: 7, beside: true },
  ]);
  expect((await links(target))[0]).toBe(`deploymentBase ${actions[2]?.id}`);
  expect(await fixture.actions.assignSets(request, once)).toMatchObject({ actions: actions.map(({ id }) => ({ id })) });
  expect((await own().query("select from actions where target_id = $1", [target])).rows).toHaveLength(3);
});

test("one set that does not fit rejects the whole request", async () => {
  const { pool } = fixture.database.db("management");
  await pool.query(`insert into target_types (tenant_id, id, key, name, created_by, last_modified_by) values (1, 7, 't', 't', 'a', 'a');
    insert into target_type_set_types (tenant_id, target_type_id, set_type_id) values (1, 7, 1)`);
  const target = await newTarget(fixture);
  await fixture.db.pool.query("update targets set target_type_id = 7 where id = $1", [target]);
  const requested = (typeId: number) => ({
    sets: [reservedSet(100), { ...reservedSet(101), typeId }],
    items: [itemOf(`d${target}`), itemOf(`d${target}`, { setIndex: 1 })],
    initiator: "admin",
  });
  await expect(fixture.actions.assignSets(requested(2), contextOf())).rejects.toMatchObject({ code: "targetTypeIncompatible" });
  expect(await standing(target)).toEqual([updateStatus.registered, null, null]);
  expect(await fixture.actions.assignSets(requested(1), contextOf())).toMatchObject({ actions: [{}, {}] });
  const limited = contextOf({ targetTypeScopes: { UPDATE_TARGET: [8] } });
  expect(await fixture.actions.assignSets(requested(1), limited)).toMatchObject({ actions: [] });
});

test("a rollout starts beside open actions, waits beside other rollouts, and assigns its set again", async () => {
  const target = await newTarget(fixture);
  const open = await assign(target, 100);
  const [{ rolloutId: waiting }, { rolloutId: starting }] = [await openRollout(fixture, [target]), await openRollout(fixture, [target])];
  await fixture.actions.scheduleChunk(chunkOf(waiting, { setId: 101 }), contextOf());
  await runGroup(fixture, { ...chunkOf(starting, { setId: 100 }), weight: 1_000 });
  expect(await actionsOfRollout(fixture, waiting)).toMatchObject([{ status: SCHEDULED }]);
  expect(await actionsOfRollout(fixture, starting)).toMatchObject([{ status: RUNNING, active: true }]);
  expect(await progressOf(fixture, starting)).toEqual([0, 1, 0, 0, 0]);
  expect(await readAction(fixture, open)).toMatchObject({ status: RUNNING, active: true, revision: 1 });
  // An assignment does not supersede the waiting action either.
  await assign(target, 102);
  expect(await actionsOfRollout(fixture, waiting)).toMatchObject([{ status: SCHEDULED }]);
  await fixture.actions.startChunk(chunkOf(waiting, { setId: 101 }), contextOf());
  expect(await actionsOfRollout(fixture, waiting)).toMatchObject([{ status: RUNNING }]);
});

test("a filter assigns beside open actions, with its weight", async () => {
  const target = await newTarget(fixture);
  const open = await assign(target, 101, { weight: 3 });
  const engine = fixture.database.db("rollout-engine").pool;
  await engine.query(`insert into target_filters (tenant_id, id, name, query, auto_assign_set_id, auto_assign_type, auto_assign_epoch, created_by,
     last_modified_by) values (1, 1, 'filter', 'name==x', 100, 1, 1, 'x', 'x')`);
  const found = (pass: number, id: number) =>
    engine.query("insert into auto_assign_candidates (tenant_id, filter_id, pass, target_id) values (1, 1, $1, $2)", [pass, id]);
  await found(1, target);
  const chunk = {
    filterId: 1,
    epoch: 1,
    pass: 1,
    cursor: -1,
    set: reservedSet(100),
    forceType: "forced",
    weight: 7,
    maintenanceWindow: null,
    safetyOfTypes: [],
  };
  const run = (change = {}) =>
    fixture.actions.autoAssignChunk({ ...chunk, initiator: "somebody", filterName: "filter", ...change }, contextOf({ kind: "service" }));
  expect(await run()).toMatchObject({ created: 1 });
  expect(await readAction(fixture, open)).toMatchObject({ status: RUNNING, revision: 1 });
  const { rows } = await own().query(
    "select id::int, weight, multi_assignment as beside from actions where target_id = $1 and set_id = 100",
    [target],
  );
  expect(rows).toMatchObject([{ weight: 7, beside: true }]);
  expect(await links(target)).toEqual([`deploymentBase ${rows[0].id}`]);

  const full = await newTarget(fixture);
  await fill(full);
  await found(2, full);
  expect(await run({ pass: 2 })).toMatchObject({ created: 0, done: true });
});

let nextSeed = 500_000;
/** Gives the target as many open actions as it may have, minus `less`. */
async function fill(target: number, less = 0): Promise<void> {
  const seeds = Array.from({ length: maxOpenActions - less }, () => ({
    id: nextSeed++,
    targetId: target,
    setId: 99,
    multiAssignment: true,
  }));
  await seedActions(fixture, seeds);
}

test("open actions have a maximum: assignments are denied, rollout members fail, closed ones do not count", async () => {
  const [full, free] = [await newTarget(fixture), await newTarget(fixture)];
  await fill(full, 1);
  await expect(
    fixture.actions.assignSets(
      { sets: [reservedSet(100)], items: [itemOf(`d${free}`), itemOf(`d${full}`), itemOf(`d${full}`, { weight: 1 })], initiator: "admin" },
      contextOf(),
    ),
  ).rejects.toMatchObject({ code: "quotaTooManyEntries", message: expect.stringContaining(`d${full}`) });
  expect(await standing(free)).toEqual([updateStatus.registered, null, null]);
  const last = await assign(full, 100);
  await expect(assign(full, 101)).rejects.toMatchObject({
    code: "quotaTooManyEntries",
    message: expect.stringContaining(String(maxOpenActions)),
  });

  const { rolloutId } = await openRollout(fixture, [full, free]);
  await runGroup(fixture, chunkOf(rolloutId, { setId: 102 }));
  const members = await actionsOfRollout(fixture, rolloutId);
  expect(members).toMatchObject([
    { targetId: full, status: ERROR, active: false, revision: 2 },
    { targetId: free, status: RUNNING, active: true },
  ]);
  expect((await readHistory(fixture, members[0]?.id ?? 0)).at(-1)).toMatchObject({
    status: ERROR,
    messages: [expect.stringContaining(`(${maxOpenActions})`)],
  });
  expect(await progressOf(fixture, rolloutId)).toEqual([0, 1, 0, 1, 0]);
  expect(await countedProgress(fixture, rolloutId)).toEqual([0, 1, 0, 1, 0]);
  expect(await standing(full)).toEqual([updateStatus.pending, 100, null]);

  await say(full, last, "success");
  expect(await readAction(fixture, last)).toMatchObject({ status: FINISHED });
  expect(await assign(full, 101)).toBeGreaterThan(0);
  const { rows } = await fixture.db.pool.query("select max_open_actions() as max");
  expect(rows).toEqual([{ max: maxOpenActions }]);
});

test("racing assignments to one target never exceed the maximum", async () => {
  const target = await newTarget(fixture);
  await fill(target, 5);
  const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => assign(target, 100)));
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(5);
  const { rows } = await own().query("select count(*)::int as n from actions where target_id = $1 and active", [target]);
  expect(rows).toEqual([{ n: maxOpenActions }]);
});

test("without multi-assignment, the default, several assignments at once are rejected", async () => {
  await setSetting(fixture, "multi.assignments.enabled", undefined);
  const target = await newTarget(fixture);
  const request = { sets: [reservedSet(100)], items: [itemOf(`d${target}`), itemOf(`d${target}`, { weight: 1 })], initiator: "admin" };
  await expect(fixture.actions.assignSets(request, contextOf())).rejects.toMatchObject({ code: "multiAssignmentNotEnabled" });
  const first = await assign(target, 100);
  await assign(target, 101);
  expect(await readAction(fixture, first)).toMatchObject({ status: CANCELING });
  await setSetting(fixture, "multi.assignments.enabled", true);
  // The actions that `fill` has seeded have no events.
  expect((await brokenSequences(fixture)).filter((row) => (row as { id: number }).id < 500_000)).toEqual([]);
});
