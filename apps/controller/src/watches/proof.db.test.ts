import { actionStatus, outcomeCode, tally, updateStatus } from "@harrier/contracts";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type CommandsFixture, commandsFixture, contextOf, itemOf, progressOf, reservedSet } from "../commands.fixture.ts";
import { seedActions } from "../device.fixture.ts";
import { expectConsistent, policy, proof, watchedFleet } from "./watches.fixture.ts";

let fixture: CommandsFixture;
let fleet: ReturnType<typeof watchedFleet>;
const rollouts: number[] = [];
let next = 0;
beforeAll(async () => {
  fixture = await commandsFixture();
  fleet = watchedFleet(fixture);
});
afterAll(() => fixture.close());

afterEach(() => expectConsistent(fixture, rollouts));

/** A rollout of one new target with the policy, and its action. */
async function one(safety: string, change: { setId?: number } = {}) {
  next += 1;
  const [rolloutId, targetId] = [next, next * 10];
  rollouts.push(rolloutId);
  const [action = 0] = await fleet.start(rolloutId, [targetId], safety, change);
  return { rolloutId, targetId, device: `d${targetId}`, action };
}

const { FINISHED, ERROR, RUNNING } = actionStatus;
const minutes = 60;

test("beyond 1.2 a success is a claim: the action is finished, the target and the group are not", async () => {
  const { rolloutId, device, action } = await one(policy({ proof: proof() }));
  expect(await fleet.report(device, action)).toBe("ok");
  expect(await fleet.state(action)).toEqual({
    status: FINISHED,
    active: false,
    tally: tally.proving,
    outcome: null,
    stage: "rebooting",
    silent: false,
    assigned: 100,
    installed: 99,
    updateStatus: updateStatus.pending,
    asked: true,
  });
  expect(await progressOf(fixture, rolloutId)).toEqual([0, 1, 0, 0, 0]);
  expect(await fleet.beside(rolloutId)).toEqual([1, 0, 0]);
});

test("beyond 1.3 the expected value and two polls prove it", async () => {
  const { rolloutId, targetId, device, action } = await one(policy({ proof: proof() }));
  await fleet.report(device, action);
  await fleet.polls(targetId, 3); // before the evidence no poll counts
  await fleet.shows(device, { sw_version: "1.3" });
  expect(await fleet.state(action)).toMatchObject({ stage: "observing", asked: false });
  await fleet.polls(targetId);
  await fleet.settle();
  expect(await fleet.state(action)).toMatchObject({ stage: "observing" });
  await fleet.polls(targetId);
  await fleet.settle();
  expect(await fleet.state(action)).toMatchObject({
    status: FINISHED,
    tally: tally.plain,
    outcome: outcomeCode("proven", "attributes"),
    stage: null,
    installed: 100,
    updateStatus: updateStatus.in_sync,
  });
  expect(await progressOf(fixture, rolloutId)).toEqual([0, 0, 1, 0, 0]);
  expect((await fleet.eventTypes(action)).at(-1)).toBe("proof_changed");
});

test("beyond 1.4 the device is asked for its attributes until they match", async () => {
  const { device, action } = await one(policy({ proof: proof() }));
  await fleet.report(device, action);
  await fleet.shows(device, { other: "x" });
  expect(await fleet.state(action)).toMatchObject({ asked: true });
  await fleet.shows(device, { sw_version: "1.2" });
  expect(await fleet.state(action)).toMatchObject({ asked: true, stage: "rebooting" });
  await fleet.shows(device, { sw_version: "1.3" });
  expect(await fleet.state(action)).toMatchObject({ asked: false, stage: "observing" });
});

test("beyond 1.4 a device that shows the same again and again writes its watch no more", async () => {
  const { device, action } = await one(policy({ proof: proof() }));
  await fleet.report(device, action);
  const written = async () =>
    (await fixture.db.pool.query("select w.xmin::text as by from action_watches w where w.action_id = $1", [action])).rows[0]?.by;
  const claimed = await written();
  for (let n = 0; n < 2; n += 1) await fleet.shows(device, { sw_version: "1.2" });
  expect(await written()).toBe(claimed);
  await fleet.shows(device, { sw_version: "1.3" });
  const observed = await written();
  expect(observed).not.toBe(claimed);
  for (let n = 0; n < 2; n += 1) await fleet.shows(device, { sw_version: "1.3" });
  expect(await written()).toBe(observed);
});

