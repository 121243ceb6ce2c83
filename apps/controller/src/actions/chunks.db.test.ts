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
  newTarget,
  openRollout,
  progressOf,
  runGroup,
  setSetting,
} from "../commands.fixture.ts";
import { readAction, readHistory, readOutbox, readTarget, seedActions } from "../device.fixture.ts";

let fixture: CommandsFixture;
beforeAll(async () => {
  fixture = await commandsFixture();
});
afterAll(() => fixture.close());

const { RUNNING, SCHEDULED, CANCELED, CANCELING, FINISHED } = actionStatus;

const schedule = (rolloutId: number, change = {}) => fixture.actions.scheduleChunk(chunkOf(rolloutId, change), contextOf());
const start = (rolloutId: number, change = {}) => fixture.actions.startChunk(chunkOf(rolloutId, change), contextOf());

test("scheduling creates one inactive action per member with history, delta and one outbox row", async () => {
  const { rolloutId, targetIds } = await openRollout(fixture, 3);
  const before = (await readOutbox(fixture)).length;
  const roundTrips = await fixture.roundTrips.during(async () => {
    expect(await schedule(rolloutId)).toEqual({ cursor: 2, done: true, created: 3 });
  });
  expect(roundTrips).toBe(2); // the check of the group and the chunk; the ids are taken over another connection
  const actions = await actionsOfRollout(fixture, rolloutId);
  expect(actions).toEqual(
    targetIds.map((targetId) => ({ id: expect.any(Number), targetId, status: SCHEDULED, active: false, revision: 1 })),
  );
  const first = actions[0]?.id ?? 0;
  expect(await readHistory(fixture, first)).toMatchObject([{ revision: 1, status: SCHEDULED, messages: [] }]);
  expect(await progressOf(fixture, rolloutId)).toEqual([3, 0, 0, 0, 0]);
  const rows = (await readOutbox(fixture)).slice(before);
  expect(rows).toMatchObject([
    {
      topic: "action-events",
      type: "io.update.action.created.v1",
      common: {
        tenant: "DEFAULT",
        distributionSet: { id: 100, name: "set 100", version: "1.0" },
        rolloutId,
        rolloutGroupId: 1,
        initiatedBy: "creator",
      },
      traceparent: expect.stringContaining("1111"),
    },
  ]);
  expect(rows[0]?.items[0]).toEqual([
    first,
    `d${targetIds[0]}`,
    1,
    null,
    SCHEDULED,
    false,
    1,
    1000,
    null,
    null,
    expect.any(Number),
    SCHEDULED,
  ]);
  expect(await readTarget(fixture, targetIds[0] ?? 0)).toMatchObject({ assignedSetId: null, updateStatus: updateStatus.registered });
});

test("that an action was scheduled is no row, shown with the time of the action; one that a former release has written is shown once", async () => {
  const { rolloutId } = await openRollout(fixture, 2);
  await schedule(rolloutId);
  const { rows: stored } = await fixture.db.pool.query(
    `select a.id, extract(epoch from a.created_at) * 1000 as ms, h.action_id
       from actions a left join action_history h on h.tenant_id = a.tenant_id and h.action_id = a.id where a.rollout_id = $1 order by a.id`,
    [rolloutId],
  );
  expect(stored.map((row) => row.action_id)).toEqual([null, null]);
  const [first, second] = stored.map((row) => ({ id: Number(row.id), ms: Math.floor(row.ms) }));
  expect(await readHistory(fixture, first?.id ?? 0)).toMatchObject([{ revision: 1, occurredAt: expect.closeTo(first?.ms ?? 0, -1) }]);
  await fixture.db.pool.query(
    "insert into action_history (tenant_id, action_id, revision, status, occurred_at) values (1, $1, 1, 8, 'epoch')",
    [second?.id],
  );
  expect(await readHistory(fixture, second?.id ?? 0)).toMatchObject([{ revision: 1, status: SCHEDULED, occurredAt: 0 }]);
  // What is known of another attempt is all in rows, and so are assignments.
  const makeAttempt = (n: number) => fixture.db.pool.query("update actions set attempt = $2 where id = $1", [first?.id, n]);
  await makeAttempt(2);
  expect(await readHistory(fixture, first?.id ?? 0)).toEqual([]);
  await makeAttempt(1);
});

test("a repeated chunk creates nothing, cancels nothing and returns the same cursor", async () => {
  const { rolloutId } = await openRollout(fixture, 4);
  await schedule(rolloutId);
  const other = await openRollout(
    fixture,
    (await actionsOfRollout(fixture, rolloutId)).map((a) => a.targetId),
  );
  await schedule(other.rolloutId);
  // The late repetition of the first call must not take the targets back.
  expect(await schedule(rolloutId)).toEqual({ cursor: 3, done: true, created: 0 });
  expect((await actionsOfRollout(fixture, other.rolloutId)).map((a) => a.status)).toEqual([SCHEDULED, SCHEDULED, SCHEDULED, SCHEDULED]);
  expect(await progressOf(fixture, rolloutId)).toEqual([0, 0, 0, 0, 4]);
});

