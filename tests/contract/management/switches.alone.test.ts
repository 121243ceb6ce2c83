import { routeTable as r } from "@harrier/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { build } from "../support/build.ts";
import { call } from "../support/call.ts";
import { actionIdOf, device, report } from "../support/device.ts";
import { look } from "../support/look.ts";
import { rolloutBuilder } from "../support/rollout.ts";
import { aWhile, pause } from "../support/wait.ts";
import { giver, ways } from "../support/ways.ts";

const put = (key: string, value: unknown) => call(r.configs.put, "spec", { params: { key }, body: { value } });
const reset = (key: string) => call(r.configs.delete, "spec", { params: { key } });

describe("with auto-close", () => {
  const key = "repository.actions.autoclose.enabled";
  beforeAll(async () => {
    await put(key, true);
    await pause(aWhile);
  });
  afterAll(async () => {
    await reset(key);
    await pause(aWhile);
  });

  it("device 13.68, management 12.89 a new set closes the open action at once", async () => {
    const { controllerId, actionId } = await build.deployment();
    const newer = await build.assign((await build.set()).id, controllerId);
    expect(await look.state(controllerId, actionId)).toEqual({ type: "cancel", active: false, state: "canceled" });
    const [entry] = await look.history(controllerId, actionId);
    expect(entry?.messages).toEqual(["Update Server: close obsolete action due to new update"]);
    const d = device(controllerId);
    const links = await d.links();
    expect([links.cancelAction, actionIdOf(links.deploymentBase)]).toEqual([undefined, newer]);
    await d.feedbackRefused(actionId, report("closed", "success"), [410, ""]);
  });

  it("device 13.68 also one that is being cancelled", async () => {
    const { controllerId, actionId } = await build.deployment();
    await build.cancel(controllerId, actionId);
    await build.assign((await build.set()).id, controllerId);
    expect(await look.state(controllerId, actionId)).toMatchObject({ active: false, state: "canceled" });
  });

  it("management 12.89 but no migration step", async () => {
    const step = await build.set({ requiredMigrationStep: true });
    const { controllerId } = await build.target();
    const first = await build.assign(step.id, controllerId);
    await build.assign((await build.set()).id, controllerId);
    expect(await look.state(controllerId, first)).toMatchObject({ active: true, state: "running" });
    expect(actionIdOf((await device(controllerId).links()).deploymentBase)).toBe(first);
  });

  const give = giver("spec");

  it.each(ways)(
    "device 13.68, rollouts 10.65 by %s: what is open is closed at once, and the device sees the new one alone",
    async (way) => {
      const { controllerId, actionId } = await build.deployment();
      const newer = await give(way, controllerId, await build.set());
      expect(await look.state(controllerId, actionId)).toEqual({ type: "cancel", active: false, state: "canceled" });
      const links = await device(controllerId).links();
      expect([links.cancelAction, actionIdOf(links.deploymentBase)]).toEqual([undefined, newer]);
      await device(controllerId).feedbackRefused(actionId, report("closed", "success"), [410, ""]);
      await device(controllerId).feedback(newer, report("closed", "success"));
      expect((await look.target(controllerId)).updateStatus).toBe("in_sync");
    },
  );

  it.each(ways)("device 13.68, rollouts 10.65 by %s: also what is being cancelled, but no migration step", async (way) => {
    const canceling = await build.deployment();
    await build.cancel(canceling.controllerId, canceling.actionId);
    await give(way, canceling.controllerId, await build.set());
    expect(await look.state(canceling.controllerId, canceling.actionId)).toMatchObject({ active: false, state: "canceled" });
    const { controllerId } = await build.target();
    const first = await build.assign((await build.set({ requiredMigrationStep: true })).id, controllerId);
    await give(way, controllerId, await build.set());
    expect(await look.state(controllerId, first)).toMatchObject({ active: true, state: "running" });
    expect(actionIdOf((await device(controllerId).links()).deploymentBase)).toBe(first);
  });

  it("rollouts 10.65 a group that starts closes what was open", async () => {
    const rollouts = rolloutBuilder("spec");
    const { prefix, ids } = await rollouts.fleet(1);
    const controllerId = ids[0] as string;
    const open = await build.assign((await build.set()).id, controllerId);
    const rollout = await rollouts.running(prefix);
    expect(await look.state(controllerId, open)).toEqual({ type: "cancel", active: false, state: "canceled" });
    const links = await device(controllerId).links();
    expect(links.cancelAction).toBeUndefined();
    expect(await look.action(controllerId, actionIdOf(links.deploymentBase))).toMatchObject({ rollout: rollout.id });
  });
});

describe("without implicit locks", () => {
  const key = "implicit.lock.enabled";
  beforeAll(async () => {
    await put(key, false);
    await pause(aWhile);
  });
  afterAll(async () => {
    await reset(key);
    await pause(aWhile);
  });

  it("management 12.95 an assigned set stays unlocked", async () => {
    const set = await build.set();
    await build.assign(set.id, (await build.target()).controllerId);
    const seen = await look.set(set.id);
    expect([seen.locked, seen.modules[0]?.locked]).toEqual([false, false]);
  });

  it("rollouts 10.30 and so does that of a rollout", async () => {
    const rollouts = rolloutBuilder("spec");
    const { prefix } = await rollouts.fleet(1);
    const { distributionSetId } = await rollouts.create(prefix);
    expect((await look.set(distributionSetId)).locked).toBe(false);
  });
});
