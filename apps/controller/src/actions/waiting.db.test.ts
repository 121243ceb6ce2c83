import { actionStatus, updateStatus } from "@harrier/contracts";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
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
import { readAction, readHistory, readOutbox, readTarget } from "../device.fixture.ts";

const flow = "user.confirmation.flow.enabled";
const { CANCELED, CANCELING, RUNNING, WAIT_FOR_CONFIRMATION } = actionStatus;
const waits = "Waiting for the confirmation by the device before processing with the deployment";

let fixture: CommandsFixture;
beforeAll(async () => {
  fixture = await commandsFixture();
});
beforeEach(() => setSetting(fixture, flow, true));
afterEach(() => setSetting(fixture, flow, undefined));
afterAll(() => fixture.close());

async function autoConfirmed(initiator: string | null, remark: string | null): Promise<number> {
  const id = await newTarget(fixture);
  const values = [id, initiator, remark];
  const sql = "insert into auto_confirmations (tenant_id, target_id, initiator, remark, created_by) values (1, $1, $2, $3, 'operator')";
  await fixture.db.pool.query(sql, values);
  return id;
}

const assign = (target: number, change: Parameters<typeof assignTo>[2] = {}): Promise<number> => assignTo(fixture, target, change);

/** Reads the state of an action, its first entry and its newest event, which must agree. */
async function begun(actionId: number) {
  const { status, active, revision } = await readAction(fixture, actionId);
  const entry = (await readHistory(fixture, actionId)).at(-1);
  const items = (await readOutbox(fixture)).flatMap((row) => row.items as unknown[][]);
  const event = items.findLast((item) => item[0] === actionId);
  expect(entry?.revision).toBe(revision);
  expect([event?.[2], event?.[4], event?.[5], event?.[9], event?.[11]]).toEqual([revision, status, active, entry?.messages, entry?.status]);
  return { status, active, entry: entry?.status, messages: entry?.messages };
}

// The text is that of contract device.md §7.1.
const initiated = "Assignment initiated by user 'admin'";
const automatic = (initiator: string, remark: string) =>
  `Assignment automatically confirmed by initiator '${initiator}'. \n\nAuto confirmation activated by system user: 'operator' \n\nRemark: ${remark}`;
const confirmed = { status: RUNNING, active: true, entry: WAIT_FOR_CONFIRMATION };
const waiting = { status: WAIT_FOR_CONFIRMATION, active: true, entry: WAIT_FOR_CONFIRMATION };

test.each([
  { given: "nothing said", change: {}, expected: { ...waiting, messages: [initiated, waits] } },
  { given: "required", change: { confirmationRequired: true }, expected: { ...waiting, messages: [initiated, waits] } },
  {
    given: "not required",
    change: { confirmationRequired: false },
    expected: { ...confirmed, messages: [initiated, "Assignment confirmed by initiator [admin]."] },
  },
])("an assignment with the flow on, $given", async ({ change, expected }) => {
  const target = await newTarget(fixture);
  expect(await begun(await assign(target, change))).toEqual(expected);
  expect(await readTarget(fixture, target)).toMatchObject({ assignedSetId: 100, updateStatus: updateStatus.pending });
});

test("a target with auto-confirmation runs at once, in the name of the user who activated it", async () => {
  const told = await autoConfirmed("me", "always");
  const silent = await autoConfirmed(null, null);
  expect(await begun(await assign(told))).toEqual({ ...confirmed, messages: [initiated, automatic("me", "always")] });
  expect(await begun(await assign(silent))).toEqual({ ...confirmed, messages: [initiated, automatic("n/a", "n/a")] });
  // Where no confirmation is needed, the auto-confirmation of the target has no effect.
  const needless = await assign(told, { confirmationRequired: false, setId: 101 });
  expect((await begun(needless)).messages).toEqual([initiated, "Assignment confirmed by initiator [admin]."]);
});

test("with the flow off no action waits, and no history entry names a confirmation", async () => {
  await setSetting(fixture, flow, undefined);
  const plain = { status: RUNNING, active: true, entry: RUNNING, messages: [initiated] };
  expect(await begun(await assign(await newTarget(fixture), { confirmationRequired: true }))).toEqual(plain);
  expect(await begun(await assign(await autoConfirmed("me", null)))).toEqual(plain);
});

