import { actionStatus, forceType, updateStatus } from "@harrier/contracts";
import type { AssignmentItem } from "@harrier/rpc";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  assignTo,
  brokenSequences,
  type CommandsFixture,
  chunkOf,
  commandsFixture,
  contextOf,
  newTarget,
  openRollout,
  progressOf,
  runGroup,
} from "../commands.fixture.ts";
import { readAction, readHistory, readOutbox, readTarget } from "../device.fixture.ts";

let fixture: CommandsFixture;
beforeAll(async () => {
  fixture = await commandsFixture();
});
afterAll(() => fixture.close());

const { CANCELED, CANCELING, DOWNLOADED, RUNNING } = actionStatus;

/** Makes a new target with one open action of a set. */
async function newAction({ installedSetId = null, ...change }: Partial<AssignmentItem> & { installedSetId?: number | null } = {}) {
  const target = await newTarget(fixture, { installedSetId });
  return { target, controllerId: `d${target}`, actionId: await assign(target, 100, change) };
}

const assign = (target: number, setId: number, change: Partial<AssignmentItem> = {}): Promise<number> =>
  assignTo(fixture, target, { setId, forceType: "soft", ...change });

const cancel = (controllerId: string, actionId: number, force = false) =>
  fixture.actions.cancelAction({ controllerId, actionId, force }, contextOf());
const force = (controllerId: string, actionId: number) =>
  fixture.actions.forceAction({ controllerId, actionId, ifRevisions: [] }, contextOf());

test("a cancellation waits for the device; a second one, and a force quit too early, are rejected", async () => {
  const { controllerId, actionId, target } = await newAction();
  await expect(cancel(controllerId, actionId, true)).rejects.toMatchObject({ code: "actionNotForceQuitable" });
  expect(await fixture.roundTrips.during(() => cancel(controllerId, actionId))).toBe(1);
  expect(await readAction(fixture, actionId)).toMatchObject({ status: CANCELING, active: true, revision: 2 });
  expect((await readHistory(fixture, actionId)).at(-1)).toMatchObject({
    status: CANCELING,
    messages: ["Update Server: manual cancelation requested"],
  });
  expect(await readTarget(fixture, target)).toMatchObject({ assignedSetId: 100, updateStatus: updateStatus.pending });
  await expect(cancel(controllerId, actionId)).rejects.toMatchObject({ code: "actionNotCancelable" });
});

test("a force quit closes the action at once, and the target falls back to its installed set", async () => {
  const { controllerId, actionId, target } = await newAction({ installedSetId: 101 });
  await cancel(controllerId, actionId);
  expect(await fixture.roundTrips.during(() => cancel(controllerId, actionId, true))).toBe(1);
  expect(await readAction(fixture, actionId)).toMatchObject({ status: CANCELED, active: false, revision: 3 });
  expect((await readHistory(fixture, actionId)).at(-1)).toMatchObject({
    status: CANCELED,
    messages: ["Update Server: A force quit has been performed."],
  });
  expect(await readTarget(fixture, target)).toMatchObject({ assignedSetId: 101, updateStatus: updateStatus.in_sync });
  await expect(cancel(controllerId, actionId)).rejects.toMatchObject({ code: "actionNotCancelable" });
  await expect(cancel(controllerId, actionId, true)).rejects.toMatchObject({ code: "actionNotForceQuitable" });
});

test("a force quit beside open actions: the set of the oldest of them is assigned, and the status stays", async () => {
  const { controllerId, actionId, target } = await newAction();
  await assign(target, 101);
  const newest = await assign(target, 102);
  await cancel(controllerId, newest);
  await cancel(controllerId, newest, true);
  expect(await readTarget(fixture, target)).toMatchObject({ assignedSetId: 100, updateStatus: updateStatus.pending });
  expect(await readAction(fixture, actionId)).toMatchObject({ status: CANCELING, active: true });
});

test("the group of a rollout counts a cancelled action as cancelled", async () => {
  const target = await newTarget(fixture);
  await openRollout(fixture, [target]);
  await fixture.actions.scheduleChunk(chunkOf(1), contextOf());
  const { rows } = await fixture.db.pool.query("select id from actions where rollout_id = 1");
  await expect(cancel(`d${target}`, rows[0].id)).rejects.toMatchObject({ code: "actionNotCancelable" }); // the action has not started yet
  await runGroup(fixture, chunkOf(1));
  await cancel(`d${target}`, rows[0].id);
  expect(await progressOf(fixture, 1)).toEqual([0, 1, 0, 0, 0]);
  await cancel(`d${target}`, rows[0].id, true);
  expect(await progressOf(fixture, 1)).toEqual([0, 0, 0, 0, 1]);
});

