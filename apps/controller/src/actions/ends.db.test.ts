import { actionStatus, updateStatus } from "@harrier/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  actionsOfRollout,
  brokenSequences,
  type CommandsFixture,
  chunkOf,
  commandsFixture,
  contextOf,
  countedProgress,
  itemOf,
  newTargets,
  progressOf,
  reservedSet,
  runGroup,
  seedMembers,
} from "../commands.fixture.ts";
import { readHistory, readTarget, seedSet } from "../device.fixture.ts";

let fixture: CommandsFixture;
beforeAll(async () => {
  fixture = await commandsFixture();
  for (const id of [200, 201, 202]) await seedSet(fixture, { id, modules: 0 });
});
afterAll(() => fixture.close());

const { RUNNING, SCHEDULED, CANCELED, CANCELING } = actionStatus;

const assign = (ids: number[], setId: number, migrationStep = false) =>
  fixture.actions.assignSet(
    { set: reservedSet(setId, migrationStep), items: ids.map((id) => itemOf(`d${id}`)), initiator: "admin" },
    contextOf(),
  );
const cancelSet = (setId: number, force: boolean, cursor = -1) =>
  fixture.actions.cancelSetChunk({ setId, cursor, force, initiator: "admin" }, contextOf());
const statusesOf = async (setId: number) =>
  (await fixture.db.pool.query("select status, active from actions where set_id = $1 order by target_id", [setId])).rows;

test("cancelling an invalid set asks each device once, however often it is called", async () => {
  const ids = await newTargets(fixture, 3);
  await assign(ids, 200);
  expect(await cancelSet(200, false)).toMatchObject({ done: true, canceled: 3 });
  expect(await statusesOf(200)).toEqual(ids.map(() => ({ status: CANCELING, active: true })));
  expect(await readTarget(fixture, ids[0] ?? 0)).toMatchObject({ assignedSetId: 200, updateStatus: updateStatus.pending });
  expect(await cancelSet(200, false)).toMatchObject({ done: true, canceled: 0 });
  expect(await brokenSequences(fixture)).toEqual([]);
});

test("cancelling by force: canceling, then canceled; targets go on with other open actions, or are as before", async () => {
  const [alone = 0, stepped = 0, requested = 0] = await newTargets(fixture, 3);
  await assign([stepped], 202, true);
  await assign([alone, stepped, requested], 201);
  const [first] = (await assign([requested], 100)).actions ?? [];
  expect(first).toBeDefined();
  expect(await cancelSet(201, true)).toMatchObject({ done: true, canceled: 2 });
  expect(await statusesOf(201)).toEqual([alone, stepped, requested].map(() => ({ status: CANCELED, active: false })));
  expect(await readTarget(fixture, alone)).toMatchObject({ assignedSetId: null, updateStatus: updateStatus.in_sync });
  expect(await readTarget(fixture, stepped)).toMatchObject({ assignedSetId: 202, updateStatus: updateStatus.pending });
  expect(await readTarget(fixture, requested)).toMatchObject({ assignedSetId: 100, updateStatus: updateStatus.pending });
  const { rows } = await fixture.db.pool.query("select id::int from actions where target_id = $1 and set_id = 201", [alone]);
  expect((await readHistory(fixture, rows[0].id)).map(({ status }) => status)).toEqual([RUNNING, CANCELING, CANCELED]);
  expect(await brokenSequences(fixture)).toEqual([]);
});