test("many assignments in one request, each with its own confirmation, are one round trip", async () => {
  const ids = [await newTarget(fixture), await autoConfirmed("me", null), await newTarget(fixture), await newTarget(fixture)];
  const items = ids.map((id, n) => itemOf(`d${id}`, n === 2 ? { confirmationRequired: false } : {}));
  let actions: { id?: unknown }[] = [];
  const roundTrips = await fixture.roundTrips.during(async () => {
    ({ actions = [] } = await fixture.actions.assignSet({ set: reservedSet(), items, initiator: "admin" }, contextOf()));
  });
  expect(roundTrips).toBe(1);
  const statuses = await Promise.all(actions.map(async ({ id }) => (await begun(Number(id))).status));
  expect(statuses).toEqual([WAIT_FOR_CONFIRMATION, RUNNING, RUNNING, WAIT_FOR_CONFIRMATION]);
});

test.each([
  { autoclose: undefined, status: CANCELING, active: true },
  { autoclose: true, status: CANCELED, active: false },
])("a waiting action is superseded like a running one (autoclose $autoclose)", async ({ autoclose, status, active }) => {
  const target = await newTarget(fixture);
  const old = await assign(target);
  await setSetting(fixture, "repository.actions.autoclose.enabled", autoclose);
  await assign(target, { setId: 101 });
  await setSetting(fixture, "repository.actions.autoclose.enabled", undefined);
  expect(await readAction(fixture, old)).toMatchObject({ status, active, revision: 2 });
});

test("a waiting action can be cancelled and force quit", async () => {
  const target = await newTarget(fixture);
  const actionId = await assign(target);
  const key = { controllerId: `d${target}`, actionId };
  await fixture.actions.cancelAction({ ...key, force: false }, contextOf());
  expect(await readAction(fixture, actionId)).toMatchObject({ status: CANCELING, active: true });
  await fixture.actions.cancelAction({ ...key, force: true }, contextOf());
  expect(await readAction(fixture, actionId)).toMatchObject({ status: CANCELED, active: false });
});

/** Starts a group of these targets. */
async function group(targets: number[], confirmationRequired?: boolean) {
  const { rolloutId } = await openRollout(fixture, targets);
  await runGroup(fixture, chunkOf(rolloutId, confirmationRequired === undefined ? {} : { confirmationRequired }));
  const actions = await actionsOfRollout(fixture, rolloutId);
  return { rolloutId, started: await Promise.all(actions.map(({ id }) => begun(id))) };
}

test("in a group that needs confirmation waiting targets count as running, those with auto-confirmation run", async () => {
  const { rolloutId, started } = await group([await newTarget(fixture), await autoConfirmed("me", "r")]);
  const begins = `Initiated by Rollout Group 'group-1' [Rollout rollout ${rolloutId}:${rolloutId}]`;
  expect(started).toEqual([
    { ...waiting, messages: [begins, waits] },
    { ...confirmed, messages: [begins, automatic("me", "r")] },
  ]);
  expect(await progressOf(fixture, rolloutId)).toEqual([0, 2, 0, 0, 0]);
  const events = (await readOutbox(fixture)).filter((row) => (row.common as { rolloutId?: number }).rolloutId === rolloutId);
  expect(events.map(({ type, items }) => [type, items.length])).toEqual([
    ["io.update.action.created.v1", 2],
    ["io.update.action.status_changed.v1", 2],
  ]);
});

test("a group without confirmation is confirmed by the creator of the rollout; with the flow off no confirmation is needed", async () => {
  const { started } = await group([await newTarget(fixture)], false);
  expect(started).toMatchObject([{ ...confirmed, messages: [expect.any(String), "Assignment confirmed by initiator [creator]."] }]);
  await setSetting(fixture, flow, undefined);
  const off = await group([await newTarget(fixture)], true);
  expect(off.started).toMatchObject([
    { status: RUNNING, entry: RUNNING, messages: [expect.stringContaining("Initiated by Rollout Group")] },
  ]);
});

test("a target that has the set already is skipped, whether or not it would have to confirm", async () => {
  const target = await newTarget(fixture);
  await assign(target, { confirmationRequired: false });
  const { rolloutId, started } = await group([target]);
  expect(started).toMatchObject([{ status: actionStatus.FINISHED, active: false }]);
  expect(await progressOf(fixture, rolloutId)).toEqual([0, 0, 1, 0, 0]);
});

test("after all tests of this file every action has history and events 1..revision, and progress equals the counts", async () => {
  expect(await brokenSequences(fixture)).toEqual([]);
  for (let rolloutId = 1; rolloutId < fixture.next.rollout; rolloutId += 1) {
    expect(await progressOf(fixture, rolloutId)).toEqual(await countedProgress(fixture, rolloutId));
  }
});
