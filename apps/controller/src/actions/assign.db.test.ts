import { actionStatus, updateStatus } from "@harrier/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  actionsOfRollout,
  brokenSequences,
  type CommandsFixture,
  chunkOf,
  commandsFixture,
  contextOf,
  itemOf,
  newTargets,
  progressOf,
  reservedSet,
  seedMembers,
  setSetting,
} from "../commands.fixture.ts";
import { readAction, readHistory, readOutbox, readTarget } from "../device.fixture.ts";

let fixture: CommandsFixture;
beforeAll(async () => {
  fixture = await commandsFixture();
  const { pool } = fixture.database.db("management");
  await pool.query(`
    insert into target_types (tenant_id, id, key, name, created_by, last_modified_by)
    select 1, id, 'type ' || id, 'type ' || id, 'admin', 'admin' from unnest(array[7, 8]) id;
    insert into target_type_set_types (tenant_id, target_type_id, set_type_id) values (1, 7, 1)`);
});
afterAll(() => fixture.close());

const { RUNNING, CANCELED, CANCELING } = actionStatus;

async function targetsOfType(type: number, n: number): Promise<number[]> {
  const ids = await newTargets(fixture, n);
  await fixture.db.pool.query("update targets set target_type_id = $1 where id = any($2::int[])", [type, ids]);
  return ids;
}

const itemsOf = (ids: readonly (number | string)[], change = {}) => ids.map((id) => itemOf(`d${id}`, change));

const assign = (ids: readonly (number | string)[], setId = 100, context = contextOf()) =>
  fixture.actions.assignSet({ set: reservedSet(setId), items: itemsOf(ids), initiator: "admin" }, context);

test("an assignment is one round trip, and unknown targets are skipped", async () => {
  const [a = 0, b = 0] = await newTargets(fixture, 2);
  const before = (await readOutbox(fixture)).length;
  let answer: Awaited<ReturnType<typeof assign>> = {};
  const roundTrips = await fixture.roundTrips.during(async () => {
    answer = await assign([a, "-unknown", b]);
  });
  expect(roundTrips).toBe(1);
  expect(answer).toEqual({
    alreadyAssigned: 0,
    actions: [
      { id: expect.any(Number), controllerId: `d${a}` },
      { id: expect.any(Number), controllerId: `d${b}` },
    ],
  });
  const id = Number(answer.actions?.[0]?.id);
  expect(id).toBeGreaterThanOrEqual(11);
  expect(await readAction(fixture, id)).toEqual({ status: RUNNING, active: true, revision: 1, lastStatusCode: null });
  expect(await readHistory(fixture, id)).toMatchObject([
    { revision: 1, status: RUNNING, messages: ["Assignment initiated by user 'admin'"] },
  ]);
  expect(await readTarget(fixture, a)).toMatchObject({ assignedSetId: 100, updateStatus: updateStatus.pending });
  const rows = (await readOutbox(fixture)).slice(before);
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatchObject({ topic: "action-events", type: "io.update.action.created.v1", common: { initiatedBy: "admin" } });
  expect(rows[0]?.common).not.toHaveProperty("rolloutId");
  expect(rows[0]?.items).toHaveLength(2);
});

test("a set that is assigned already is counted and creates no action", async () => {
  const ids = await newTargets(fixture, 2);
  await assign(ids);
  expect(await assign([...ids, ...(await newTargets(fixture, 1))])).toMatchObject({ alreadyAssigned: 2, actions: [{}] });
  expect(await assign(ids)).toEqual({ alreadyAssigned: 2, actions: [] });
  expect(await assign(["-nobody"])).toEqual({ alreadyAssigned: 0, actions: [] });
});

test("force type, force time and weight are stored per item", async () => {
  const [a, b, c] = await newTargets(fixture, 3);
  const items = [
    ...itemsOf([a ?? 0], { forceType: "timeforced", forceTime: 1_800_000_000_000, weight: 5 }),
    ...itemsOf([b ?? 0], { forceType: "soft", forceTime: 1_800_000_000_000 }),
    ...itemsOf([c ?? 0], { forceType: "downloadonly" }),
  ];
  await fixture.actions.assignSet({ set: reservedSet(), items, initiator: "admin" }, contextOf());
  const { rows } = await fixture.db.pool.query(
    "select force_type, (extract(epoch from force_time) * 1000)::bigint as at, weight from actions where target_id = any($1::int[]) order by target_id",
    [[a, b, c]],
  );
  expect(rows).toEqual([
    { force_type: 2, at: 1_800_000_000_000, weight: 5 },
    { force_type: 0, at: null, weight: 1000 },
    { force_type: 3, at: null, weight: 1000 },
  ]);
});

test("an incompatible target type rejects the whole request; targets without a type take any set", async () => {
  const plain = await newTargets(fixture, 1);
  const typed = await targetsOfType(7, 1);
  const closed = await targetsOfType(8, 1); // A type that lists no set type takes none.
  const [row] = (await fixture.db.pool.query("select controller_id as id from targets where id = $1", closed)).rows;
  await expect(assign([...plain, ...typed, ...closed])).rejects.toMatchObject({
    code: "targetTypeIncompatible",
    info: { targets: [{ controllerId: row.id }] },
  });
  expect(await readTarget(fixture, plain[0] ?? 0)).toMatchObject({ assignedSetId: null });
  expect(await assign([...plain, ...typed])).toMatchObject({ actions: [{}, {}] });
});

