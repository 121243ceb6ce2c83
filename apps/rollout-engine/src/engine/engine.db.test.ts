import { withClient } from "@harrier/testkit";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { getRollout } from "../rollouts/read-rollouts.ts";
import { pauseRollout, resumeRollout } from "../rollouts/rollout-commands.ts";
import { createEngineFixture, type EngineFixture } from "../testing/engine.fixture.ts";

let fixture: EngineFixture;

beforeAll(async () => {
  fixture = await createEngineFixture();
});
afterEach(() => fixture.stopEngines());
afterAll(() => fixture?.drop());

describe("a rollout from end to end (contract rollouts.md §10)", () => {
  test("groups follow one another by their thresholds until all are finished", async () => {
    fixture.engine();
    const { id, g1, g2, g3 } = await fixture.started({ amountGroups: 3, successCondition: { expression: "50" } });
    expect(await fixture.groupStatuses(id)).toEqual(["running", "scheduled", "scheduled"]);
    expect(await getRollout(fixture.create, 1, id)).toMatchObject({ counts: { running: 4, scheduled: 8 } });

    await fixture.controller.report(id, g1, 1, "finished");
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await fixture.groupStatuses(id)).toEqual(["running", "scheduled", "scheduled"]);
    await fixture.controller.report(id, g1, 1, "finished");
    await fixture.areStatuses(id, "running", "running", "scheduled");
    await fixture.controller.report(id, g1, 2, "finished");
    await fixture.areStatuses(id, "finished", "running", "scheduled");
    await fixture.controller.report(id, g2, 4, "finished");
    await fixture.areStatuses(id, "finished", "finished", "running");
    await fixture.controller.report(id, g3, 2, "cancelled");
    await fixture.controller.report(id, g3, 2, "finished");
    await fixture.isStatus(id, "finished");
    expect(await fixture.actions(id)).toEqual([
      { status: 0, n: 10 },
      { status: 4, n: 2 },
    ]);

    const told = await fixture.events(id);
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
    fixture.engine();
    fixture.controller.calls.length = 0;
    const { g1, g3 } = await fixture.started({ amountGroups: 3 });
    const first = fixture.controller.calls.indexOf(`start ${g1}`);
    expect(fixture.controller.calls.slice(0, first + 1).filter((call) => call.startsWith("schedule"))).toEqual([
      `schedule ${g1}`,
      `schedule ${g1}`,
    ]);
    expect(fixture.controller.calls[0]).toBe("openFence");
    expect(fixture.controller.calls.slice(first).some((call) => call === `schedule ${g3}`)).toBe(true);
  });

  test("errors pause a rollout, a resume begins the next group, and errors in the last group end the rollout", async () => {
    fixture.engine();
    const { id, g1, g2, g3 } = await fixture.started({ amountGroups: 3, errorCondition: { expression: "50" } });
    await fixture.controller.report(id, g1, 3, "error");
    await fixture.isStatus(id, "paused");
    expect(await fixture.groupStatuses(id)).toEqual(["error", "scheduled", "scheduled"]);
    await expect(pauseRollout(fixture.drive, fixture.call, id)).rejects.toMatchObject({ code: "rolloutIllegalState" });
    await resumeRollout(fixture.drive, fixture.call, id);
    await fixture.areStatuses(id, "error", "running", "scheduled");
    expect(await fixture.status(id)).toBe("running");
    await fixture.controller.report(id, g2, 4, "finished");
    await fixture.areStatuses(id, "error", "finished", "running");
    await fixture.controller.report(id, g3, 3, "error");
    await fixture.isStatus(id, "finished");
    expect(await fixture.groupStatuses(id)).toEqual(["error", "finished", "error"]);
    await expect(resumeRollout(fixture.drive, fixture.call, id)).rejects.toMatchObject({ code: "rolloutIllegalState" });
  });

  test("a paused rollout begins nothing until it is resumed", async () => {
    fixture.engine();
    const { id, g1 } = await fixture.started({ amountGroups: 2 });
    await pauseRollout(fixture.drive, fixture.call, id);
    await fixture.controller.report(id, g1, 6, "finished");
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(await fixture.groupStatuses(id)).toEqual(["running", "scheduled"]);
    await resumeRollout(fixture.drive, fixture.call, id);
    await fixture.areStatuses(id, "finished", "running");
  });

  test("a rollout that pauses on success stops before the next group", async () => {
    fixture.engine();
    const { id, g1 } = await fixture.started({ amountGroups: 2, successAction: { action: "PAUSE" } });
    await fixture.controller.report(id, g1, 3, "finished");
    await fixture.isStatus(id, "paused");
    await resumeRollout(fixture.drive, fixture.call, id);
    await fixture.areStatuses(id, "running", "running");
    expect(await fixture.status(id)).toBe("running");
  });

  test("deleted targets reduce the size of group and rollout, and the threshold is evaluated anew", async () => {
    fixture.engine();
    await fixture.addTargets("gone", 8);
    const { id, g1 } = await fixture.started({ targetFilterQuery: "name==gone-*", amountGroups: 2 });
    await fixture.controller.report(id, g1, 1, "finished");
    await fixture.controller.deleteTargets(id, g1, 2);
    await fixture.areStatuses(id, "running", "running");
    expect((await fixture.groups(id)).map((group) => group.total)).toEqual([2, 4]);
    expect(await getRollout(fixture.create, 1, id)).toMatchObject({ totalTargets: 6, counts: { running: 5, finished: 1 } });
  });

  test("empty groups are finished, and the next group starts", async () => {
    fixture.engine();
    const { id, g1, g2, g4 } = await fixture.started({ targetFilterQuery: "name==few-1,name==few-2,name==few-3", amountGroups: 5 });
    // the groups have the sizes 1,1,0,1,0
    await fixture.controller.report(id, g1, 1, "finished");
    await fixture.areStatuses(id, "finished", "running", "scheduled", "scheduled", "scheduled");
    await fixture.controller.report(id, g2, 1, "finished");
    await fixture.areStatuses(id, "finished", "finished", "finished", "running", "scheduled");
    await fixture.controller.report(id, g4, 1, "finished");
    await fixture.isStatus(id, "finished");
  });

  test("a rollout starts by itself if its start time has passed, and otherwise waits for it", async () => {
    fixture.engine();
    const past = await fixture.createRollout({ startAt: 1 });
    await fixture.isStatus(past, "running");
    expect((await fixture.events(past)).find((event) => event.what === "rollout starting")?.data).toMatchObject({ reason: "schedule" });
    const startAt = Date.now() + 2_000;
    const soon = await fixture.createRollout({ startAt });
    await fixture.isStatus(soon, "running");
    expect(Date.now()).toBeGreaterThanOrEqual(startAt);
  });
});

test("a long transaction elsewhere does not delay the groups", async () => {
  fixture.engine();
  const { id, g1 } = await fixture.started({ amountGroups: 2 });
  await withClient(fixture.database.adminUrl, async (client) => {
    await client.query("begin; create temporary table held (x int)");
    await fixture.controller.report(id, g1, 6, "finished");
    // the rollout must go on while the transaction is open: only rows that commit late wait for its end
    await fixture.areStatuses(id, "finished", "running");
    await client.query("rollback");
  });
});