test("beyond 1.5 the old value after the grace is a fall-back", async () => {
  const { rolloutId, device, action } = await one(policy({ proof: proof() }));
  await fleet.report(device, action);
  await fleet.shows(device, { sw_version: "1.2" });
  expect(await fleet.state(action)).toMatchObject({ tally: tally.proving });
  await fleet.later(action, 16 * minutes);
  await fleet.shows(device, { sw_version: "1.2" });
  expect(await fleet.state(action)).toMatchObject({
    status: ERROR,
    tally: tally.plain,
    outcome: outcomeCode("refuted", "attributes"),
    stage: null,
    assigned: null,
    installed: 99,
    updateStatus: updateStatus.error,
  });
  expect(await fleet.lastText(action)).toBe("Update Server: The device shows sw_version 1.2 instead of 1.3: it fell back.");
  expect(await progressOf(fixture, rolloutId)).toEqual([0, 0, 0, 1, 0]);
  expect(await fleet.report(device, action)).toBe("closed");
});

test("beyond 1.6 the old value within the grace and then the new one prove it", async () => {
  const { device, action, targetId } = await one(policy({ proof: proof() }));
  await fleet.report(device, action);
  await fleet.shows(device, { sw_version: "1.3" });
  await fleet.shows(device, { sw_version: "1.2" });
  expect(await fleet.state(action)).toMatchObject({ stage: "rebooting", asked: true });
  await fleet.polls(targetId, 3); // polls count no more
  await fleet.shows(device, { sw_version: "1.3" });
  await fleet.settle();
  expect(await fleet.state(action)).toMatchObject({ stage: "observing" });
  await fleet.polls(targetId, 2);
  await fleet.settle();
  expect(await fleet.state(action)).toMatchObject({ stage: null, installed: 100 });
});

test("beyond 1.7 the running version proves and refutes as attributes do, and is answered as ever", async () => {
  const proven = await one(policy({ proof: proof({ expected: [], stable: { polls: 0, minutes: 0 } }) }));
  await fleet.report(proven.device, proven.action);
  expect(await fleet.runs(proven.device, "set 100", "1.0")).toBe("unchanged");
  await fleet.settle();
  expect(await fleet.state(proven.action)).toMatchObject({ installed: 100, outcome: outcomeCode("proven", "runningVersion") });
  const refuted = await one(policy({ proof: proof() }));
  await fleet.report(refuted.device, refuted.action);
  await fleet.later(refuted.action, 16 * minutes);
  expect(await fleet.runs(refuted.device, "set 101", "1.0")).toBe("idNeeded");
  expect(await fleet.state(refuted.action)).toMatchObject({ status: ERROR, outcome: outcomeCode("refuted", "runningVersion") });
});

test.each([
  ["error", ERROR, updateStatus.error, 99],
  ["success", FINISHED, updateStatus.in_sync, 100],
] as const)("beyond 1.8 never heard of again, onExpiry %s", async (onExpiry, status, shown, installed) => {
  const { device, action } = await one(policy({ proof: proof({ onExpiry }) }));
  await fleet.report(device, action);
  await fleet.later(action, 59 * minutes);
  await fleet.settle();
  expect(await fleet.state(action)).toMatchObject({ tally: tally.proving });
  await fleet.later(action, 2 * minutes);
  await fleet.settle();
  expect(await fleet.state(action)).toMatchObject({
    status,
    updateStatus: shown,
    installed,
    outcome: outcomeCode("unproven", "none"),
    stage: null,
  });
});

test("beyond 1.9 alive: polls within the grace do not count, those after it do, with the minutes", async () => {
  const { device, action, targetId } = await one(
    policy({ proof: proof({ require: "alive", expected: [], stable: { polls: 2, minutes: 5 } }) }),
  );
  await fleet.report(device, action);
  await fleet.polls(targetId, 3);
  await fleet.settle();
  expect(await fleet.state(action)).toMatchObject({ stage: "rebooting" });
  await fleet.later(action, 16 * minutes);
  await fleet.polls(targetId, 2);
  await fleet.settle();
  expect(await fleet.state(action)).toMatchObject({ stage: "observing" });
  await fleet.later(action, 5 * minutes);
  await fleet.settle();
  expect(await fleet.state(action)).toMatchObject({ stage: null, installed: 100, outcome: outcomeCode("proven", "alive") });
});

test("beyond 1.10 alive: a claim without a poll stays unproven", async () => {
  const { device, action } = await one(policy({ proof: proof({ require: "alive", expected: [] }) }));
  await fleet.report(device, action);
  await fleet.later(action, 61 * minutes);
  await fleet.settle();
  expect(await fleet.state(action)).toMatchObject({ status: ERROR, outcome: outcomeCode("unproven", "none") });
});

test("beyond 1.11 a contradiction while it is watched reopens what was proven", async () => {
  const { rolloutId, device, action, targetId } = await one(policy({ proof: proof({ watchHours: 24 }) }));
  await fleet.report(device, action);
  await fleet.shows(device, { sw_version: "1.3" });
  await fleet.polls(targetId, 2);
  await fleet.settle();
  expect(await fleet.state(action)).toMatchObject({ stage: "watched", installed: 100, tally: tally.plain });
  await fleet.later(action, 3600);
  await fleet.shows(device, { sw_version: "1.2" });
  expect(await fleet.state(action)).toMatchObject({ status: ERROR, installed: 99, assigned: null, stage: null });
  expect(await progressOf(fixture, rolloutId)).toEqual([0, 0, 0, 1, 0]);
});