test("unknown actions, those of another target and those out of scope are not found", async () => {
  const mine = await newAction();
  const other = await newAction();
  const limited = contextOf({ targetTypeScopes: { UPDATE_TARGET: [7] } });
  for (const change of [cancel, force]) {
    await expect(change("d-unknown", mine.actionId)).rejects.toMatchObject({ code: "entityNotFound", info: { type: "Target" } });
    await expect(change(mine.controllerId, 999_999)).rejects.toMatchObject({ code: "entityNotFound", info: { type: "Action" } });
    await expect(change(mine.controllerId, 2 ** 40)).rejects.toMatchObject({ code: "entityNotFound", info: { type: "Action" } });
    await expect(change(mine.controllerId, other.actionId)).rejects.toMatchObject({ code: "stateNotFound" });
  }
  const { controllerId, actionId } = mine;
  await expect(fixture.actions.cancelAction({ controllerId, actionId, force: false }, limited)).rejects.toMatchObject({
    info: { type: "Target" },
  });
  await expect(fixture.actions.forceAction({ controllerId, actionId, ifRevisions: [] }, limited)).rejects.toMatchObject({
    info: { type: "Target" },
  });
  expect(await readAction(fixture, other.actionId)).toMatchObject({ status: RUNNING, revision: 1 });
});

test("whoever demands a revision changes the action that was read, and no other; what is not there says so", async () => {
  const { controllerId, actionId } = await newAction();
  const forceAt = (ifRevisions: number[], id = actionId) =>
    fixture.actions.forceAction({ controllerId, actionId: id, ifRevisions }, contextOf());
  await expect(forceAt([2, 3])).rejects.toMatchObject({ code: "entityChanged" });
  expect(await readAction(fixture, actionId)).toMatchObject({ revision: 1 });
  await expect(forceAt([1], 999_999)).rejects.toMatchObject({ code: "entityNotFound", info: { type: "Action" } });
  await expect(forceAt([1], (await newAction()).actionId)).rejects.toMatchObject({ code: "stateNotFound" });
  const both = await Promise.allSettled([forceAt([1]), forceAt([1])]);
  expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(await readAction(fixture, actionId)).toMatchObject({ revision: 2 });
});

const forceTypeOf = async (id: number) =>
  (await fixture.db.pool.query("select force_type from actions where id = $1", [id])).rows[0].force_type;

test.each([
  { was: "soft", forceTime: 0, revision: 2 },
  { was: "downloadonly", forceTime: 0, revision: 2 },
  { was: "timeforced", forceTime: Date.now() + 3_600_000, revision: 2 },
])("a $was action becomes forced, with an entry and an event", async ({ was, forceTime, revision }) => {
  const { controllerId, actionId } = await newAction({ forceType: was, forceTime });
  expect(await fixture.roundTrips.during(() => force(controllerId, actionId))).toBe(1);
  expect(await forceTypeOf(actionId)).toBe(forceType.forced);
  expect(await readAction(fixture, actionId)).toMatchObject({ status: RUNNING, active: true, revision });
  const event = (await readOutbox(fixture)).at(-1);
  expect(event?.type).toBe("io.update.action.forced.v1");
  const [item = []] = (event?.items ?? []) as unknown[][];
  expect(item.slice(0, 7)).toEqual([actionId, controllerId, 2, RUNNING, RUNNING, true, forceType.forced]);
  await force(controllerId, actionId);
  expect(await readAction(fixture, actionId)).toMatchObject({ revision });
});

test("a timeforced action whose time has come does not change", async () => {
  const { controllerId, actionId } = await newAction({ forceType: "timeforced", forceTime: Date.now() - 1_000 });
  await force(controllerId, actionId);
  expect(await forceTypeOf(actionId)).toBe(forceType.timeforced);
  expect(await readAction(fixture, actionId)).toMatchObject({ revision: 1 });
});

test("a finished downloadonly action stays in the bucket in which its group has counted it", async () => {
  const { controllerId, actionId } = await newAction({ forceType: "downloadonly", forceTime: 0 });
  await fixture.db.pool.query("update actions set status = $2, active = false where id = $1", [actionId, DOWNLOADED]);
  await force(controllerId, actionId);
  expect(await forceTypeOf(actionId)).toBe(forceType.downloadonly);
});

test("two changes at the same moment count once", async () => {
  const { controllerId, actionId } = await newAction();
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => cancel(controllerId, actionId)));
  expect(outcomes.map((o) => o.status).toSorted()).toEqual(["fulfilled", "rejected", "rejected"]);
  expect(await readAction(fixture, actionId)).toMatchObject({ status: CANCELING, revision: 2 });
});

test("after all tests of this file no sequence is broken", async () => {
  expect(await brokenSequences(fixture)).toEqual([]);
  expect(fixture.faults).toContain("controller.cancel.after-commit");
});
