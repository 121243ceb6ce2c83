import { routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { ask, dialects } from "../support/call.ts";
import { actionIdOf, device, report } from "../support/device.ts";
import { filled, rolloutBuilder } from "../support/rollout.ts";

describe.concurrent.each(dialects)("commands on rollouts and their actions, %s", (dialect) => {
  const rollouts = rolloutBuilder(dialect);
  const { fleet, ready, running, create, get, become, step, noStep, groups, groupsBecome, actionOf, reportAll, one, view, build, set } =
    rollouts;
  const bodiless = dialect === "spec" ? 200 : 204;

  it("rollouts 10.39 starting a rollout that is being created is 400", async () => {
    // The rollout is so large that it is still being created when the start arrives; if the engine is faster, another try shows it.
    const { prefix } = await fleet(3_000);
    const refusals: string[] = [];
    for (let tries = 0; tries < 3 && refusals.length === 0; tries += 1) {
      const { id, status } = await create(prefix, { amountGroups: 300 });
      expect(status).toBe("creating");
      const answer = await ask<{ errorCode: string }>(r.rollouts.start, dialect, one(id));
      if (answer.status >= 300) refusals.push(`${answer.status} ${answer.json.errorCode}`);
      if (answer.status >= 300) await become(id, "ready");
    }
    expect(refusals).toEqual(["400 hawkbit.server.error.rollout.illegalState"]);
  });

  it("rollouts 10.40, 10.42, 10.55 start, pause and resume are accepted only in the states that they are for", async () => {
    const { prefix } = await fleet(2);
    const { id } = await ready(prefix, { amountGroups: 2 });
    await noStep("pause", id);
    await noStep("resume", id);
    expect((await step("start", id)).status).toBe(bodiless);
    expect(["starting", "running"]).toContain((await get(id)).status);
    await noStep("start", id);
    await become(id, "running");
    await noStep("start", id);
    await noStep("resume", id);
    expect((await step("pause", id)).status).toBe(bodiless);
    await noStep("pause", id);
    await noStep("start", id);
    expect((await get(id)).status).toBe("paused");
    expect((await step("resume", id)).status).toBe(bodiless);
    expect((await get(id)).status).toBe("running");
  });

  it("rollouts 10.42 of many starts at once one succeeds", async () => {
    const { prefix, ids } = await fleet(2);
    const { id } = await ready(prefix);
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask(r.rollouts.start, dialect, one(id))));
    expect(answers.map(({ status }) => status).sort()).toEqual([bodiless, 400, 400, 400, 400, 400]);
    await become(id, "running");
    for (const controllerId of ids) expect((await view.actions(controllerId)).total).toBe(1);
  });

  it("rollouts 4.4 an action of a rollout has its type, weight, links and first message", async () => {
    const { prefix, ids } = await fleet(1);
    const { id, name } = await running(prefix, { type: "soft", weight: 7 });
    const controllerId = ids[0] as string;
    const action = await actionOf(controllerId, id);
    expect(action).toMatchObject({ forceType: "soft", weight: 7, rollout: id, rolloutName: name, active: true });
    const full = await view.action(controllerId, action.id);
    expect(full._links.rollout).toMatchObject({ name, href: expect.stringMatching(new RegExp(`/rollouts/${id}$`)) });
    const [started, scheduled] = await view.history(controllerId, action.id);
    expect([started?.type, started?.messages]).toEqual(["running", [`Initiated by Rollout Group 'group-1' [Rollout ${name}:${id}]`]]);
    // Every change of an action is an entry, so that history and events have the same length.
    expect([scheduled?.type, scheduled?.messages]).toEqual(["scheduled", []]);
    expect((await device(controllerId).deployment(action.id)).deployment).toMatchObject({ download: "attempt", update: "attempt" });
    expect(await view.standing(controllerId)).toMatchObject({ updateStatus: "pending" });
  });

  it("rollouts 10.62 a target that has the set already is finished at the start, and its open action goes on", async () => {
    const { prefix, ids } = await fleet(2);
    const { id: setId } = await set();
    const [pending, installed] = ids as [string, string];
    const open = await build.assign(setId, pending);
    await device(installed).feedback(await build.assign(setId, installed), report("closed", "success"));
    const { id } = await ready(prefix, { distributionSetId: setId });
    await step("start", id);
    const rollout = await become(id, "finished");
    expect(filled(rollout.totalTargetsPerStatus)).toEqual({ finished: 2 });
    for (const controllerId of ids) {
      const action = await actionOf(controllerId, id);
      expect(action.active).toBe(false);
      const messages = (await view.history(controllerId, action.id)).flatMap((entry) => entry.messages);
      expect(messages.some((message) => message.includes("Distribution Set is already assigned. Skipping this action."))).toBe(true);
    }
    expect(await view.state(pending, open)).toMatchObject({ active: true, state: "running" });
    expect(actionIdOf((await device(pending).links()).deploymentBase)).toBe(open);
  });

  it("rollouts 10.63 the rollout that is started last supersedes scheduled actions of others", async () => {
    const { prefix, ids } = await fleet(2);
    const first = await running(prefix, { amountGroups: 2 });
    const second = await running(prefix, { amountGroups: 2 });
    const waiting = (await rollouts.members(first.id, (await groups(first.id))[1]?.id as number))[0] as string;
    expect(await view.state(waiting, (await actionOf(waiting, first.id)).id)).toMatchObject({ active: false, state: "canceled" });
    expect(filled((await get(first.id)).totalTargetsPerStatus)).toMatchObject({ cancelled: 1 });
    for (const controllerId of ids) expect((await actionOf(controllerId, second.id)).type).toBe("update");
  });

  it("rollouts 10.64 an open action is cancelled when the group starts, and the device sees that first", async () => {
    const { prefix, ids } = await fleet(1);
    const controllerId = ids[0] as string;
    const open = await build.assign((await set()).id, controllerId);
    const { id } = await running(prefix);
    expect(await view.state(controllerId, open)).toEqual({ type: "cancel", active: true, state: "canceling" });
    const d = device(controllerId);
    expect(actionIdOf((await d.links()).cancelAction)).toBe(open);
    await d.cancelFeedback(open, report("closed", "success"));
    expect(actionIdOf((await d.links()).deploymentBase)).toBe((await actionOf(controllerId, id)).id);
  });

  it("rollouts 10.66 an open migration step stays and comes first", async () => {
    const { prefix, ids } = await fleet(1);
    const controllerId = ids[0] as string;
    const open = await build.assign((await set({ requiredMigrationStep: true })).id, controllerId);
    const { id } = await running(prefix);
    expect(await view.state(controllerId, open)).toMatchObject({ active: true, state: "running" });
    const d = device(controllerId);
    expect(actionIdOf((await d.links()).deploymentBase)).toBe(open);
    await d.feedback(open, report("closed", "success"));
    expect(actionIdOf((await d.links()).deploymentBase)).toBe((await actionOf(controllerId, id)).id);
  });

  it("rollouts 10.67 a manual assignment takes a target out of a waiting group", async () => {
    const { prefix } = await fleet(2);
    const { id } = await running(prefix, { amountGroups: 2 });
    const waiting = (await rollouts.members(id, (await groups(id))[1]?.id as number))[0] as string;
    const byHand = await build.assign((await set()).id, waiting);
    expect(await view.state(waiting, (await actionOf(waiting, id)).id)).toMatchObject({ active: false, state: "canceled" });
    expect(actionIdOf((await device(waiting).links()).deploymentBase)).toBe(byHand);
    expect(filled((await get(id)).totalTargetsPerStatus)).toEqual({ running: 1, cancelled: 1 });
  });

  it("rollouts 4.3 concurrent reports of all devices are all counted", async () => {
    const { prefix, ids } = await fleet(60);
    const { id } = await running(prefix, { amountGroups: 1, errorCondition: { expression: "100" } });
    await Promise.all([reportAll(id, ids.slice(0, 20), "closed", "failure"), reportAll(id, ids.slice(20), "closed", "success")]);
    await groupsBecome(id, "finished");
    expect(filled((await become(id, "finished")).totalTargetsPerStatus)).toEqual({ finished: 40, error: 20 });
  });
});