test("targets out of the caller's scope are skipped like unknown ones", async () => {
  const [plain, typed] = [await newTargets(fixture, 1), await targetsOfType(7, 1)];
  const limited = contextOf({ targetTypeScopes: { UPDATE_TARGET: [7] } });
  const answer = await assign([...plain, ...typed], 100, limited);
  expect(answer.actions).toEqual([{ id: expect.any(Number), controllerId: `d${typed[0]}` }]);
});

test.each([
  { autoclose: undefined, status: CANCELING, active: true, message: "Update Server: cancel obsolete action due to new update" },
  { autoclose: true, status: CANCELED, active: false, message: "Update Server: close obsolete action due to new update" },
])("an assignment supersedes open actions (autoclose $autoclose), not migration steps", async ({ autoclose, status, active, message }) => {
  const [target = 0] = await newTargets(fixture, 1);
  const step = await fixture.actions.assignSet({ set: reservedSet(102, true), items: itemsOf([target]), initiator: "admin" }, contextOf());
  const old = await assign([target], 101);
  await setSetting(fixture, "repository.actions.autoclose.enabled", autoclose);
  await assign([target], 100);
  await setSetting(fixture, "repository.actions.autoclose.enabled", undefined);
  const oldId = Number(old.actions?.[0]?.id);
  expect(await readAction(fixture, oldId)).toMatchObject({ status, active, revision: 2 });
  expect((await readHistory(fixture, oldId)).at(-1)).toMatchObject({ status, messages: [message] });
  expect(await readAction(fixture, Number(step.actions?.[0]?.id))).toMatchObject({ status: RUNNING, active: true, revision: 1 });
});

test("by default an action that is being cancelled stays so", async () => {
  const [target = 0] = await newTargets(fixture, 1);
  const old = Number((await assign([target], 101)).actions?.[0]?.id);
  await assign([target], 100);
  await assign([target], 102);
  expect(await readAction(fixture, old)).toMatchObject({ status: CANCELING, revision: 2 });
});

test("an assignment takes the target out of rollouts that have not begun", async () => {
  const [target = 0, other = 0] = await newTargets(fixture, 2);
  await seedMembers(fixture, { rolloutId: 1, groupId: 1 }, [target, other]);
  await fixture.actions.openFence({ rolloutId: 1, epoch: 1 }, contextOf());
  await fixture.actions.scheduleChunk(chunkOf(1, { setId: 101 }), contextOf());
  await assign([target]);
  expect((await actionsOfRollout(fixture, 1)).map((a) => a.status)).toEqual([CANCELED, actionStatus.SCHEDULED]);
  expect(await progressOf(fixture, 1)).toEqual([1, 0, 0, 0, 1]);
});

test("a repeated command gets the first answer, even while the first is still running", async () => {
  const ids = await newTargets(fixture, 3);
  const once = contextOf({}, "the same command");
  const [first, second] = await Promise.all([assign(ids, 100, once), assign(ids, 100, once)]);
  expect(first).toEqual(second);
  expect(first.actions).toHaveLength(3);
  expect(await assign(ids, 100, once)).toEqual(first);
  const { rows } = await fixture.db.pool.query("select from actions where target_id = any($1::int[])", [ids]);
  expect(rows).toHaveLength(3);
});

test("two assignments of different sets to the same targets both happen, one after the other", async () => {
  const ids = await newTargets(fixture, 50);
  await Promise.all([assign(ids, 100), assign(ids.toReversed(), 101), assign(ids, 102)]);
  const { rows } = await fixture.db.pool.query(
    "select status, count(*) as n from actions where target_id = any($1::int[]) group by 1 order by 1",
    [ids],
  );
  expect(rows).toEqual([
    { status: RUNNING, n: 50 },
    { status: CANCELING, n: 100 },
  ]);
});

test("a target has at most 2000 actions", async () => {
  const [full = 0, free = 0] = await newTargets(fixture, 2);
  await fixture.db.pool.query(
    `insert into actions (tenant_id, id, target_id, controller_id, set_id, status, active, force_type, initiated_by, created_by, last_modified_by)
     select 1, 1000000 + n, $1, $2, 99, 0, false, 1, 'a', 'a', 'a' from generate_series(1, 2000) n`,
    [full, `d${full}`],
  );
  await expect(assign([free, full])).rejects.toMatchObject({ code: "quotaTooManyEntries", message: expect.stringContaining(`d${full}`) });
  expect(await readTarget(fixture, free)).toMatchObject({ assignedSetId: null });
  await fixture.db.pool.query("delete from actions where target_id = $1", [full]);
});

test("after all tests of this file no sequence is broken", async () => {
  expect(await brokenSequences(fixture)).toEqual([]);
  expect(fixture.faults).toContain("controller.assign.after-commit");
});
