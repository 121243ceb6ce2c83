import { eventually } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createEngineWorld, type EngineWorld } from "../testing/engine-world.ts";
import { stopRolloutsOfSet } from "./stop-rollouts.ts";

let world: EngineWorld;
beforeAll(async () => {
  world = await createEngineWorld();
  world.engine();
});
afterAll(async () => {
  await world.stopEngines();
  await world.drop();
});

const setOf = async (id: number) =>
  (await world.sql<{ id: number }>("select set_id::int as id from rollout_engine.rollouts where id = $1", [id]))[0]?.id ?? 0;
const stop = (setId: number, keepRunning: boolean) =>
  stopRolloutsOfSet({ db: world.create.db, nudge: world.drive.nudge }, { setId, keepRunning, initiator: "admin" }, world.call);

test("a running rollout and one that has not begun are stopped, and every group of theirs is finished (contract rollouts.md §4.1, §4.9)", async () => {
  const { id, g1 } = await world.started({ name: "runs", amountGroups: 3 });
  await world.areStatuses(id, "running", "scheduled", "scheduled");
  const waiting = await world.createRollout({ name: "waits", amountGroups: 2 });
  await world.isStatus(waiting, "ready");
  await world.controller.report(id, g1, 1, "finished");
  const setId = await setOf(id);
  expect(await stop(setId, false)).toEqual({ stopping: 2 });
  await eventually(async () => expect(await stop(setId, false)).toEqual({ stopping: 0 }));
  for (const one of [id, waiting]) expect(await world.status(one)).toBe("stopped");
  await world.areStatuses(id, "finished", "finished", "finished");
  await world.areStatuses(waiting, "finished", "finished");
  // one has finished, three are being cancelled, and what had not begun is gone
  expect(await world.actions(id)).toEqual([
    { status: 0, n: 1 },
    { status: 5, n: 3 },
  ]);
  expect(world.controller.calls.lastIndexOf("closeFence")).toBeLessThan(world.controller.calls.indexOf("stop"));
  const told = await world.events(id);
  expect(told.map(({ sequence }) => sequence)).toEqual(told.map((_, n) => n + 1));
  expect(told.filter(({ what }) => what === "rollout stopping")).toMatchObject([
    { data: { previousStatus: "running", reason: "invalidation", actor: "admin", totals: { finished: 1, running: 3, scheduled: 8 } } },
  ]);
  expect(told.at(-1)?.what).toBe("rollout stopped");
  expect(told.at(-1)?.data).toMatchObject({ totals: { finished: 1, running: 3, scheduled: 0, notstarted: 8 } });
});

test("what has begun goes on where that is wanted; what fails is tried again from where it was", async () => {
  const { id } = await world.started({ name: "goes on", amountGroups: 2 });
  await world.areStatuses(id, "running", "scheduled");
  let failures = 2;
  world.controller.beforeCall = (command) => {
    if (command === "stop" && failures-- > 0) throw new Error("controller is away");
  };
  const setId = await setOf(id);
  await stop(setId, true);
  await world.isStatus(id, "stopped");
  expect(await world.actions(id)).toEqual([{ status: 3, n: 6 }]);
  expect(world.warnings).not.toEqual([]);
  expect(await stop(setId, true)).toEqual({ stopping: 0 });
});
