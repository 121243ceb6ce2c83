import { type RolloutView, routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { ask, call, dialects, refused } from "../support/call.ts";
import { device } from "../support/device.ts";
import type { Page } from "../support/look.ts";
import { filled, rolloutBuilder } from "../support/rollout.ts";
import { eventually } from "../support/wait.ts";

describe.concurrent.each(dialects)("triggering, stopping and deleting rollouts, %s", (dialect) => {
  const rollouts = rolloutBuilder(dialect);
  const { fleet, ready, running, create, get, become, step, noStep, groups, groupsBecome, members, actionOf, reportAll, one, view } =
    rollouts;
  const bodiless = dialect === "spec" ? 200 : 204;
  /** With this condition half of a group does not let the next one begin. */
  const all = { expression: "100" };
  const remove = async (id: number) => (await call(r.rollouts.delete, dialect, one(id))).status;
  const isGone = (id: number) => eventually(async () => (await ask(r.rollouts.get, dialect, one(id))).status === 404);
  const listed = async (name: string, query: object = {}) =>
    (await call<Page<RolloutView>>(r.rollouts.list, dialect, { query: { q: `name==${name}`, ...query } })).json.content;

  it("rollouts 10.56, 10.57, 10.58 a trigger begins the next group at once, as long as the rollout runs and has one", async () => {
    const { prefix } = await fleet(3);
    const { id } = await ready(prefix, { amountGroups: 3 });
    await noStep("triggerNextGroup", id);
    await step("start", id);
    await become(id, "running");
    await groupsBecome(id, "running", "scheduled", "scheduled");
    expect((await step("triggerNextGroup", id)).status).toBe(bodiless);
    expect((await groups(id)).map(({ status }) => status)).toEqual(["running", "running", "scheduled"]);
    await step("pause", id);
    await noStep("triggerNextGroup", id);
    await step("resume", id);
    await step("triggerNextGroup", id);
    expect((await groups(id)).map(({ status }) => status)).toEqual(["running", "running", "running"]);
    await noStep("triggerNextGroup", id);
    await groupsBecome(id, "running", "running", "running");
    expect(filled((await get(id)).totalTargetsPerStatus)).toEqual({ running: 3 });
  });

  it("rollouts 10.56 concurrent triggers begin no group twice, and every target has one action", async () => {
    const { prefix, ids } = await fleet(4);
    const { id } = await running(prefix, { amountGroups: 4 });
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask(r.rollouts.triggerNextGroup, dialect, one(id))));
    expect(answers.every(({ status }) => status === bodiless || status === 400)).toBe(true);
    const begun = (await groups(id)).map(({ status }) => status === "running");
    // All triggers began the same group, or one group after the other.
    expect(begun).toEqual(begun.toSorted().toReversed());
    expect(begun[1]).toBe(true);
    for (const controllerId of ids) await eventually(async () => (await view.actions(controllerId)).total === 1);
  });

  it("rollouts 10.79 a stop cancels actions that have not begun, and requests the cancellation of the others from devices", async () => {
    const { prefix } = await fleet(4);
    const { id } = await running(prefix, { amountGroups: 2, successCondition: all });
    const [first, second] = await groupsBecome(id, "running", "scheduled");
    const [done, open] = (await members(id, first?.id as number)) as [string, string];
    await reportAll(id, [done], "closed", "success");
    await step("pause", id);
    expect((await step("stop", id)).status).toBe(bodiless);
    expect(["stopping", "stopped"]).toContain((await get(id)).status);
    const stopped = await become(id, "stopped");
    expect((await groups(id)).map(({ status }) => status)).toEqual(["finished", "finished"]);
    expect(filled(stopped.totalTargetsPerStatus)).toEqual({ finished: 1, running: 1, notstarted: 2 });
    for (const controllerId of await members(id, second?.id as number)) expect((await view.actions(controllerId)).total).toBe(0);
    const action = await actionOf(open, id);
    expect(await view.state(open, action.id)).toEqual({ type: "cancel", active: true, state: "canceling" });
    expect(await device(open).linkNames()).toEqual(["cancelAction", "configData"]);
    expect(await view.state(done, (await actionOf(done, id)).id)).toMatchObject({ state: "finished" });
    for (const name of ["start", "pause", "resume", "stop", "triggerNextGroup"] as const) await noStep(name, id);
  });

  it("rollouts 10.79 a rollout that has not begun can be stopped too, and never starts", async () => {
    const { prefix, ids } = await fleet(2);
    const { id } = await ready(prefix, { amountGroups: 2 });
    await step("stop", id);
    await become(id, "stopped");
    await noStep("start", id);
    expect((await view.actions(ids[0] as string)).total).toBe(0);
  });

  it("rollouts 10.80 a rollout that was never started is gone when it is deleted", async () => {
    const { prefix, ids } = await fleet(1);
    const { id, name } = await ready(prefix);
    expect(await remove(id)).toBe(bodiless);
    await isGone(id);
    expect((await view.actions(ids[0] as string)).total).toBe(0);
    // Its name is free again.
    await create(prefix, { name });
  });

  it("rollouts 10.80 a rollout that is still being created is gone when it is deleted", async () => {
    const { prefix } = await fleet(1_000);
    const { id } = await create(prefix, { amountGroups: 200 });
    expect(await remove(id)).toBe(bodiless);
    await isGone(id);
  });

  it.each([
    ["running", []],
    ["paused", ["pause"]],
    ["stopped", ["stop"]],
  ] as const)(
    "rollouts 10.81 deleted while %s: its open actions are closed by force, it stays readable and out of lists",
    async (status, steps) => {
      const { prefix } = await fleet(4);
      const { id, name } = await running(prefix, { amountGroups: 2, successCondition: all });
      const [first, second] = await groupsBecome(id, "running", "scheduled");
      const begun = (await members(id, first?.id as number)) as [string, string];
      const waiting = await members(id, second?.id as number);
      await reportAll(id, begun.slice(0, 1), "closed", "success");
      for (const name of steps) await step(name, id);
      await become(id, status);
      expect(await remove(id)).toBe(bodiless);
      // A repeated deletion succeeds, during the first one and after it.
      expect(await remove(id)).toBe(bodiless);
      const rollout = await become(id, "deleted");
      expect(await remove(id)).toBe(bodiless);
      expect(rollout.deleted).toBe(true);
      expect(filled(rollout.totalTargetsPerStatus)).toEqual({ finished: 1, cancelled: 1, notstarted: 2 });
      expect((await groups(id)).map(({ status }) => status)).toEqual(["finished", "finished"]);
      expect(await view.state(begun[1], (await actionOf(begun[1], id)).id)).toEqual({ type: "cancel", active: false, state: "canceled" });
      expect((await view.standing(begun[1])).updateStatus).toBe("in_sync");
      expect(await device(begun[1]).linkNames()).toEqual(["configData"]);
      for (const controllerId of waiting) expect((await view.actions(controllerId)).total).toBe(0);
      expect([await listed(name), (await listed(name, { soft_deleted_mode: "ONLY_SOFT_DELETED" })).length]).toEqual([[], 1]);
      expect(await listed(name, { soft_deleted_mode: "INCLUDE_SOFT_DELETED" })).toMatchObject([{ id, deleted: true, status: "deleted" }]);
      await refused(r.rollouts.update, dialect, { ...one(id), body: { description: "x" } }, [403, "entityReadOnly"]);
      for (const name of ["start", "pause", "resume", "stop", "triggerNextGroup"] as const) await noStep(name, id);
      expect((await actionOf(begun[0], id)).rolloutName).toBe(name);
    },
  );

  it("rollouts 10.81 a finished rollout can be deleted", async () => {
    const { prefix, ids } = await fleet(2);
    const { id } = await running(prefix, { errorCondition: { expression: "0" } });
    await reportAll(id, ids.slice(0, 1), "closed", "failure");
    await become(id, "finished");
    // The device that still works on its action is not left behind.
    expect(await remove(id)).toBe(bodiless);
    expect(filled((await become(id, "deleted")).totalTargetsPerStatus)).toEqual({ error: 1, cancelled: 1 });
  });
});