test("a chunk takes one id per remaining member, and none for members that do not exist", async () => {
  const { rolloutId } = await openRollout(fixture, 3);
  const nextId = async () => {
    const { rows } = await fixture.db.pool.query("select next_id as id from id_counters where tenant_id = 1 and kind = 'action'");
    return Number(rows[0].id);
  };
  const before = await nextId();
  expect(await schedule(rolloutId, { cursor: 0 })).toEqual({ cursor: 2, done: true, created: 2 });
  expect(await nextId()).toBe(before + 2);
  expect(await schedule(rolloutId, { cursor: 2 })).toEqual({ cursor: 2, done: true, created: 0 });
  expect(await nextId()).toBe(before + 2);
  expect(await schedule(rolloutId)).toEqual({ cursor: 2, done: true, created: 1 });
});

test("the last rollout to claim a target wins; migration steps are not superseded", async () => {
  const { rolloutId, targetIds } = await openRollout(fixture, 2);
  const step = await openRollout(fixture, targetIds);
  await schedule(rolloutId);
  await fixture.actions.scheduleChunk(
    { ...chunkOf(step.rolloutId), set: { ...chunkOf(1).set, id: 101, migrationStep: true } },
    contextOf(),
  );
  expect((await actionsOfRollout(fixture, rolloutId)).map((a) => [a.status, a.revision])).toEqual([
    [CANCELED, 2],
    [CANCELED, 2],
  ]);
  const [canceled] = await actionsOfRollout(fixture, rolloutId);
  expect((await readHistory(fixture, canceled?.id ?? 0)).at(-1)).toMatchObject({
    status: CANCELED,
    messages: ["Update Server: cancel obsolete action due to new update"],
  });
  const third = await openRollout(fixture, targetIds);
  await schedule(third.rolloutId);
  expect((await actionsOfRollout(fixture, step.rolloutId)).map((a) => a.status)).toEqual([SCHEDULED, SCHEDULED]);
});

test("members whose target was deleted are skipped", async () => {
  const { rolloutId, targetIds } = await openRollout(fixture, 3);
  await fixture.targets.deleteTargets({ controllerIds: [`d${targetIds[1]}`], ifRevisions: [] }, contextOf());
  expect(await schedule(rolloutId)).toEqual({ cursor: 2, done: true, created: 2 });
});

test("starting makes the actions visible: running, set assigned, target pending, with the name of who began it", async () => {
  const { rolloutId, targetIds } = await openRollout(fixture, 2);
  await schedule(rolloutId);
  const roundTrips = await fixture.roundTrips.during(async () => {
    expect(await start(rolloutId)).toEqual({ cursor: targetIds[1], done: true, started: 2, skipped: 0 });
  });
  expect(roundTrips).toBe(1);
  const [action] = await actionsOfRollout(fixture, rolloutId);
  expect(action).toMatchObject({ status: RUNNING, active: true, revision: 2 });
  expect((await readHistory(fixture, action?.id ?? 0)).at(-1)).toMatchObject({
    revision: 2,
    status: RUNNING,
    messages: [`Initiated by Rollout Group 'group-1' [Rollout rollout ${rolloutId}:${rolloutId}]`],
  });
  expect(await readTarget(fixture, targetIds[0] ?? 0)).toMatchObject({ assignedSetId: 100, updateStatus: updateStatus.pending });
  expect(await progressOf(fixture, rolloutId)).toEqual([0, 2, 0, 0, 0]);
  expect(await start(rolloutId)).toEqual({ cursor: targetIds[1], done: true, started: 0, skipped: 0 });
  expect(await progressOf(fixture, rolloutId)).toEqual([0, 2, 0, 0, 0]);
});

test("a target that has the set assigned is skipped and keeps its open action; an installed one links to the newest action", async () => {
  const assigned = await newTarget(fixture, { assignedSetId: 100, updateStatus: updateStatus.pending });
  const has = { assignedSetId: 100, installedSetId: 100, installedActionId: 5_001, updateStatus: updateStatus.in_sync };
  const installed = await newTarget(fixture, has);
  await seedActions(fixture, [
    { id: 5_000, targetId: assigned, setId: 100 },
    { id: 5_001, targetId: installed, setId: 100, status: FINISHED, active: false },
  ]);
  const { rolloutId } = await openRollout(fixture, [assigned, installed]);
  await schedule(rolloutId);
  expect(await start(rolloutId)).toMatchObject({ started: 0, skipped: 2 });
  const actions = await actionsOfRollout(fixture, rolloutId);
  expect(actions).toMatchObject([
    { status: FINISHED, active: false, revision: 2 },
    { status: FINISHED, active: false, revision: 2 },
  ]);
  expect((await readHistory(fixture, actions[0]?.id ?? 0)).at(-1)).toMatchObject({
    status: RUNNING,
    messages: ["Update Server: Distribution Set is already assigned. Skipping this action."],
  });
  expect(await readAction(fixture, 5_000)).toMatchObject({ status: RUNNING, active: true, revision: 1 });
  expect(await readTarget(fixture, installed)).toMatchObject({ installedActionId: actions[1]?.id, updateStatus: updateStatus.in_sync });
  expect(await progressOf(fixture, rolloutId)).toEqual([0, 0, 2, 0, 0]);
});

