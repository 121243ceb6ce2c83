import { actionStatus, quotaDefaults, updateStatus } from "@harrier/contracts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  type DeviceFixture,
  deviceFixture,
  deviceNamed,
  readAction,
  readHistory,
  readOutbox,
  readTarget,
  seedActions,
  seedSet,
  seedTargets,
} from "../device.fixture.ts";
import { reportRunningVersion } from "./running-version.ts";

let fixture: DeviceFixture;
let next = 100;
let n: number;

beforeAll(async () => {
  fixture = await deviceFixture();
  for (const id of [100, 200, 300, 400]) await seedSet(fixture, { id, modules: 0 });
  const { pool } = fixture.database.db("management");
  await pool.query("update distribution_sets set valid = false where id = 200");
  await pool.query("update distribution_sets set complete = false where id = 300");
  await pool.query("update distribution_sets set deleted = true where id = 400");
});
afterAll(() => fixture.close());
beforeEach(() => {
  n = next++;
});

const run = (name = "set 100", version = "1.0", device = deviceNamed(`d${n}`)) => reportRunningVersion(fixture, device, { name, version });

test("a new version makes a closed action, with the target in sync with it, its entry and its event", async () => {
  await seedTargets(fixture, [{ id: n, installedSetId: 7, assignedSetId: 7 }]);
  const before = (await readOutbox(fixture)).length;
  expect(await run()).toBe(true);
  const target = await readTarget(fixture, n);
  const id = target.installedActionId as number;
  expect(target).toEqual({
    updateStatus: updateStatus.in_sync,
    assignedSetId: 100,
    installedSetId: 100,
    installedActionId: expect.any(Number),
    requestAttributes: false,
  });
  expect(await readAction(fixture, id)).toEqual({ status: actionStatus.FINISHED, active: false, revision: 1, lastStatusCode: null });
  const messages = [`Assignment initiated by user 'd${n}'`, "Update Server: Action reported as offline deployment"];
  expect(await readHistory(fixture, id)).toMatchObject([{ revision: 1, status: actionStatus.FINISHED, messages }]);
  expect((await readOutbox(fixture)).slice(before)).toMatchObject([
    {
      topic: "action-events",
      type: "io.update.action.created.v1",
      common: { tenant: "DEFAULT", distributionSet: { id: 100, name: "set 100", version: "1.0" }, initiatedBy: `d${n}` },
      items: [[id, `d${n}`, 1, null, actionStatus.FINISHED, false, 1, 1000, null, messages, expect.any(Number), actionStatus.FINISHED]],
    },
  ]);
});

test("a known version changes nothing, in one round trip; nor does any during a pending deployment", async () => {
  await seedTargets(fixture, [{ id: n }]);
  await run();
  const before = await readTarget(fixture, n);
  expect(
    await fixture.roundTrips.during(async () => {
      expect(await run()).toBe(false);
    }),
  ).toBe(1);
  expect(await readTarget(fixture, n)).toEqual(before);
  n = next++;
  await seedTargets(fixture, [{ id: n, updateStatus: updateStatus.pending, assignedSetId: 555 }]);
  expect(await run()).toBe(false);
  expect(await readTarget(fixture, n)).toMatchObject({ assignedSetId: 555, installedSetId: null });
});

test("unknown sets and sets that cannot run are rejected", async () => {
  await expect(run()).rejects.toMatchObject({ code: "entityNotFound", info: { type: "Target" } });
  await seedTargets(fixture, [{ id: n }]);
  await expect(run("set 100", "2.0")).rejects.toMatchObject({ code: "entityNotFound", info: { type: "DistributionSet" } });
  await expect(run("set 400")).rejects.toMatchObject({ code: "entityNotFound" });
  await expect(run("set 200")).rejects.toMatchObject({ code: "setInvalid" });
  await expect(run("set 300")).rejects.toMatchObject({ code: "setIncomplete" });
  expect(await readTarget(fixture, n)).toMatchObject({ updateStatus: updateStatus.registered, assignedSetId: null });
});

test("the quota of a target's actions applies", async () => {
  await seedTargets(fixture, [{ id: n }]);
  await seedActions(
    fixture,
    Array.from({ length: quotaDefaults.ACTIONS_PER_TARGET_MAX_COUNT }, (_, i) => ({
      id: 100_000 + i,
      targetId: n,
      status: actionStatus.FINISHED,
      active: false,
    })),
  );
  await expect(run()).rejects.toMatchObject({ code: "quotaTooManyEntries" });
});

test("two reports at once make one action", async () => {
  await seedTargets(fixture, [{ id: n }]);
  const answers = await Promise.all([run(), run(), run()]);
  expect(answers.filter(Boolean)).toHaveLength(1);
});
