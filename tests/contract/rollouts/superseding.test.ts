import { describe, expect, it } from "vitest";
import { builder } from "../support/build.ts";
import { dialects } from "../support/call.ts";
import { actionIdOf, device, report } from "../support/device.ts";
import { viewer } from "../support/look.ts";
import { assignBy, paths } from "../support/paths.ts";
import { filled, rolloutBuilder } from "../support/rollout.ts";
import { inOwnTenant } from "../support/tenants.ts";
import { typeBuilder } from "../support/types.ts";
import { eventually } from "../support/wait.ts";

describe.each(dialects)("superseding by a newer action, %s", (dialect) => {
  inOwnTenant(dialect);
  const build = builder(dialect);
  const view = viewer(dialect);
  const rollout = rolloutBuilder(dialect);
  const assignVia = assignBy(dialect);
  const step = () => build.set({ requiredMigrationStep: true });
  const served = async (controllerId: string) => {
    const { cancelAction, deploymentBase } = await device(controllerId).links();
    return { cancel: cancelAction && actionIdOf(cancelAction), deploy: deploymentBase && actionIdOf(deploymentBase) };
  };

  it.each(paths)(
    "device 13.66, rollouts 10.64 by %s: open actions are cancelled, and the device gets the cancellation first",
    async (path) => {
      const open = await build.deployment({ weight: 1000 });
      const set = await build.set();
      // The weight has no effect: the newer action counts.
      const newer = await assignVia(path, open.controllerId, set, { weight: 0 });
      expect(await view.state(open.controllerId, open.actionId)).toEqual({ type: "cancel", active: true, state: "canceling" });
      const [entry] = await view.history(open.controllerId, open.actionId);
      expect([entry?.type, entry?.messages]).toEqual(["canceling", ["Update Server: cancel obsolete action due to new update"]]);
      expect(await served(open.controllerId)).toEqual({ cancel: open.actionId, deploy: undefined });
      expect(await view.standing(open.controllerId)).toMatchObject({ updateStatus: "pending", assigned: set.id });
      await device(open.controllerId).cancelFeedback(open.actionId, report("closed", "success"));
      expect(await served(open.controllerId)).toEqual({ cancel: undefined, deploy: newer });
      expect((await view.action(open.controllerId, newer)).weight).toBe(0);
      await device(open.controllerId).feedback(newer, report("closed", "success"));
      expect(await view.standing(open.controllerId)).toMatchObject({ updateStatus: "in_sync", assigned: set.id, installed: set.id });
    },
  );

  it.each(paths)("device 13.66, rollouts 10.64 by %s: a cancellation in progress is requested once", async (path) => {
    const open = await build.deployment();
    await build.cancel(open.controllerId, open.actionId);
    const newer = await assignVia(path, open.controllerId, await build.set());
    const entries = (await view.history(open.controllerId, open.actionId)).filter(({ type }) => type === "canceling");
    expect(entries).toHaveLength(1);
    await device(open.controllerId).cancelFeedback(open.actionId, report("closed", "success"));
    expect(await served(open.controllerId)).toEqual({ cancel: undefined, deploy: newer });
  });

  it.each(paths)("device 13.67, rollouts 10.66 by %s: an open migration step stays and comes first", async (path) => {
    const { controllerId } = await build.target();
    const first = await build.assign((await step()).id, controllerId);
    const newer = await assignVia(path, controllerId, await build.set());
    expect(await view.state(controllerId, first)).toMatchObject({ type: "update", active: true, state: "running" });
    expect(await served(controllerId)).toEqual({ cancel: undefined, deploy: first });
    await device(controllerId).feedback(first, report("closed", "success"));
    expect(await served(controllerId)).toEqual({ cancel: undefined, deploy: newer });
  });

  it.each(paths)(
    "device 13.67, rollouts 4.4 by %s: a migration step supersedes an open set, and stays when the next set is assigned",
    async (path) => {
      const open = await build.deployment();
      const first = await assignVia(path, open.controllerId, await step());
      expect(await view.state(open.controllerId, open.actionId)).toMatchObject({ state: "canceling" });
      await device(open.controllerId).cancelFeedback(open.actionId, report("closed", "success"));
      const next = await build.assign((await build.set()).id, open.controllerId);
      expect(await served(open.controllerId)).toEqual({ cancel: undefined, deploy: first });
      await device(open.controllerId).feedback(first, report("closed", "success"));
      expect(await served(open.controllerId)).toEqual({ cancel: undefined, deploy: next });
    },
  );

  it.each(paths)("rollouts 4.4, 6.9 by %s: of several open actions the heavier comes first, then the older", async (path) => {
    const { controllerId } = await build.target();
    const light = await build.assign((await step()).id, controllerId, { weight: 5 });
    const same = await assignVia(path, controllerId, await step(), { weight: 5 });
    expect(await served(controllerId)).toMatchObject({ deploy: light });
    const heavy = await assignVia(path, controllerId, await step(), { weight: 6 });
    for (const expected of [heavy, light, same]) {
      expect(await served(controllerId)).toEqual({ cancel: undefined, deploy: expected });
      await device(controllerId).feedback(expected, report("closed", "success"));
    }
  });

  it.each(paths)(
    "rollouts 10.63, 10.67 by %s: a target leaves the group that waits for it, and counts as cancelled there",
    async (path) => {
      const { prefix, ids } = await rollout.fleet(2);
      const made = await rollout.running(prefix, { amountGroups: 2 });
      await rollout.groupsBecome(made.id, "running", "scheduled");
      const waiting = ids[1] as string;
      const scheduled = await rollout.actionOf(waiting, made.id);
      const newer = await assignVia(path, waiting, await build.set());
      expect(await view.state(waiting, scheduled.id)).toMatchObject({ active: false, state: "canceled" });
      expect(await served(waiting)).toEqual({ cancel: undefined, deploy: newer });
      await eventually(async () => {
        expect(filled((await rollout.get(made.id)).totalTargetsPerStatus)).toEqual({ running: 1, cancelled: 1 });
        return true;
      });
      // The group has no more members to wait for.
      await rollout.reportAll(made.id, [ids[0] as string], "closed", "success");
      await rollout.become(made.id, "finished");
    },
  );

  it("rollouts 10.63 an action with a migration step is not superseded", async () => {
    const { prefix, ids } = await rollout.fleet(2);
    const made = await rollout.running(prefix, { amountGroups: 2, distributionSetId: (await step()).id });
    await rollout.groupsBecome(made.id, "running", "scheduled");
    const waiting = ids[1] as string;
    const scheduled = await rollout.actionOf(waiting, made.id);
    await build.assign((await build.set()).id, waiting);
    expect(await view.state(waiting, scheduled.id)).toMatchObject({ active: false, state: "scheduled" });
  });

  it("rollouts 10.8 a rollout whose targets all have an incompatible type is rejected", async () => {
    const { targetType } = typeBuilder(dialect);
    const { prefix } = await rollout.fleet(2, { targetType: (await targetType()).id });
    await rollout.notCreated(prefix, {}, [400, "repo.constraintViolation"]);
    // One compatible target is enough.
    await build.target({ controllerId: `${prefix}-plain` });
    expect((await rollout.create(prefix)).totalTargets).toBe(1);
  });
});