test.each([
  { autoclose: undefined, status: CANCELING, active: true, message: "cancel obsolete action due to new update", progress: [0, 1, 0, 0, 0] },
  { autoclose: true, status: CANCELED, active: false, message: "close obsolete action due to new update", progress: [0, 0, 0, 0, 1] },
])(
  "starting supersedes what is open (autoclose $autoclose); migration steps stay",
  async ({ autoclose, status, active, message, progress }) => {
    await setSetting(fixture, "repository.actions.autoclose.enabled", autoclose);
    const first = await openRollout(fixture, 1);
    const [target = 0] = first.targetIds;
    await runGroup(fixture, chunkOf(first.rolloutId));
    const step = 6_000 + target;
    await seedActions(fixture, [{ id: step, targetId: target, setId: 102 }]);
    await fixture.db.pool.query("update actions set migration_step = true where id = $1", [step]);
    const second = await openRollout(fixture, [target]);
    await runGroup(fixture, chunkOf(second.rolloutId, { setId: 101 }));
    const [old] = await actionsOfRollout(fixture, first.rolloutId);
    expect(old).toMatchObject({ status, active, revision: 3 });
    expect((await readHistory(fixture, old?.id ?? 0)).at(-1)).toMatchObject({ status, messages: [`Update Server: ${message}`] });
    expect(await progressOf(fixture, first.rolloutId)).toEqual(progress);
    expect(await readAction(fixture, step)).toMatchObject({ status: RUNNING, revision: 1 });
    expect(await readTarget(fixture, target)).toMatchObject({ assignedSetId: 101, updateStatus: updateStatus.pending });
    await setSetting(fixture, "repository.actions.autoclose.enabled", undefined);
  },
);

test("a closed fence or another epoch does nothing", async () => {
  const { rolloutId } = await openRollout(fixture, 2);
  const context = contextOf();
  await expect(schedule(rolloutId, { epoch: 2 })).rejects.toMatchObject({ code: "fenced" });
  await schedule(rolloutId);
  await fixture.actions.openFence({ rolloutId, epoch: 2 }, context);
  await expect(start(rolloutId)).rejects.toMatchObject({ code: "fenced" });
  await fixture.actions.closeFence({ rolloutId, epoch: 1 }, context); // the call is late: the fence has moved on
  expect(await start(rolloutId, { epoch: 2 })).toMatchObject({ started: 2 });
  await fixture.actions.closeFence({ rolloutId, epoch: 2 }, context);
  await fixture.actions.openFence({ rolloutId, epoch: 2 }, context); // this call is late as well
  await fixture.actions.openFence({ rolloutId, epoch: 1 }, context);
  await expect(start(rolloutId, { epoch: 2 })).rejects.toMatchObject({ code: "fenced" });
  await expect(schedule(999)).rejects.toMatchObject({ code: "fenced" });
});

test("the chunks of a group cover it in both directions of order, and all counts agree", async () => {
  const { rolloutId } = await openRollout(fixture, (await openRollout(fixture, 1_100)).targetIds.toReversed());
  const call = { ...chunkOf(rolloutId), cursor: -1 };
  await fixture.db.pool.query(
    "select * from schedule_chunk(1, 'DEFAULT', $1, 1, 1, -1, 400, 900000, 100, 's', '1', false, 1::smallint, null, 1000, null, null, null, null, 'x', null)",
    [rolloutId],
  );
  expect(await fixture.actions.scheduleChunk({ ...call, cursor: 399 }, contextOf())).toEqual({ cursor: 1_099, done: true, created: 700 });
  let cursor = -1;
  let started = 0;
  for (let done = false; !done; ) {
    const { rows } = await fixture.db.pool.query(
      "select * from start_chunk(1, 'DEFAULT', $1, 1, 1, $2, 300, 100, 's', '1', false, false, true, 'x', 'm', null, null, null, null)",
      [rolloutId, cursor],
    );
    ({ cursor, done } = rows[0]);
    started += rows[0].started;
  }
  expect(started).toBe(1_100);
  expect(await progressOf(fixture, rolloutId)).toEqual([0, 1_100, 0, 0, 0]);
});

test("after all tests of this file every action has history and events 1..revision, and progress equals the counts", async () => {
  await fixture.db.pool.query("delete from actions where id between 5000 and 5001 or id between 6000 and 7000"); // seeded without events
  expect(await brokenSequences(fixture)).toEqual([]);
  for (let rolloutId = 1; rolloutId < fixture.next.rollout; rolloutId += 1) {
    expect(await progressOf(fixture, rolloutId)).toEqual(await countedProgress(fixture, rolloutId));
  }
  expect(new Set(fixture.faults)).toEqual(
    new Set(["schedule-chunk", "start-chunk"].flatMap((n) => [`controller.${n}.before-commit`, `controller.${n}.after-commit`])),
  );
});
