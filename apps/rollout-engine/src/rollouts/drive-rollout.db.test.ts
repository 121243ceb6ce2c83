import { eventually } from "@harrier/testkit";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createEngineWorld, type EngineWorld } from "../testing/engine-world.ts";
import { rolloutBody } from "../testing/world.ts";
import { createRollout } from "./create-rollout.ts";
import { decideRollout, deleteRollout, pauseRollout, startRollout, stopRollout, triggerNextGroup } from "./drive-rollout.ts";
import { getRollout } from "./read-rollouts.ts";

let world: EngineWorld;

beforeAll(async () => {
  world = await createEngineWorld();
});
afterEach(() => world.stopEngines());
afterAll(() => world?.drop());

describe("start and delete (contract rollouts.md §4.1)", () => {
  test("only what is ready can be started, and only once", async () => {
    const id = await world.createRollout({});
    await expect(startRollout(world.drive, world.call, id)).rejects.toMatchObject({ code: "rolloutIllegalState" });
    world.engine();
    await world.isStatus(id, "ready");
    const twice = await Promise.allSettled([1, 2].map(() => startRollout(world.drive, world.call, id)));
    expect(twice.map((one) => one.status).sort()).toEqual(["fulfilled", "rejected"]);
    await expect(startRollout(world.drive, world.call, 999_999)).rejects.toMatchObject({ code: "entityNotFound" });
  });

  test("a rollout that has not begun goes without a trace but its events", async () => {
    world.engine();
    const id = await world.createRollout({ amountGroups: 2 });
    await world.isStatus(id, "ready");
    await deleteRollout(world.drive, world.call, id);
    await eventually(() => expect(getRollout(world.create, 1, id)).rejects.toMatchObject({ code: "entityNotFound" }));
    for (const table of ["rollout_groups", "group_members", "leases"])
      expect(await world.sql(`select 1 from rollout_engine.${table} where rollout_id = $1`, [id])).toEqual([]);
    expect((await world.events(id)).map((event) => event.what).slice(-2)).toEqual(["rollout deleting", "rollout deleted"]);
  });

  test("one that runs is deleted with all that it has open, and stays readable", async () => {
    world.engine();
    const { id, g1 } = await world.started({ amountGroups: 3 });
    await world.areStatuses(id, "running", "scheduled", "scheduled");
    await world.controller.report(id, g1, 1, "finished");
    await deleteRollout(world.drive, world.call, id);
    await deleteRollout(world.drive, world.call, id);
    await world.isStatus(id, "deleted");
    await deleteRollout(world.drive, world.call, id);
    expect(await getRollout(world.create, 1, id)).toMatchObject({
      deleted: true,
      counts: { scheduled: 0, running: 0, finished: 1, cancelled: 3 },
    });
    expect(await world.groupStatuses(id)).toEqual(["finished", "finished", "finished"]);
    expect((await world.events(id)).map((event) => event.what).filter((what) => what.startsWith("rollout"))).toEqual(
      ["creating", "ready", "starting", "running", "deleting", "deleted"].map((status) => `rollout ${status}`),
    );
  });

  test("one that was stopped is walked over again: what devices had not answered yet is closed", async () => {
    world.engine();
    const { id } = await world.started({ amountGroups: 2 });
    await stopRollout(world.drive, world.call, id);
    await world.isStatus(id, "stopped");
    expect(await world.actions(id)).toEqual([{ status: 5, n: 6 }]);
    await expect(stopRollout(world.drive, world.call, id)).rejects.toMatchObject({ code: "rolloutIllegalState" });
    await deleteRollout(world.drive, world.call, id);
    await world.isStatus(id, "deleted");
    expect(await world.actions(id)).toEqual([{ status: 4, n: 6 }]);
  });

  test("one whose actions have all not begun goes without a trace", async () => {
    world.engine();
    const id = await world.createRollout({ amountGroups: 2 });
    await world.isStatus(id, "ready");
    world.controller.beforeCall = (command) => {
      if (command.startsWith("start")) throw new Error("controller is away");
    };
    await startRollout(world.drive, world.call, id);
    await eventually(async () => expect(await world.actions(id)).not.toEqual([]));
    await deleteRollout(world.drive, world.call, id);
    await eventually(() => expect(getRollout(world.create, 1, id)).rejects.toMatchObject({ code: "entityNotFound" }));
    expect(await world.actions(id)).toEqual([]);
  });
});

