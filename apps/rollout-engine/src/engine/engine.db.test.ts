import { withClient } from "@harrier/testkit";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { pauseRollout, resumeRollout } from "../rollouts/drive-rollout.ts";
import { getRollout } from "../rollouts/read-rollouts.ts";
import { createEngineWorld, type EngineWorld } from "../testing/engine-world.ts";

let world: EngineWorld;

beforeAll(async () => {
  world = await createEngineWorld();
});
afterEach(() => world.stopEngines());
afterAll(() => world?.drop());

describe("a rollout from end to end (contract rollouts.md §10)", () => {
  test("groups follow one another by their thresholds until all are finished", async () => {
    world.engine();
    const { id, g1, g2, g3 } = await world.started({ amountGroups: 3, successCondition: { expression: "50" } });
    expect(await world.groupStatuses(id)).toEqual(["running", "scheduled", "scheduled"]);
    expect(await getRollout(world.create, 1, id)).toMatchObject({ counts: { running: 4, scheduled: 8 } });

    await world.controller.report(id, g1, 1, "finished");
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await world.groupStatuses(id)).toEqual(["running", "scheduled", "scheduled"]);
    await world.controller.report(id, g1, 1, "finished");
    await world.areStatuses(id, "running", "running", "scheduled");
    await world.controller.report(id, g1, 2, "finished");
    await world.areStatuses(id, "finished", "running", "scheduled");
    await world.controller.report(id, g2, 4, "finished");
    await world.areStatuses(id, "finished", "finished", "running");
    await world.controller.report(id, g3, 2, "cancelled");
    await world.controller.report(id, g3, 2, "finished");
    await world.isStatus(id, "finished");
    expect(await world.actions(id)).toEqual([
      { status: 0, n: 10 },
      { status: 4, n: 2 },
    ]);

    const told = await world.events(id);
    expect(told.map((event) => event.sequence)).toEqual(told.map((_, index) => index + 1));
    expect(told.filter((event) => event.what.startsWith("rollout")).map((event) => event.what)).toEqual([
      "rollout creating",
      "rollout ready",
      "rollout starting",
      "rollout running",
      "rollout finished",
    ]);
    expect(told.find((event) => event.what === "rollout starting")?.data).toMatchObject({ reason: "user", actor: "admin" });
    expect(told.at(-1)?.data).toMatchObject({ actor: "system", totals: { finished: 10, cancelled: 2, running: 0, notstarted: 0 } });
  });

  test("the first group is started before the others are scheduled", async () => {
    world.engine();
    world.controller.calls.length = 0;
    const { g1, g3 } = await world.started({ amountGroups: 3 });
    const first = world.controller.calls.indexOf(`start ${g1}`);
    expect(world.controller.calls.slice(0, first + 1).filter((call) => call.startsWith("schedule"))).toEqual([
      `schedule ${g1}`,
      `schedule ${g1}`,
    ]);
    expect(world.controller.calls[0]).toBe("openFence");
    expect(world.controller.calls.slice(first).some((call) => call === `schedule ${g3}`)).toBe(true);
  });

  test("errors pause, a resume begins the next group, errors in the last one end the rollout", async () => {
    world.engine();
    const { id, g1, g2, g3 } = await world.started({ amountGroups: 3, errorCondition: { expression: "50" } });
    await world.controller.report(id, g1, 3, "error");
    await world.isStatus(id, "paused");
    expect(await world.groupStatuses(id)).toEqual(["error", "scheduled", "scheduled"]);
    await expect(pauseRollout(world.drive, world.call, id)).rejects.toMatchObject({ code: "rolloutIllegalState" });
    await resumeRollout(world.drive, world.call, id);
    await world.areStatuses(id, "error", "running", "scheduled");
    expect(await world.status(id)).toBe("running");
    await world.controller.report(id, g2, 4, "finished");
    await world.areStatuses(id, "error", "finished", "running");
    await world.controller.report(id, g3, 3, "error");
    await world.isStatus(id, "finished");
    expect(await world.groupStatuses(id)).toEqual(["error", "finished", "error"]);
    await expect(resumeRollout(world.drive, world.call, id)).rejects.toMatchObject({ code: "rolloutIllegalState" });
  });

  test("a paused rollout begins nothing until it is resumed", async () => {
    world.engine();
    const { id, g1 } = await world.started({ amountGroups: 2 });
    await pauseRollout(world.drive, world.call, id);
    await world.controller.report(id, g1, 6, "finished");
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(await world.groupStatuses(id)).toEqual(["running", "scheduled"]);
    await resumeRollout(world.drive, world.call, id);
    await world.areStatuses(id, "finished", "running");
  });

  test("a success pause stops before the next group", async () => {
    world.engine();
    const { id, g1 } = await world.started({ amountGroups: 2, successAction: { action: "PAUSE" } });
    await world.controller.report(id, g1, 3, "finished");
    await world.isStatus(id, "paused");
    await resumeRollout(world.drive, world.call, id);
    await world.areStatuses(id, "running", "running");
    expect(await world.status(id)).toBe("running");
  });

  test("deleted targets shrink group and rollout, and the threshold counts anew", async () => {
    world.engine();
    await world.addTargets("gone", 8);
    const { id, g1 } = await world.started({ targetFilterQuery: "name==gone-*", amountGroups: 2 });
    await world.controller.report(id, g1, 1, "finished");
    await world.controller.deleteTargets(id, g1, 2);
    await world.areStatuses(id, "running", "running");
    expect((await world.groups(id)).map((group) => group.total)).toEqual([2, 4]);
    expect(await getRollout(world.create, 1, id)).toMatchObject({ totalTargets: 6, counts: { running: 5, finished: 1 } });
  });

  test("empty groups pass on", async () => {
    world.engine();
    const { id, g1, g2, g4 } = await world.started({ targetFilterQuery: "name==few-1,name==few-2,name==few-3", amountGroups: 5 });
    // sizes 1,1,0,1,0
    await world.controller.report(id, g1, 1, "finished");
    await world.areStatuses(id, "finished", "running", "scheduled", "scheduled", "scheduled");
    await world.controller.report(id, g2, 1, "finished");
    await world.areStatuses(id, "finished", "finished", "finished", "running", "scheduled");
    await world.controller.report(id, g4, 1, "finished");
    await world.isStatus(id, "finished");
  });

  test("a start time that has passed starts by itself, one to come waits for its moment", async () => {
    world.engine();
    const past = await world.createRollout({ startAt: 1 });
    await world.isStatus(past, "running");
    expect((await world.events(past)).find((event) => event.what === "rollout starting")?.data).toMatchObject({ reason: "schedule" });
    const startAt = Date.now() + 2_000;
    const soon = await world.createRollout({ startAt });
    await world.isStatus(soon, "running");
    expect(Date.now()).toBeGreaterThanOrEqual(startAt);
  });
});

test("a long transaction somewhere does not keep the groups waiting", async () => {
  world.engine();
  const { id, g1 } = await world.started({ amountGroups: 2 });
  await withClient(world.database.adminUrl, async (client) => {
    await client.query("begin; create temporary table held (x int)");
    await world.controller.report(id, g1, 6, "finished");
    // while it is open: only its end could bring what commits late
    await world.areStatuses(id, "finished", "running");
    await client.query("rollback");
  });
});