test("beyond 1.14 a newer claim voids it; a newer action that has merely started does not", async () => {
  const old = await one(policy({ proof: proof() }));
  await fleet.report(old.device, old.action);
  const request = { set: reservedSet(101), items: [itemOf(old.device)], initiator: "admin" };
  const { actions } = await fixture.actions.assignSet(request, contextOf());
  const newer = Number(actions?.[0]?.id);
  expect(await fleet.state(old.action)).toMatchObject({ tally: tally.proving, assigned: 101 });
  await fleet.report(old.device, newer);
  expect(await fleet.state(old.action)).toMatchObject({
    status: FINISHED,
    tally: tally.void,
    stage: null,
    outcome: outcomeCode("void", "none"),
  });
  expect(await progressOf(fixture, old.rolloutId)).toEqual([0, 0, 0, 0, 1]);
  const started = await one(policy({ proof: proof() }));
  await fleet.report(started.device, started.action);
  await fixture.actions.assignSet({ ...request, items: [itemOf(started.device)] }, contextOf());
  await fleet.shows(started.device, { sw_version: "1.3" });
  await fleet.polls(started.targetId, 2);
  await fleet.settle();
  expect(await fleet.state(started.action)).toMatchObject({
    stage: null,
    installed: 100,
    assigned: 101,
    updateStatus: updateStatus.pending,
  });
});

test("beyond 1.15 an attribute that is removed contradicts nothing", async () => {
  const { device, action } = await one(policy({ proof: proof() }));
  await fleet.report(device, action);
  await fleet.later(action, 20 * minutes);
  await fleet.shows(device, { sw_version: "1.2" }, 2);
  await fleet.shows(device, { hw: "x" }, 1);
  expect(await fleet.state(action)).toMatchObject({ tally: tally.proving, stage: "rebooting", asked: true });
});

test("beyond 1.22 a person decides about what is proving, and about nothing else", async () => {
  const proven = await one(policy({ proof: proof() }));
  await expect(fleet.prove(proven.device, proven.action, true)).rejects.toMatchObject({ code: "actionNotProving" });
  await fleet.report(proven.device, proven.action);
  await fleet.prove(proven.device, proven.action, true);
  expect(await fleet.state(proven.action)).toMatchObject({ installed: 100, outcome: outcomeCode("proven", "person") });
  expect(await fleet.lastText(proven.action)).toBe("Update Server: admin says that the update is proven: seen in the lab");
  const refuted = await one(policy({ proof: proof() }));
  await fleet.report(refuted.device, refuted.action);
  await fleet.prove(refuted.device, refuted.action, false);
  expect(await fleet.state(refuted.action)).toMatchObject({ status: ERROR, outcome: outcomeCode("refuted", "person") });
});

test("beyond 1.27 artifacts of a proving action may be downloaded", async () => {
  const { device, action } = await one(policy({ proof: proof() }));
  await fleet.report(device, action);
  const { rows } = await fixture.database
    .db("artifact-store")
    .pool.query("select action_id, downloadable from controller.artifact_grants_v1 where controller_id = $1", [device]);
  expect(rows).toContainEqual({ action_id: action, downloadable: true });
});

test("beyond 1.29 another action is cancelled while one is proving: its target is not in sync", async () => {
  const { device, targetId, action } = await one(policy({ proof: proof() }));
  await fleet.report(device, action);
  const other = 900_001;
  await seedActions(fixture, [{ id: other, targetId, setId: 102, status: RUNNING }]);
  await fixture.actions.cancelAction({ controllerId: device, actionId: other, force: false }, contextOf());
  await fixture.actions.cancelAction({ controllerId: device, actionId: other, force: true }, contextOf());
  expect(await fleet.state(action)).toMatchObject({ assigned: 100, updateStatus: updateStatus.pending });
  await fixture.db.pool.query("delete from actions where id = $1", [other]);
  await fixture.db.pool.query("delete from action_history where action_id = $1", [other]);
});

test("deleting a target with a claim leaves no watch and no count", async () => {
  const { device, rolloutId, action } = await one(policy({ proof: proof() }));
  await fleet.report(device, action);
  await fixture.targets.deleteTargets({ controllerIds: [device], ifRevisions: [] }, contextOf());
  expect((await fixture.db.pool.query("select from action_watches where action_id = $1", [action])).rowCount).toBe(0);
  expect(await progressOf(fixture, rolloutId)).toEqual([0, 0, 0, 0, 0]);
});
