import { routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { builder, unique } from "../support/build.ts";
import { type CallOptions, call, dialects, refused } from "../support/call.ts";
import { device, report } from "../support/device.ts";
import { viewer } from "../support/look.ts";
import { rolloutBuilder } from "../support/rollout.ts";
import { eventually } from "../support/wait.ts";

const invalid = [400, "distributionset.invalid"] as const;

describe.each(dialects)("invalidation, %s", (dialect) => {
  const build = builder(dialect);
  const view = viewer(dialect);
  const x = rolloutBuilder(dialect);
  const requested = (distributionSetId: number, body: unknown): CallOptions => ({ params: { distributionSetId }, body });
  const invalidate = (id: number, body: object) => call(r.distributionSets.invalidate, dialect, requested(id, body));

  it("management 12.62 the type is required, and the set must be complete", async () => {
    const [set, incomplete] = [await build.set(), await build.set({ modules: [] })];
    for (const body of [{}, { cancelRollouts: true }, { actionCancelationType: "hard" }, { actionCancelationType: null }]) {
      await refused(r.distributionSets.invalidate, dialect, requested(set.id, body), [400, "rest.body.notReadable"]);
    }
    const none = { actionCancelationType: "none" };
    await refused(r.distributionSets.invalidate, dialect, requested(incomplete.id, none), [400, "distributionset.incomplete"]);
    await refused(r.distributionSets.invalidate, dialect, requested(2_000_000_000, none), [404, "repo.entityNotFound"]);
    expect((await view.set(set.id)).valid).toBe(true);
  });

  it.each([
    ["none", { type: "update", active: true, state: "running" }, "pending"],
    ["soft", { type: "cancel", active: true, state: "canceling" }, "pending"],
    ["force", { type: "cancel", active: false, state: "canceled" }, "in_sync"],
  ] as const)("management 12.62 %s: the effect on the actions", async (actionCancelationType, expected, updateStatus) => {
    const set = await build.set();
    const { controllerId } = await build.target();
    const actionId = await build.assign(set.id, controllerId);
    const { status, text } = await invalidate(set.id, { actionCancelationType });
    expect([status, text]).toEqual([dialect === "spec" ? 200 : 204, ""]);
    expect((await view.set(set.id)).valid).toBe(false);
    expect(await view.state(controllerId, actionId)).toEqual(expected);
    expect((await view.target(controllerId)).updateStatus).toBe(updateStatus);
    if (actionCancelationType === "force") expect((await view.standing(controllerId)).assigned).toBeUndefined();
  });

  it("management 12.63 an invalid set can only be read and deleted, and no filter assigns it any more", async () => {
    const set = await build.set();
    const filter = await call<{ id: number }>(r.targetFilters.create, dialect, { body: { name: unique(), query: `name==${unique()}` } });
    const params = { filterId: filter.json.id };
    await call(r.targetFilters.setAutoAssign, dialect, { params, body: { id: set.id } });
    await invalidate(set.id, { actionCancelationType: "none", cancelRollouts: false });
    expect((await call(r.targetFilters.getAutoAssign, dialect, { params })).status).toBe(204);
    const { controllerId } = await build.target();
    await refused(r.distributionSets.update, dialect, requested(set.id, { description: "d" }), invalid);
    await refused(r.distributionSets.assignTargets, dialect, requested(set.id, [{ id: controllerId }]), invalid);
    await refused(r.distributionSets.createMetadata, dialect, requested(set.id, [{ key: "k", value: "v" }]), invalid);
    await refused(r.distributionSets.assignModules, dialect, requested(set.id, [{ id: (await build.module()).id }]), invalid);
    await refused(r.distributionSets.invalidate, dialect, requested(set.id, { actionCancelationType: "soft" }), invalid);
    await refused(r.targetFilters.setAutoAssign, dialect, { params, body: { id: set.id } }, invalid);
    expect((await call(r.distributionSets.delete, dialect, { params: { distributionSetId: set.id } })).status).toBe(
      dialect === "spec" ? 200 : 204,
    );
  });

  it("device 13.79 a device that reports an invalid set as its version gets 400", async () => {
    const set = await build.set();
    const d = device((await build.target()).controllerId);
    await invalidate(set.id, { actionCancelationType: "none" });
    await d.refused(r.device.runningVersion, {}, invalid, { body: { name: set.name, version: set.version } });
    expect((await view.standing(d.controllerId)).assigned).toBeUndefined();
  });

  it("rollouts 10.6, 10.82 none: the rollout goes on; a new one of the set is 400", async () => {
    const { prefix, ids } = await x.fleet(2);
    const set = await x.set();
    const rollout = await x.running(prefix, { distributionSetId: set.id, amountGroups: 2 });
    await invalidate(set.id, { actionCancelationType: "none" });
    await x.notCreated(prefix, { distributionSetId: set.id }, invalid);
    await x.reportAll(rollout.id, [ids[0] as string], "closed", "success");
    await x.groupsBecome(rollout.id, "finished", "running");
  });

  it.each([
    ["soft", { actionCancelationType: "soft" }, "canceling"],
    ["none with rollouts", { actionCancelationType: "none", cancelRollouts: true }, "running"],
    ["force", { actionCancelationType: "force" }, "canceled"],
  ] as const)("rollouts 10.82 %s: rollouts stop, whether they have begun or not", async (_, body, state) => {
    const { prefix, ids } = await x.fleet(2);
    const set = await x.set();
    const rollout = await x.running(prefix, { distributionSetId: set.id, amountGroups: 2 });
    await x.groupsBecome(rollout.id, "running", "scheduled");
    const waiting = await x.ready(prefix, { distributionSetId: set.id });
    await invalidate(set.id, body);
    for (const { id } of [rollout, waiting]) expect((await x.become(id, "stopped")).status).toBe("stopped");
    expect((await x.groups(rollout.id)).map(({ status }) => status)).toEqual(["finished", "finished"]);
    const [begun, scheduled] = ids as [string, string];
    await eventually(async () => {
      const seen = await view.state(begun, (await x.actionOf(begun, rollout.id)).id);
      return seen.state === state ? seen : undefined;
    });
    expect((await view.actions(scheduled)).content).toEqual([]);
    if (state === "running") {
      await device(begun).feedback((await x.actionOf(begun, rollout.id)).id, report("closed", "success"));
      expect((await view.standing(begun)).installed).toBe(set.id);
    }
  });
});
