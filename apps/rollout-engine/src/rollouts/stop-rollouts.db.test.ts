import { eventually } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createEngineFixture, type EngineFixture } from "../testing/engine.fixture.ts";
import { stopRolloutsOfSet } from "./stop-rollouts.ts";

let fixture: EngineFixture;
beforeAll(async () => {
  fixture = await createEngineFixture();
  fixture.engine();
});
afterAll(async () => {
  await fixture.stopEngines();
  await fixture.drop();
});

const setOf = async (id: number) =>
  (await fixture.sql<{ id: number }>("select set_id::int as id from rollout_engine.rollouts where id = $1", [id]))[0]?.id ?? 0;
const stop = (setId: number, keepRunning: boolean) =>
  stopRolloutsOfSet({ db: fixture.create.db, wake: fixture.drive.wake }, { setId, keepRunning, initiator: "admin" }, fixture.call);

test("a running rollout and one that has not begun are stopped, and all their groups are finished (contract rollouts.md §4.1, §4.9)", async () => {
  const { id, g1 } = await fixture.started({ name: "runs", amountGroups: 3 });
  await fixture.areStatuses(id, "running", "scheduled", "scheduled");
  const waiting = await fixture.createRollout({ name: "waits", amountGroups: 2 });
  await fixture.isStatus(waiting, "ready");
  await fixture.controller.report(id, g1, 1, "finished");
  const setId = await setOf(id);
  expect(await stop(setId, false)).toEqual({ stopping: 2 });
  await eventually(async () => expect(await stop(setId, false)).toEqual({ stopping: 0 }));
  for (const one of [id, waiting]) expect(await fixture.status(one)).toBe("stopped");
  await fixture.areStatuses(id, "finished", "finished", "finished");
  await fixture.areStatuses(waiting, "finished", "finished");
  // one action has finished, three are being cancelled, and those that had not begun are gone
  expect(await fixture.actions(id)).toEqual([
    { status: 0, n: 1 },
    { status: 5, n: 3 },
  ]);
  expect(fixture.controller.calls.lastIndexOf("closeFence")).toBeLessThan(fixture.controller.calls.indexOf("stop"));
  const told = await fixture.events(id);
  expect(told.map(({ sequence }) => sequence)).toEqual(told.map((_, n) => n + 1));
  expect(told.filter(({ what }) => what === "rollout stopping")).toMatchObject([
    { data: { previousStatus: "running", reason: "invalidation", actor: "admin", totals: { finished: 1, running: 3, scheduled: 8 } } },
  ]);
  expect(told.at(-1)?.what).toBe("rollout stopped");
  expect(told.at(-1)?.data).toMatchObject({ totals: { finished: 1, running: 3, scheduled: 0, notstarted: 8 } });
});

test("started actions go on if the request keeps them; a failed stop continues where it was", async () => {
  const { id } = await fixture.started({ name: "goes on", amountGroups: 2 });
  await fixture.areStatuses(id, "running", "scheduled");
  let failures = 2;
  fixture.controller.beforeCall = (command) => {
    if (command === "stop" && failures-- > 0) throw new Error("controller is away");
  };
  const setId = await setOf(id);
  await stop(setId, true);
  await fixture.isStatus(id, "stopped");
  expect(await fixture.actions(id)).toEqual([{ status: 3, n: 6 }]);
  expect(fixture.warnings).not.toEqual([]);
  expect(await stop(setId, true)).toEqual({ stopping: 0 });
});
