import { actionStatus } from "@harrier/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  actionsOfRollout,
  brokenSequences,
  type CommandsFixture,
  chunkOf,
  commandsFixture,
  contextOf,
  countedProgress,
  progressOf,
  seedMembers,
} from "../commands.fixture.ts";
import { seedTargets } from "../device.fixture.ts";

let fixture: CommandsFixture;
beforeAll(async () => {
  fixture = await commandsFixture();
  await seedTargets(
    fixture,
    Array.from({ length: 12 }, (_, n) => ({ id: n + 1 })),
  );
  // The id of the older one is higher: ids come in blocks, and each replica has its own.
  await seedRollout(9, "2026-01-01");
  await seedRollout(5, "2026-01-02");
  for (const rolloutId of [9, 5]) await fixture.actions.openFence({ rolloutId, epoch: 1 }, contextOf());
});
afterAll(() => fixture.close());

const { SCHEDULED, CANCELED } = actionStatus;

async function seedRollout(id: number, createdAt: string): Promise<void> {
  await fixture.database.db("rollout-engine").pool.query(
    `insert into rollouts (tenant_id, id, name, status, dynamic, target_filter, set_id, set_name, set_version, set_type_id, migration_step, force_type,
       created_by, created_at, last_modified_by)
     values (1, $1::bigint, 'r' || $1::text, 'running', true, 'name==*', 100, 'set 100', '1.0', 1, false, 1, 'x', $2, 'x')`,
    [id, createdAt],
  );
}
const join = (rolloutId: number, cursor = -1) =>
  fixture.actions.scheduleChunk({ ...chunkOf(rolloutId, { cursor }), joining: true }, contextOf());
const targetsOf = async (rolloutId: number) => (await actionsOfRollout(fixture, rolloutId)).map(({ targetId }) => targetId);

test("a joining target gets an action, and a repetition gives it no second one", async () => {
  await seedMembers(fixture, { rolloutId: 9, groupId: 1 }, [1, 2]);
  expect(await join(9)).toEqual({ cursor: 1, done: true, created: 2 });
  expect(await join(9)).toEqual({ cursor: 1, done: true, created: 0 });
  await seedMembers(fixture, { rolloutId: 9, groupId: 1 }, [4, 3]);
  expect(await join(9, 1)).toEqual({ cursor: 3, done: true, created: 2 });
  expect(await targetsOf(9)).toEqual([1, 2, 3, 4]);
  expect(await progressOf(fixture, 9)).toEqual([4, 0, 0, 0, 0]);
  expect(await progressOf(fixture, 9)).toEqual(await countedProgress(fixture, 9));
  expect(await brokenSequences(fixture)).toEqual([]);
});

test("a target that has an action of a newer rollout by then is skipped and keeps it", async () => {
  await seedMembers(fixture, { rolloutId: 5, groupId: 1 }, [5, 6]);
  await join(5);
  await seedMembers(fixture, { rolloutId: 9, groupId: 1 }, [5, 6, 7]);
  expect(await join(9, 3)).toEqual({ cursor: 6, done: true, created: 1 });
  expect(await targetsOf(9)).toEqual([1, 2, 3, 4, 7]);
  expect((await actionsOfRollout(fixture, 5)).map(({ status }) => status)).toEqual([SCHEDULED, SCHEDULED]);
});

test("the newer rollout supersedes the older one", async () => {
  await seedMembers(fixture, { rolloutId: 5, groupId: 1 }, [7]);
  expect(await join(5, 1)).toEqual({ cursor: 2, done: true, created: 1 });
  expect((await actionsOfRollout(fixture, 9)).at(-1)).toMatchObject({ targetId: 7, status: CANCELED });
});

test("when both run at the same time, in either order, the newer rollout has the target in the end", async () => {
  for (const targetId of [8, 9, 10, 11, 12]) {
    const [older, newer] = [await join(9), await join(5)];
    for (const rolloutId of [9, 5]) await seedMembers(fixture, { rolloutId, groupId: 1 }, [targetId]);
    await Promise.all([join(9, Number(older.cursor)), join(5, Number(newer.cursor))]);
    const open = (await Promise.all([9, 5].map((id) => actionsOfRollout(fixture, id)))).map((actions) =>
      actions.filter((action) => action.targetId === targetId && action.status === SCHEDULED),
    );
    expect(open.map((actions) => actions.length)).toEqual([0, 1]);
  }
});

test("behind a closed fence no target gets an action", async () => {
  await fixture.actions.closeFence({ rolloutId: 9, epoch: 1 }, contextOf());
  await expect(join(9)).rejects.toMatchObject({ code: "fenced" });
});
