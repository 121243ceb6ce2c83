import { routeTable as r } from "@harrier/contracts";
import { beforeAll, describe, expect, it } from "vitest";
import { build } from "../support/build.ts";
import { call } from "../support/call.ts";
import { actionIdOf, device, report } from "../support/device.ts";
import { view } from "../support/look.ts";
import { assignBy, paths } from "../support/paths.ts";
import { rolloutBuilder } from "../support/rollout.ts";
import { inOwnTenant } from "../support/tenants.ts";
import { aWhile, pause } from "../support/wait.ts";

const put = (key: string, value: unknown) => call(r.configs.put, "spec", { params: { key }, body: { value } });

describe("with auto-close", () => {
  inOwnTenant();
  const key = "repository.actions.autoclose.enabled";
  beforeAll(async () => {
    await put(key, true);
    await pause(aWhile);
  });

  it("device 13.68, management 12.89 a new set closes the open action at once", async () => {
    const { controllerId, actionId } = await build.deployment();
    const newer = await build.assign((await build.set()).id, controllerId);
    expect(await view.state(controllerId, actionId)).toEqual({ type: "cancel", active: false, state: "canceled" });
    const [entry] = await view.history(controllerId, actionId);
    expect(entry?.messages).toEqual(["Update Server: close obsolete action due to new update"]);
    const d = device(controllerId);
    const links = await d.links();
    expect([links.cancelAction, actionIdOf(links.deploymentBase)]).toEqual([undefined, newer]);
    await d.feedbackRefused(actionId, report("closed", "success"), [410, ""]);
  });

  it("device 13.68 an action that is being cancelled is closed too", async () => {
    const { controllerId, actionId } = await build.deployment();
    await build.cancel(controllerId, actionId);
    await build.assign((await build.set()).id, controllerId);
    expect(await view.state(controllerId, actionId)).toMatchObject({ active: false, state: "canceled" });
  });

  it("management 12.89 an action with a migration step stays open", async () => {
    const step = await build.set({ requiredMigrationStep: true });
    const { controllerId } = await build.target();
    const first = await build.assign(step.id, controllerId);
    await build.assign((await build.set()).id, controllerId);
    expect(await view.state(controllerId, first)).toMatchObject({ active: true, state: "running" });
    expect(actionIdOf((await device(controllerId).links()).deploymentBase)).toBe(first);
  });

  const assignVia = assignBy("spec");

  it.each(paths)(
    "device 13.68, rollouts 10.65 by %s: the open action is closed at once, and the device sees only the new one",
    async (path) => {
      const { controllerId, actionId } = await build.deployment();
      const newer = await assignVia(path, controllerId, await build.set());
      expect(await view.state(controllerId, actionId)).toEqual({ type: "cancel", active: false, state: "canceled" });
      const links = await device(controllerId).links();
      expect([links.cancelAction, actionIdOf(links.deploymentBase)]).toEqual([undefined, newer]);
      await device(controllerId).feedbackRefused(actionId, report("closed", "success"), [410, ""]);
      await device(controllerId).feedback(newer, report("closed", "success"));
      expect((await view.target(controllerId)).updateStatus).toBe("in_sync");
    },
  );

  it.each(paths)("device 13.68, rollouts 10.65 by %s: an action being cancelled is closed too, but no migration step", async (path) => {
    const canceling = await build.deployment();
    await build.cancel(canceling.controllerId, canceling.actionId);
    await assignVia(path, canceling.controllerId, await build.set());
    expect(await view.state(canceling.controllerId, canceling.actionId)).toMatchObject({ active: false, state: "canceled" });
    const { controllerId } = await build.target();
    const first = await build.assign((await build.set({ requiredMigrationStep: true })).id, controllerId);
    await assignVia(path, controllerId, await build.set());
    expect(await view.state(controllerId, first)).toMatchObject({ active: true, state: "running" });
    expect(actionIdOf((await device(controllerId).links()).deploymentBase)).toBe(first);
  });

  it("rollouts 10.65 a starting group closes open actions", async () => {
    const rollouts = rolloutBuilder("spec");
    const { prefix, ids } = await rollouts.fleet(1);
    const controllerId = ids[0] as string;
    const open = await build.assign((await build.set()).id, controllerId);
    const rollout = await rollouts.running(prefix);
    expect(await view.state(controllerId, open)).toEqual({ type: "cancel", active: false, state: "canceled" });
    const links = await device(controllerId).links();
    expect(links.cancelAction).toBeUndefined();
    expect(await view.action(controllerId, actionIdOf(links.deploymentBase))).toMatchObject({ rollout: rollout.id });
  });
});

describe("without implicit locks", () => {
  inOwnTenant();
  const key = "implicit.lock.enabled";
  beforeAll(async () => {
    await put(key, false);
    await pause(aWhile);
  });

  it("management 12.95 an assigned set stays unlocked", async () => {
    const set = await build.set();
    await build.assign(set.id, (await build.target()).controllerId);
    const seen = await view.set(set.id);
    expect([seen.locked, seen.modules[0]?.locked]).toEqual([false, false]);
  });

  it("rollouts 10.30 the set of a rollout stays unlocked too", async () => {
    const rollouts = rolloutBuilder("spec");
    const { prefix } = await rollouts.fleet(1);
    const { distributionSetId } = await rollouts.create(prefix);
    expect((await view.set(distributionSetId)).locked).toBe(false);
  });
});