describe("a trigger by hand (contract rollouts.md §4.7)", () => {
  test("begins the next group, one that waits for its actions too, until there is none", async () => {
    world.engine();
    const { id } = await world.started({ amountGroups: 3 });
    await world.areStatuses(id, "running", "scheduled", "scheduled");
    await triggerNextGroup(world.drive, world.call, id);
    expect((await world.groupStatuses(id)).slice(0, 2)).toEqual(["running", "running"]);
    await triggerNextGroup(world.drive, world.call, id);
    await expect(triggerNextGroup(world.drive, world.call, id)).rejects.toThrow("no groups left");
    await world.areStatuses(id, "running", "running", "running");
    await eventually(async () => expect(await world.actions(id)).toEqual([{ status: 3, n: 12 }]));
    await expect(triggerNextGroup(world.drive, world.call, 999_999)).rejects.toMatchObject({ code: "entityNotFound" });
  });

  test("many at once, beside two engines whose thresholds are met: no group begins twice, none is left out", async () => {
    for (let n = 0; n < 2; n++) world.engine();
    const { id, g1 } = await world.started({ amountGroups: 6, errorCondition: { expression: "100" } });
    await world.areStatuses(id, "running", ...Array.from({ length: 5 }, () => "scheduled"));
    await Promise.all([
      world.controller.report(id, g1, 2, "finished"),
      ...Array.from({ length: 4 }, () => triggerNextGroup(world.drive, world.call, id)),
    ]);
    const begun = (await world.groupStatuses(id)).map((status) => status !== "scheduled");
    expect(begun.lastIndexOf(true)).toBe(begun.indexOf(false) < 0 ? 5 : begun.indexOf(false) - 1);
    const told = await world.events(id);
    expect(told.map(({ sequence }) => sequence)).toEqual(told.map((_, n) => n + 1));
    const groups = told.filter(({ what }) => what === "group running").map(({ data }) => data["groupId"]);
    expect(new Set(groups).size).toBe(groups.length);
  });
});

test("of commands that exclude each other exactly one wins, beside two engines", async () => {
  for (let n = 0; n < 2; n++) world.engine();
  for (let round = 0; round < 3; round++) {
    const { id } = await world.started({ amountGroups: 2 });
    const commands = [pauseRollout, pauseRollout, stopRollout, stopRollout];
    const answers = await Promise.allSettled(commands.map((command) => command(world.drive, world.call, id)));
    const won = (from: number) => answers.slice(from, from + 2).filter(({ status }) => status === "fulfilled").length;
    // a stop is possible before and after a pause, a pause only before a stop
    expect([won(0) <= 1, won(2)]).toEqual([true, 1]);
    await world.isStatus(id, "stopped");
    const told = await world.events(id);
    expect(told.map(({ sequence }) => sequence)).toEqual(told.map((_, n) => n + 1));
    expect(told.filter(({ what }) => what === "rollout stopping")).toHaveLength(1);
  }
});

describe("approval (contract rollouts.md §4.11)", () => {
  const approval = (on: boolean) =>
    world.sql(
      `insert into management.settings (tenant_id, key, value, created_by, last_modified_by)
         values (1, 'rollout.approval.enabled', $1::jsonb, 'x', 'x')
       on conflict (tenant_id, key) do update set value = excluded.value`,
      [JSON.stringify(on)],
    );

  test("the switch counts when the members are frozen, for those whose creator may not approve; of decisions one wins", async () => {
    await approval(true);
    const [id, switched] = [await world.createRollout({}), await world.createRollout({ targetFilterQuery: "name==few-*" })];
    const { principal } = world.call;
    const chief = { ...world.call, principal: { ...principal, permissions: [...principal.permissions, "APPROVE_ROLLOUT"] } };
    const own = await createRollout(world.create, rolloutBody({ targetFilterQuery: "name==t-*" }), chief);
    world.engine();
    await world.isStatus(id, "waiting_for_approval");
    await world.isStatus(own, "ready");
    await approval(false);
    const later = await world.createRollout({});
    await world.isStatus(later, "ready");
    expect(await world.status(switched)).toBe("waiting_for_approval");
    const decide = (approved: boolean, remark: string | undefined) => decideRollout(world.drive, world.call, id, { approved, remark });
    const answers = await Promise.allSettled([decide(true, "yes"), decide(false, "no"), decide(true, undefined)]);
    const won = answers.findIndex(({ status }) => status === "fulfilled");
    expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await getRollout(world.create, 1, id)).toMatchObject({
      status: won === 1 ? "approval_denied" : "ready",
      approveDecidedBy: principal.subject,
      approvalRemark: ["yes", "no", null][won],
    });
    const told = (await world.events(id)).filter(({ what }) => /^rollout (ready|approval_denied|waiting)/.test(what));
    expect(told.map(({ data }) => data["previousStatus"])).toEqual(["creating", "waiting_for_approval"]);
  });
});
