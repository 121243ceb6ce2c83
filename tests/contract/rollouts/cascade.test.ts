import { routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { call } from "../support/call.ts";
import { device, report } from "../support/device.ts";
import { filled, rolloutBuilder } from "../support/rollout.ts";
import { aWhile, eventually, pause } from "../support/wait.ts";

const rollouts = rolloutBuilder("spec");
const { fleet, running, get, groups, groupsBecome, members, become, reportAll, actionOf, step } = rollouts;

const threshold = (expression: string) => ({ condition: "THRESHOLD", expression });

/** Makes a running rollout and returns the members of its groups. */
const started = async (count: number, more: object) => {
  const { prefix, ids } = await fleet(count);
  const { id } = await running(prefix, more);
  const found = await groups(id);
  const of = await Promise.all(found.map((group) => members(id, group.id)));
  return { id, prefix, ids, of: (n: number) => of[n - 1] as string[], groupIds: found.map((group) => group.id) };
};
const statuses = async (id: number) => (await groups(id)).map(({ status }) => status).join();

describe.concurrent("thresholds, and one group after the other", () => {
  it("rollouts 10.41 after the start one group runs and the others wait", async () => {
    const { id, of } = await started(6, { amountGroups: 3 });
    const found = await groups(id);
    expect(found.map(({ status }) => status)).toEqual(["running", "scheduled", "scheduled"]);
    expect(found.map(({ totalTargetsPerStatus }) => filled(totalTargetsPerStatus))).toEqual([
      { running: 2 },
      { scheduled: 2 },
      { scheduled: 2 },
    ]);
    expect(filled((await get(id)).totalTargetsPerStatus)).toEqual({ running: 2, scheduled: 4 });
    for (const controllerId of of(1)) expect(await device(controllerId).linkNames()).toContain("deploymentBase");
    for (const controllerId of [...of(2), ...of(3)]) expect(await device(controllerId).linkNames()).toEqual(["configData"]);
  });

  it("rollouts 10.94 a scheduled action exists, but is neither active nor seen by the device", async () => {
    const { id, of } = await started(2, { amountGroups: 2 });
    const controllerId = of(2)[0] as string;
    const action = await actionOf(controllerId, id);
    expect(action).toMatchObject({ status: "finished", detailStatus: "scheduled", active: false, type: "update" });
    expect(await rollouts.view.standing(controllerId)).toMatchObject({ assigned: undefined });
    const { rolloutName, _links } = await rollouts.view.action(controllerId, action.id);
    expect([rolloutName, _links.rollout?.name]).toEqual([(await get(id)).name, rolloutName]);
    await device(controllerId).feedbackRefused(action.id, report("closed", "success"), [410, ""]);
  });

  it("rollouts 10.43 half of the group reaches the threshold, and the group runs on", async () => {
    const { id, of } = await started(8, { amountGroups: 2, successCondition: threshold("50") });
    await reportAll(id, of(1).slice(0, 1), "closed", "success");
    await pause(aWhile);
    expect(await statuses(id)).toBe("running,scheduled");
    await reportAll(id, of(1).slice(1, 2), "closed", "success");
    const [first, second] = await groupsBecome(id, "running", "running");
    expect([filled(first?.totalTargetsPerStatus), filled(second?.totalTargetsPerStatus)]).toEqual([
      { running: 2, finished: 2 },
      { running: 4 },
    ]);
    for (const controllerId of of(2)) expect(await device(controllerId).linkNames()).toContain("deploymentBase");
  });

  it("rollouts 10.44, 10.51 group follows group to the end", async () => {
    const { id, of } = await started(4, { amountGroups: 2 });
    await reportAll(id, of(1), "closed", "success");
    await groupsBecome(id, "finished", "running");
    await reportAll(id, of(2), "closed", "success");
    await groupsBecome(id, "finished", "finished");
    const end = await become(id, "finished");
    expect(end.totalTargetsPerStatus).toEqual({ running: 0, notstarted: 0, scheduled: 0, cancelled: 0, finished: 4, error: 0 });
  });

  it("rollouts 10.45 more errors than the threshold pause the rollout, as many as the threshold do not", async () => {
    const { id, of } = await started(8, { amountGroups: 2, errorCondition: threshold("50") });
    await reportAll(id, of(1).slice(0, 2), "closed", "failure");
    await pause(aWhile);
    expect([(await get(id)).status, await statuses(id)]).toEqual(["running", "running,scheduled"]);
    await reportAll(id, of(1).slice(2, 3), "closed", "failure");
    await become(id, "paused");
    const [first] = await groupsBecome(id, "error", "scheduled");
    expect(filled(first?.totalTargetsPerStatus)).toEqual({ error: 3, running: 1 });
  });

  it("rollouts 10.46 with threshold 0 the first error pauses the rollout", async () => {
    const { id, of } = await started(6, { amountGroups: 2, errorCondition: threshold("0") });
    await reportAll(id, of(1).slice(0, 1), "closed", "failure");
    await become(id, "paused");
  });

  it("rollouts 10.47 a group whose actions are all cancelled is finished", async () => {
    const { id, of } = await started(4, { amountGroups: 2 });
    for (const controllerId of of(1)) {
      const action = await actionOf(controllerId, id);
      await rollouts.build.cancel(controllerId, action.id);
      await rollouts.build.cancel(controllerId, action.id, { force: true });
    }
    const [first] = await groupsBecome(id, "finished", "running");
    expect(filled(first?.totalTargetsPerStatus)).toEqual({ cancelled: 2 });
  });

  it("rollouts 10.48 a group that ends below both thresholds lets the next one run", async () => {
    const { id, of } = await started(10, { amountGroups: 2, successCondition: threshold("50"), errorCondition: threshold("80") });
    await reportAll(id, of(1).slice(0, 3), "closed", "failure");
    await reportAll(id, of(1).slice(3), "closed", "success");
    await groupsBecome(id, "finished", "running");
    expect((await get(id)).status).toBe("running");
  });

  it("rollouts 10.49 an empty group is skipped", async () => {
    const { id, of } = await started(3, { amountGroups: 5 });
    expect([of(1), of(2), of(4)].map(({ length }) => length)).toEqual([1, 1, 1]);
    await reportAll(id, [...of(1)], "closed", "success");
    await groupsBecome(id, "finished", "running", "scheduled", "scheduled", "scheduled");
    await reportAll(id, [...of(2)], "closed", "success");
    await groupsBecome(id, "finished", "finished", "finished", "running", "scheduled");
    await reportAll(id, [...of(4)], "closed", "success");
    await become(id, "finished");
  });

  it("rollouts 10.49 empty groups at the beginning are skipped too", async () => {
    const { id, of } = await started(1, { amountGroups: 3 });
    await groupsBecome(id, "finished", "finished", "running");
    await reportAll(id, of(3), "closed", "success");
    await become(id, "finished");
  });

  it("rollouts 10.50 deleted targets do not count any more", async () => {
    const { id, of } = await started(8, { amountGroups: 2, successCondition: threshold("100") });
    await reportAll(id, of(1).slice(0, 2), "closed", "success");
    for (const targetId of of(1).slice(2)) await call(r.targets.delete, "spec", { params: { targetId } });
    const [first] = await groupsBecome(id, "finished", "running");
    expect([first?.totalTargets, filled(first?.totalTargetsPerStatus)]).toEqual([2, { finished: 2 }]);
    expect((await get(id)).totalTargets).toBe(6);
  });

  it("rollouts 10.52 after an error in the last group the group stays in error and the rollout ends", async () => {
    const { id, of } = await started(1, { amountGroups: 1, errorCondition: threshold("0") });
    await reportAll(id, of(1), "closed", "failure");
    await groupsBecome(id, "error");
    const { status } = await eventually(async () => {
      const seen = await get(id);
      return (seen.status === "finished" || seen.status === "paused") && seen;
    });
    if (status === "paused") await step("resume", id);
    expect(filled((await become(id, "finished")).totalTargetsPerStatus)).toEqual({ error: 1 });
  });

  it("rollouts 10.53 when a rollout paused by errors is resumed, the next group runs and the failed one stays in error", async () => {
    const { id, of } = await started(4, { amountGroups: 2, errorCondition: threshold("0") });
    await reportAll(id, of(1).slice(0, 1), "closed", "failure");
    await become(id, "paused");
    await step("resume", id);
    await groupsBecome(id, "error", "running");
    await reportAll(id, of(2), "closed", "success");
    await reportAll(id, of(1).slice(1), "closed", "success");
    await groupsBecome(id, "error", "finished");
    expect(filled((await become(id, "finished")).totalTargetsPerStatus)).toEqual({ error: 1, finished: 3 });
  });

  it("rollouts 10.54 while it is paused devices may finish, but nothing starts", async () => {
    const { id, of } = await started(4, { amountGroups: 2 });
    await step("pause", id);
    expect((await get(id)).status).toBe("paused");
    await reportAll(id, of(1), "closed", "success");
    await pause(aWhile);
    expect([(await get(id)).status, await statuses(id)]).toEqual(["paused", "running,scheduled"]);
    expect(filled((await get(id)).totalTargetsPerStatus)).toEqual({ finished: 2, scheduled: 2 });
    await step("resume", id);
    await groupsBecome(id, "finished", "running");
    expect((await get(id)).status).toBe("running");
  });

  it("rollouts 10.59 success action PAUSE: each group waits for a resume", async () => {
    const { id, of } = await started(4, { amountGroups: 2, successAction: { action: "PAUSE" } });
    await reportAll(id, of(1).slice(0, 1), "closed", "success");
    await become(id, "paused");
    expect((await groups(id))[1]?.status).toBe("scheduled");
    await step("resume", id);
    await eventually(async () => (await groups(id))[1]?.status === "running");
    expect((await become(id, "running")).status).toBe("running");
  });

  it("rollouts 10.60 success action PAUSE on the last group does not pause", async () => {
    const { id, of } = await started(1, { amountGroups: 1, successAction: { action: "PAUSE" } });
    await reportAll(id, of(1), "closed", "success");
    await become(id, "finished");
  });

  it("rollouts 10.61 a rollout of type downloadonly is finished when the devices have downloaded", async () => {
    const { id, of } = await started(2, { amountGroups: 2, type: "downloadonly" });
    await reportAll(id, of(1), "downloaded", "none");
    const [first] = await groupsBecome(id, "finished", "running");
    expect(filled(first?.totalTargetsPerStatus)).toEqual({ finished: 1 });
    await reportAll(id, of(2), "downloaded", "success");
    await become(id, "finished");
  });
});