test("a stop needs a closed fence; actions that have not begun are deleted, others are cancelled or left alone", async () => {
  const [begun, waiting] = [await newTargets(fixture, 2), await newTargets(fixture, 3)];
  await seedMembers(fixture, { rolloutId: 31, groupId: 1 }, begun);
  await seedMembers(fixture, { rolloutId: 31, groupId: 2 }, waiting);
  await runGroup(fixture, chunkOf(31));
  await fixture.actions.scheduleChunk(chunkOf(31, { groupId: 2 }), contextOf());
  const stop = (keepRunning: boolean) =>
    fixture.actions.stopChunk({ rolloutId: 31, cursor: -1, keepRunning, force: false, initiator: "admin" }, contextOf());
  await expect(stop(true)).rejects.toMatchObject({ code: "fenced" });
  await fixture.db.pool.query(
    `insert into action_history (tenant_id, action_id, revision, status, occurred_at)
     select 1, min(id), 1, status, now() from actions where rollout_id = 31 and status = $1 group by status`,
    [SCHEDULED], // as a former release has written it
  );
  await fixture.actions.closeFence({ rolloutId: 31, epoch: 1 }, contextOf());
  expect(await stop(true)).toMatchObject({ done: true, removed: 3, canceled: 0 });
  expect((await actionsOfRollout(fixture, 31)).map(({ status }) => status)).toEqual([RUNNING, RUNNING]);
  const told = await fixture.db.pool.query(
    "select json_array_length(items) as n from outbox where type = 'io.update.action.deleted.v1' and common ->> 'rolloutId' = '31'",
  );
  expect(told.rows).toEqual([{ n: 3 }]);
  expect(await stop(false)).toMatchObject({ done: true, removed: 0, canceled: 2 });
  expect((await actionsOfRollout(fixture, 31)).map(({ status }) => status)).toEqual([CANCELING, CANCELING]);
  expect(await progressOf(fixture, 31, 2)).toEqual([0, 0, 0, 0, 0]);
  for (const group of [1, 2]) expect(await progressOf(fixture, 31, group)).toEqual(await countedProgress(fixture, 31, group));
  const { rows } = await fixture.db.pool.query(
    "select count(*)::int as n from action_history h where not exists (select from actions a where a.id = h.action_id)",
  );
  expect(rows).toEqual([{ n: 0 }]);
  expect(await brokenSequences(fixture)).toEqual([]);
  await expect(fixture.actions.scheduleChunk(chunkOf(31, { groupId: 2 }), contextOf())).rejects.toMatchObject({ code: "fenced" });
});

test("a deletion force quits actions that have begun, also those being cancelled, and deletes the rest", async () => {
  const [requested = 0, running = 0, done = 0] = await newTargets(fixture, 3);
  const waiting = await newTargets(fixture, 2);
  await seedMembers(fixture, { rolloutId: 32, groupId: 1 }, [requested, running, done]);
  await seedMembers(fixture, { rolloutId: 32, groupId: 2 }, waiting);
  await runGroup(fixture, chunkOf(32));
  await fixture.actions.scheduleChunk(chunkOf(32, { groupId: 2 }), contextOf());
  const idOf = new Map((await actionsOfRollout(fixture, 32)).map(({ id, targetId }) => [targetId, Number(id)]));
  await fixture.actions.cancelAction({ controllerId: `d${requested}`, actionId: idOf.get(requested) ?? 0, force: false }, contextOf());
  await fixture.db.pool.query("update actions set status = 0, active = false where id = $1", [idOf.get(done)]);
  await fixture.actions.closeFence({ rolloutId: 32, epoch: 1 }, contextOf());
  const end = () =>
    fixture.actions.stopChunk({ rolloutId: 32, cursor: -1, keepRunning: false, force: true, initiator: "admin" }, contextOf());
  expect(await end()).toMatchObject({ done: true, removed: 2, canceled: 1 });
  expect((await actionsOfRollout(fixture, 32)).map(({ status }) => status)).toEqual([CANCELED, CANCELED, 0]);
  expect(await readTarget(fixture, running)).toMatchObject({ assignedSetId: null, updateStatus: updateStatus.in_sync });
  expect((await readHistory(fixture, idOf.get(running) ?? 0)).at(-2)?.messages).toEqual([
    "Update Server: cancel action because its rollout was deleted",
  ]);
  expect(await end()).toMatchObject({ done: true, removed: 0, canceled: 0 });
  expect(await brokenSequences(fixture)).toEqual([]);
});
