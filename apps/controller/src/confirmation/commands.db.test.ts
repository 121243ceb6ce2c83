import { actionStatus } from "@harrier/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  assignTo,
  brokenSequences,
  type CommandsFixture,
  commandsFixture,
  contextOf,
  itemOf,
  newTarget,
  newTargets,
  reservedSet,
  setSetting,
} from "../commands.fixture.ts";
import { readAction, readHistory } from "../device.fixture.ts";

const flow = "user.confirmation.flow.enabled";
const { RUNNING, WAIT_FOR_CONFIRMATION } = actionStatus;
const rejected = "Update Server: Target rejected action. Action will stay in confirmation pending state.";
const revoked = "Update Server: Target revoked previously granted confirmation. Action returned to confirmation-pending state.";

let fixture: CommandsFixture;
beforeAll(async () => {
  fixture = await commandsFixture();
  await setSetting(fixture, flow, true);
});
afterAll(() => fixture.close());

/** Makes a new target with a waiting action. */
async function waiting() {
  const target = await newTarget(fixture);
  return { target, controllerId: `d${target}`, actionId: await assignTo(fixture, target) };
}

const answer = (key: { controllerId: string; actionId: number }, confirmed: boolean, more: { code?: number; details?: string[] } = {}) => ({
  controllerId: key.controllerId,
  actionId: key.actionId,
  confirmed,
  details: [],
  ifRevisions: [],
  ...more,
});
const confirm = (...requested: Parameters<typeof answer>) => fixture.actions.confirmAction(answer(...requested), contextOf());
const newest = async (actionId: number) => (await readHistory(fixture, actionId)).at(-1);

test("an answer by a user has the rules and messages of a device's, in one round trip, in the user's name", async () => {
  const key = await waiting();
  expect(await fixture.roundTrips.during(() => confirm(key, false, { code: 7, details: ["no"] }))).toBe(1);
  expect(await readAction(fixture, key.actionId)).toEqual({ status: WAIT_FOR_CONFIRMATION, active: true, revision: 2, lastStatusCode: 7 });
  expect((await newest(key.actionId))?.messages).toEqual(["no", rejected, "Confirmation status code: 7"]);
  await confirm(key, true);
  expect(await readAction(fixture, key.actionId)).toEqual({ status: RUNNING, active: true, revision: 3, lastStatusCode: null });
  const { rows } = await fixture.db.pool.query("select last_modified_by as by from actions where id = $1", [key.actionId]);
  expect(rows).toEqual([{ by: "admin" }]);
});

test("a running action can be denied while the flow is on, which applies from the moment it is switched", async () => {
  const key = await waiting();
  await confirm(key, true);
  await expect(confirm(key, true)).rejects.toMatchObject({ code: "stateNotFound" });
  await setSetting(fixture, flow, undefined);
  await expect(confirm(key, false)).rejects.toMatchObject({ code: "stateNotFound" });
  await setSetting(fixture, flow, true);
  await confirm(key, false);
  expect(await newest(key.actionId)).toMatchObject({ status: WAIT_FOR_CONFIRMATION, messages: [revoked] });
});

test("a waiting action takes an answer with the flow off too", async () => {
  const key = await waiting();
  await setSetting(fixture, flow, undefined);
  await confirm(key, true);
  await setSetting(fixture, flow, true);
  expect(await readAction(fixture, key.actionId)).toMatchObject({ status: RUNNING });
});

test("closed, unknown, foreign and out-of-scope actions and too many messages are rejected", async () => {
  const [mine, other, closed] = [await waiting(), await waiting(), await waiting()];
  await fixture.db.pool.query("update actions set active = false, status = 0 where id = $1", [closed.actionId]);
  await expect(confirm(closed, true)).rejects.toMatchObject({ code: "actionClosed" });
  await fixture.db.pool.query("update actions set active = true, status = 11 where id = $1", [closed.actionId]);
  await expect(confirm({ ...mine, controllerId: "nobody" }, true)).rejects.toMatchObject({
    code: "entityNotFound",
    info: { type: "Target" },
  });
  await expect(confirm({ ...mine, actionId: 999_999 }, true)).rejects.toMatchObject({ code: "entityNotFound", info: { type: "Action" } });
  await expect(confirm({ ...mine, actionId: 2 ** 40 }, true)).rejects.toMatchObject({ code: "entityNotFound", info: { type: "Action" } });
  await expect(confirm({ ...mine, actionId: other.actionId }, true)).rejects.toMatchObject({ code: "stateNotFound" });
  await expect(confirm(mine, false, { details: Array.from({ length: 50 }, () => "x") })).rejects.toMatchObject({
    code: "quotaTooManyEntries",
  });
  const limited = contextOf({ targetTypeScopes: { UPDATE_TARGET: [7] } });
  const { controllerId } = mine;
  for (const attempt of [
    () => fixture.actions.confirmAction(answer(mine, true), limited),
    () => fixture.targets.activateAutoConfirm({ controllerId }, limited),
    () => fixture.targets.deactivateAutoConfirm({ controllerId }, limited),
    () => fixture.targets.activateAutoConfirm({ controllerId: "nobody" }, contextOf()),
    () => fixture.targets.deactivateAutoConfirm({ controllerId: "nobody" }, contextOf()),
  ]) {
    await expect(attempt()).rejects.toMatchObject({ code: "entityNotFound", info: { type: "Target" } });
  }
  expect(await readAction(fixture, mine.actionId)).toMatchObject({ status: WAIT_FOR_CONFIRMATION, revision: 1 });
});

test("auto-confirmation by a user: waiting actions run, a second activation is rejected, and it can be switched off", async () => {
  const { controllerId, actionId } = await waiting();
  const activate = () => fixture.targets.activateAutoConfirm({ controllerId, initiator: "me" }, contextOf());
  expect(await fixture.roundTrips.during(activate)).toBe(1);
  await expect(activate()).rejects.toMatchObject({ code: "autoConfAlreadyActive" });
  expect(await newest(actionId)).toMatchObject({
    status: RUNNING,
    messages: [
      "Assignment automatically confirmed by initiator 'me'. \n\nAuto confirmation activated by system user: 'admin' \n\nRemark: n/a",
    ],
  });
  for (let twice = 0; twice < 2; twice += 1) await fixture.targets.deactivateAutoConfirm({ controllerId }, contextOf());
  expect(await readAction(fixture, actionId)).toMatchObject({ status: RUNNING, revision: 2 });
});

test("an assignment and an activation at the same moment: in either order the action runs in the end", async () => {
  const targets = await newTargets(fixture, 20);
  const items = targets.map((id) => itemOf(`d${id}`));
  const assigned = fixture.actions.assignSet({ set: reservedSet(), items, initiator: "admin" }, contextOf());
  await Promise.all([assigned, ...targets.map((id) => fixture.targets.activateAutoConfirm({ controllerId: `d${id}` }, contextOf()))]);
  const { rows } = await fixture.db.pool.query("select distinct status from actions where target_id = any($1::int[])", [targets]);
  expect(rows).toEqual([{ status: RUNNING }]);
});

test("after all tests of this file no sequence is broken", async () => {
  expect(await brokenSequences(fixture)).toEqual([]);
});
