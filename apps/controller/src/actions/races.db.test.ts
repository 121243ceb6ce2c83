import { actionStatus } from "@harrier/contracts";
import type pg from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import {
  actionsOfRollout,
  brokenSequences,
  type CommandsFixture,
  chunkOf,
  commandsFixture,
  contextOf,
  countedProgress,
  itemOf,
  openRollout,
  progressOf,
  reservedSet,
} from "../commands.fixture.ts";
import { deviceNamed, readTarget, reportDeps } from "../device.fixture.ts";
import { report } from "../feedback/report.ts";

let fixture: CommandsFixture;
beforeAll(async () => {
  fixture = await commandsFixture();
});
afterAll(() => fixture.close());

/** Holds what `statement` locks until `work` has been begun and waits for it. */
async function whileHeld<T>(
  statement: string,
  values: unknown[],
  work: () => Promise<T>,
  finish?: (holder: pg.PoolClient) => Promise<unknown>,
) {
  const { pool } = fixture.database.db("controller");
  const holder = await pool.connect();
  try {
    await holder.query("begin");
    await holder.query(statement, values);
    let settled = false;
    const result = work().finally(() => {
      settled = true;
    });
    result.catch(() => undefined);
    await vi.waitUntil(async () => {
      const { rows } = await pool.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and state = 'active'",
      );
      return rows.length > 0;
    });
    expect(settled).toBe(false);
    await finish?.(holder);
    await holder.query("commit");
    return await result;
  } finally {
    await holder.query("rollback");
    holder.release();
  }
}

test("two schedulers on the same group: every member once, whichever comes first", async () => {
  const { rolloutId } = await openRollout(fixture, 300);
  const answers = await Promise.all([1, 2, 3].map(() => fixture.actions.scheduleChunk(chunkOf(rolloutId), contextOf())));
  expect(answers.map((a) => a.created).toSorted((a = 0, b = 0) => Number(a) - Number(b))).toEqual([0, 0, 300]);
  expect(await progressOf(fixture, rolloutId)).toEqual([300, 0, 0, 0, 0]);
});

test("two starters on the same group: every action once", async () => {
  const { rolloutId } = await openRollout(fixture, 300);
  await fixture.actions.scheduleChunk(chunkOf(rolloutId), contextOf());
  const answers = await Promise.all([1, 2, 3].map(() => fixture.actions.startChunk(chunkOf(rolloutId), contextOf())));
  expect(answers.reduce((sum, a) => sum + Number(a.started), 0)).toBe(300);
  expect(await progressOf(fixture, rolloutId)).toEqual([0, 300, 0, 0, 0]);
});

test("two rollouts that claim the same targets in opposite order never deadlock, and each target has one of them", async () => {
  const first = await openRollout(fixture, 200);
  const second = await openRollout(fixture, first.targetIds.toReversed());
  await Promise.all([first.rolloutId, second.rolloutId].map((id) => fixture.actions.scheduleChunk(chunkOf(id), contextOf())));
  const [one = [], two = []] = await Promise.all([progressOf(fixture, first.rolloutId), progressOf(fixture, second.rolloutId)]);
  expect((one[0] ?? 0) + (two[0] ?? 0)).toBe(200);
  expect((one[4] ?? 0) + (two[4] ?? 0)).toBe(200);
});

test("closing the fence waits for a running chunk, and a later chunk does nothing", async () => {
  const { rolloutId } = await openRollout(fixture, 5);
  // A chunk holds the fence as the function does: FOR SHARE.
  const share = "select from rollout_fences where tenant_id = 1 and rollout_id = $1 for share";
  await whileHeld(share, [rolloutId], () => fixture.actions.closeFence({ rolloutId, epoch: 1 }, contextOf()));
  await expect(fixture.actions.scheduleChunk(chunkOf(rolloutId), contextOf())).rejects.toMatchObject({ code: "fenced" });
});

test("a chunk that waits behind a closing fence is rejected", async () => {
  const { rolloutId } = await openRollout(fixture, 5);
  const close = "update rollout_fences set open = false where tenant_id = 1 and rollout_id = $1";
  const chunk = whileHeld(close, [rolloutId], () => fixture.actions.scheduleChunk(chunkOf(rolloutId), contextOf()));
  await expect(chunk).rejects.toMatchObject({ code: "fenced" });
  expect(await actionsOfRollout(fixture, rolloutId)).toEqual([]);
});

test("a target that is deleted while its chunk waits gets no action", async () => {
  const { rolloutId, targetIds } = await openRollout(fixture, 3);
  const lock = "select from target_state where tenant_id = 1 and target_id = $1 for update";
  const answer = await whileHeld(
    lock,
    [targetIds[1]],
    () => fixture.actions.scheduleChunk(chunkOf(rolloutId), contextOf()),
    (holder) => holder.query("delete from targets where tenant_id = 1 and id = $1", [targetIds[1]]),
  );
  expect(answer).toMatchObject({ created: 2, done: true });
  const { rows } = await fixture.db.pool.query("select from actions where target_id = $1", [targetIds[1]]);
  expect(rows).toEqual([]);
});

test("an action that another rollout supersedes while the start waits is not started", async () => {
  const { rolloutId, targetIds } = await openRollout(fixture, 2);
  await fixture.actions.scheduleChunk(chunkOf(rolloutId), contextOf());
  const lock = "select from target_state where tenant_id = 1 and target_id = $1 for update";
  const answer = await whileHeld(
    lock,
    [targetIds[0]],
    () => fixture.actions.startChunk(chunkOf(rolloutId), contextOf()),
    (holder) => holder.query("select cancel_scheduled_actions(1, 'DEFAULT', array[$1::int], -1, 'admin', null)", [targetIds[0]]),
  );
  expect(answer).toMatchObject({ started: 1, skipped: 0 });
  expect(await readTarget(fixture, targetIds[0] ?? 0)).toMatchObject({ assignedSetId: null });
});

test("assignments race with reports of the same targets: no deadlock, and all counts agree", async () => {
  const { rolloutId, targetIds } = await openRollout(fixture, 40);
  await fixture.actions.scheduleChunk(chunkOf(rolloutId), contextOf());
  await fixture.actions.startChunk(chunkOf(rolloutId), contextOf());
  const actions = await actionsOfRollout(fixture, rolloutId);
  const reports = actions.map(({ id, targetId }) =>
    report(reportDeps(fixture), {
      device: deviceNamed(`d${targetId}`),
      actionId: id,
      channel: "deployment",
      feedback: { execution: "closed", finished: "success", details: [], code: undefined, timestamp: undefined },
    }),
  );
  const items = targetIds.toReversed().map((id) => itemOf(`d${id}`));
  const assigned = fixture.actions.assignSet({ set: reservedSet(101), items, initiator: "admin" }, contextOf());
  await Promise.all([...reports, assigned]);
  expect((await assigned).actions).toHaveLength(40);
  const after = await actionsOfRollout(fixture, rolloutId);
  expect(new Set(after.map((a) => a.status))).toEqual(new Set([actionStatus.FINISHED]));
  expect(await progressOf(fixture, rolloutId)).toEqual([0, 0, 40, 0, 0]);
});

test("after all tests of this file no sequence is broken, and progress equals the counts", async () => {
  expect(await brokenSequences(fixture)).toEqual([]);
  for (let rolloutId = 1; rolloutId < fixture.next.rollout; rolloutId += 1) {
    expect(await progressOf(fixture, rolloutId)).toEqual(await countedProgress(fixture, rolloutId));
  }
});
