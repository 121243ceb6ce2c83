import { actionStatus } from "@harrier/contracts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  type DeviceFixture,
  deviceFixture,
  deviceNamed,
  readAction,
  readHistory,
  readOutbox,
  seedActions,
  seedSet,
  seedTargets,
} from "../device.fixture.ts";
import { createLastPolls } from "../poll/last-polls.ts";
import { activateAutoConfirm, deactivateAutoConfirm } from "./auto-confirm.ts";
import { confirmationBase } from "./confirmation-base.ts";

let fixture: DeviceFixture;
let next = 100;
let n: number;
const { WAIT_FOR_CONFIRMATION, RUNNING, CANCELING } = actionStatus;
const now = Date.UTC(2026, 10, 21, 12);

beforeAll(async () => {
  fixture = await deviceFixture();
  await seedSet(fixture, { id: 100 });
});
afterAll(() => fixture.close());
beforeEach(async () => {
  n = next++;
  await seedTargets(fixture, [{ id: n, assignedSetId: 100 }]);
});

const own = () => deviceNamed(`d${n}`);
const activate = (body?: { initiator?: string; remark?: string }, device = own()) =>
  activateAutoConfirm(fixture, device, body && { initiator: body.initiator, remark: body.remark });

const readBase = (device = own(), mayRegister = true) => {
  const lastPolls = createLastPolls({ pool: fixture.db.pool });
  return confirmationBase({ ...fixture, lastPolls, now: () => now }, { device, address: "http://192.0.2.1", mayRegister });
};

test("all waiting actions run, each with its entry, all of them in one round trip", async () => {
  const [first, second, cancelled, rolled] = [n * 10, n * 10 + 1, n * 10 + 2, n * 10 + 3];
  await seedActions(fixture, [
    { id: first, targetId: n, status: WAIT_FOR_CONFIRMATION },
    { id: second, targetId: n, status: RUNNING },
    { id: cancelled, targetId: n, status: CANCELING },
    { id: rolled, targetId: n, status: WAIT_FOR_CONFIRMATION, rolloutId: n, groupId: 1, revision: 4 },
  ]);
  const before = (await readOutbox(fixture)).length;
  expect(await fixture.roundTrips.during(() => activate({ initiator: "me", remark: "because" }))).toBe(1);
  expect(await readAction(fixture, first)).toMatchObject({ status: RUNNING, active: true, revision: 2 });
  expect(await readAction(fixture, rolled)).toMatchObject({ status: RUNNING, revision: 5 });
  expect(await readAction(fixture, second)).toMatchObject({ revision: 1 });
  expect(await readAction(fixture, cancelled)).toMatchObject({ status: CANCELING, revision: 1 });
  const text =
    "Assignment automatically confirmed by initiator 'me'. \n\n" +
    "Auto confirmation activated by system user: 'CONTROLLER_PLUG_AND_PLAY' \n\nRemark: because";
  expect((await readHistory(fixture, first))[1]).toMatchObject({ status: RUNNING, messages: [text] });
  const events = (await readOutbox(fixture))
    .slice(before)
    .filter(({ topic }) => topic === "action-events")
    .flatMap((row) => row.items as unknown[][]);
  expect(events.map((item) => item.slice(0, 6))).toEqual(
    expect.arrayContaining([
      [first, `d${n}`, 2, WAIT_FOR_CONFIRMATION, RUNNING, true],
      [rolled, `d${n}`, 5, WAIT_FOR_CONFIRMATION, RUNNING, true],
    ]),
  );
  expect(events).toHaveLength(2);
  await expect(activate()).rejects.toMatchObject({ code: "autoConfAlreadyActive" });
});

test("the base shows auto-confirmation off, on and off again", async () => {
  const base = "http://ota.example/default/controller/v1/";
  expect(await readBase()).toEqual({
    autoConfirm: { active: false },
    _links: { activateAutoConfirm: { href: `${base}d${n}/confirmationBase/activateAutoConfirm` } },
  });
  await activate({ initiator: "me", remark: "" });
  const shown = await readBase();
  expect(shown).toEqual({
    autoConfirm: { active: true, initiator: "me", activatedAt: expect.any(Number) },
    _links: { deactivateAutoConfirm: { href: `${base}d${n}/confirmationBase/deactivateAutoConfirm` } },
  });
  expect(Math.abs((shown.autoConfirm.activatedAt as number) - Date.now())).toBeLessThan(60_000);
  expect(await fixture.roundTrips.during(() => deactivateAutoConfirm(fixture, own()))).toBe(1);
  await deactivateAutoConfirm(fixture, own());
  expect((await readBase()).autoConfirm).toEqual({ active: false });
  await activate();
  expect((await readBase()).autoConfirm).toMatchObject({
    active: true,
    remark: "Initiated using the Device Direct Integration API without providing a remark.",
  });
});

test("the base links to an action only while the first open one waits, as a poll does; it is one round trip", async () => {
  const [waiting, urgent] = [n * 10, n * 10 + 1];
  await seedActions(fixture, [{ id: waiting, targetId: n, status: WAIT_FOR_CONFIRMATION }]);
  await readBase();
  let shown: Awaited<ReturnType<typeof readBase>> | undefined;
  const roundTrips = await fixture.roundTrips.during(async () => {
    shown = await readBase();
  });
  expect(roundTrips).toBe(1);
  expect(shown?._links.confirmationBase?.href).toMatch(new RegExp(`/d${n}/confirmationBase/${waiting}\\?c=-?\\d+$`));
  await seedActions(fixture, [{ id: urgent, targetId: n, status: RUNNING, weight: 1_000_000 }]);
  expect((await readBase())._links.confirmationBase).toBeUndefined();
});

test("the base registers an unknown device as a poll does, and nothing else does", async () => {
  const device = deviceNamed(`fresh-${n}`);
  await expect(activate({}, device)).rejects.toMatchObject({ code: "entityNotFound" });
  await expect(deactivateAutoConfirm(fixture, device)).rejects.toMatchObject({ code: "entityNotFound" });
  await expect(readBase(device, false)).rejects.toMatchObject({ code: "unauthenticated" });
  expect((await readBase(device)).autoConfirm).toEqual({ active: false });
  const { rows } = await fixture.database
    .db("controller")
    .pool.query(
      "select t.address, s.update_status from targets t join target_state s on s.tenant_id = t.tenant_id and s.target_id = t.id where controller_id = $1",
      [device.controllerId],
    );
  expect(rows).toEqual([{ address: "http://192.0.2.1", update_status: 1 }]);
});

test("two activations at once: one wins", async () => {
  await seedActions(fixture, [{ id: n * 10, targetId: n, status: WAIT_FOR_CONFIRMATION }]);
  const outcomes = await Promise.allSettled([activate(), activate(), activate()]);
  expect(outcomes.filter((o) => o.status === "fulfilled")).toHaveLength(1);
  expect(await readAction(fixture, n * 10)).toMatchObject({ status: RUNNING, revision: 2 });
});
