import { type ActionView, type AssignmentResult, routeTable as r } from "@harrier/contracts";
import { beforeAll, describe, expect, it } from "vitest";
import { builder, stateOf, unique } from "../support/build.ts";
import { call, dialects, refused } from "../support/call.ts";
import { actionIdOf, device, report } from "../support/device.ts";
import { filterBuilder } from "../support/filters.ts";
import { viewer } from "../support/look.ts";
import { rolloutBuilder } from "../support/rollout.ts";
import { inOwnTenant } from "../support/tenants.ts";
import { eventually } from "../support/wait.ts";

/** Multi-assignment cannot be switched off again, so it is tried in a tenant of its own. */
describe.each(dialects)("several actions of a target side by side, %s", (dialect) => {
  const build = builder(dialect);
  const view = viewer(dialect);
  const setting = (key: string, value: boolean) => call(r.configs.put, dialect, { params: { key }, body: { value } });
  inOwnTenant(dialect);
  beforeAll(async () => {
    await setting("multi.assignments.enabled", true);
  });

  const newSets = async (n: number): Promise<number[]> =>
    (await Promise.all(Array.from({ length: n }, () => build.set()))).map(({ id }) => id);
  const newTarget = async (): Promise<string> => (await build.target()).controllerId;
  const give = async (targetId: string, items: object[]): Promise<number[]> =>
    (await call<AssignmentResult>(r.targets.assign, dialect, { params: { targetId }, body: items })).json.assignedActions.map(
      ({ id }) => id,
    );
  const notGiven = (targetId: string, items: object[], expected: readonly [number, string]) =>
    refused(r.targets.assign, dialect, { params: { targetId }, body: items }, expected);
  const first = async (controllerId: string): Promise<number> => actionIdOf((await device(controllerId).links()).deploymentBase);
  const status = async (targetId: string) => (await view.target(targetId)).updateStatus;
  const running = { type: "update", active: true, state: "running" };
  const open = async (targetId: string): Promise<ActionView[]> => (await view.actions(targetId)).content.filter(({ active }) => active);

  it("rollouts 6.9, management 5.3 a new assignment leaves other actions open; the device gets the heaviest, of these the oldest", async () => {
    const [a, b, c] = await newSets(3);
    const targetId = await newTarget();
    const [light = 0] = await give(targetId, [{ id: a, weight: 5 }]);
    const [heavy = 0, equal = 0] = await give(targetId, [
      { id: b, weight: 800 },
      { id: c, weight: 800 },
    ]);
    for (const id of [light, heavy, equal]) expect(await view.state(targetId, id)).toEqual(running);
    const d = device(targetId);
    for (const id of [heavy, equal, light]) {
      expect([await status(targetId), await first(targetId)]).toEqual(["pending", id]);
      expect((await d.deployment(id)).id).toBe(String(id));
      await d.feedback(id, report("closed", "success"));
      expect(await view.state(targetId, id)).toMatchObject({ active: false, state: "finished" });
    }
    expect(await view.standing(targetId)).toEqual({ updateStatus: "in_sync", assigned: a, installed: a });
    const links = await d.links();
    expect([links.deploymentBase, actionIdOf(links.installedBase)]).toEqual([undefined, light]);
  });

  it("rollouts 6.9 the same set can be assigned again, and one target twice in a request", async () => {
    const [set = 0] = await newSets(1);
    const targetId = await newTarget();
    const twice = [
      { id: targetId, weight: 1 },
      { id: targetId, weight: 2 },
      { id: targetId, weight: 2 },
    ];
    expect(await build.assignAll(set, twice)).toMatchObject({ assigned: 2, alreadyAssigned: 0, total: 2 });
    expect(await build.assignAll(set, [{ id: targetId }])).toMatchObject({ assigned: 1, alreadyAssigned: 0, total: 1 });
    expect((await view.actions(targetId, { sort: "weight:DESC" })).content.map(({ weight }) => weight)).toEqual([1000, 2, 1]);
  });

  it("management 5.3, 5.7 weights are 0 to 1000; a set that cannot be assigned makes the whole request fail", async () => {
    const [a, b] = await newSets(2);
    const { id: incomplete } = await build.set({ modules: [] });
    const targetId = await newTarget();
    for (const weight of [1001, -1]) await notGiven(targetId, [{ id: a, weight }, { id: b }], [400, "repo.constraintViolation"]);
    await notGiven(targetId, [{ id: a }, { id: 2_000_000_000 }], [404, "repo.entityNotFound"]);
    await notGiven(targetId, [{ id: a }, { id: incomplete }], [400, "distributionset.incomplete"]);
    await notGiven(unique("nobody"), [{ id: a }, { id: b }], [404, "repo.entityNotFound"]);
    expect((await view.actions(targetId)).total).toBe(0);
  });

  it("management 9 a target has at most a hundred open actions, and goes on with them when more are denied", async () => {
    const [a, b] = await newSets(2);
    const targetId = await newTarget();
    const quota = [dialect === "spec" ? 403 : 429, "quota.tooManyEntries"] as const;
    const many = (n: number) => Array.from({ length: n }, (_, weight) => ({ id: a, weight }));
    await notGiven(targetId, many(101), quota);
    await give(targetId, many(99));
    await notGiven(targetId, [{ id: a }, { id: b }], quota);
    const [last = 0] = await give(targetId, [{ id: b }]);
    await notGiven(targetId, [{ id: b }], quota);
    expect(await first(targetId)).toBe(last);
    await device(targetId).feedback(last, report("closed", "success"));
    expect(await give(targetId, [{ id: b }])).toHaveLength(1);
  });

  it("device 7.3, rollouts 6 cancelling and forcing affect one action alone", async () => {
    const [a, b] = await newSets(2);
    const targetId = await newTarget();
    const [light = 0, heavy = 0] = await give(targetId, [
      { id: a, weight: 1, type: "soft" },
      { id: b, weight: 9 },
    ]);
    const d = device(targetId);
    await build.cancel(targetId, heavy);
    await call(r.targets.forceAction, dialect, { params: { targetId, actionId: light }, body: { forceType: "forced" } });
    expect(await view.action(targetId, light)).toMatchObject({ forceType: "forced", active: true });
    const links = await d.links();
    expect([links.deploymentBase, actionIdOf(links.cancelAction)]).toEqual([undefined, heavy]);
    await d.cancelFeedback(heavy, report("closed", "success"));
    expect(await view.state(targetId, heavy)).toEqual({ type: "cancel", active: false, state: "canceled" });
    expect([await view.standing(targetId), await first(targetId)]).toMatchObject([{ updateStatus: "pending", assigned: a }, light]);
    await d.feedback(light, report("closed", "failure"));
    expect(await status(targetId)).toBe("error");
  });

  it("device 7.2, 7.5 confirmations and downloads affect one action alone", async () => {
    const key = "user.confirmation.flow.enabled";
    const [a, b] = await newSets(2);
    const targetId = await newTarget();
    await setting(key, true);
    const [waiting = 0, download = 0] = await give(targetId, [
      { id: a, weight: 9 },
      { id: b, weight: 1, type: "downloadonly", confirmationRequired: false },
    ]);
    await setting(key, false);
    const d = device(targetId);
    expect(actionIdOf((await d.links()).confirmationBase)).toBe(waiting);
    await d.answer(waiting, { confirmation: "confirmed" });
    expect(await first(targetId)).toBe(waiting);
    // A device may also work on an action that is not the first.
    await d.feedback(download, report("downloaded"));
    expect(await view.state(targetId, download)).toMatchObject({ active: false, state: "downloaded" });
    expect(await status(targetId)).toBe("pending");
    await d.feedback(waiting, report("closed", "success"));
    expect(await status(targetId)).toBe("in_sync");
  });

  it("device 3.5 a closed window holds back its own action alone", async () => {
    const [a, b] = await newSets(2);
    const targetId = await newTarget();
    const maintenanceWindow = { schedule: "0 0 0 1 1 ? 2099", duration: "01:00:00", timezone: "+00:00" };
    const [windowed = 0, free = 0] = await give(targetId, [
      { id: a, weight: 1, maintenanceWindow },
      { id: b, weight: 9 },
    ]);
    const d = device(targetId);
    expect(await first(targetId)).toBe(free);
    expect((await d.deployment(free)).deployment.maintenanceWindow).toBeUndefined();
    await d.feedback(free, report("closed", "success"));
    expect((await d.deployment(windowed)).deployment.maintenanceWindow).toBe("unavailable");
    expect(await status(targetId)).toBe("pending");
  });

  it("rollouts 6.9 actions of a rollout and an auto-assignment stand beside the open ones, each with its weight", async () => {
    const rollouts = rolloutBuilder(dialect);
    const { filter, assign } = filterBuilder(dialect);
    const [a, b, c] = await newSets(3);
    const { prefix, ids } = await rollouts.fleet(1);
    const targetId = ids[0] as string;
    await give(targetId, [{ id: a, weight: 500 }]);
    const { id } = await rollouts.running(prefix, { distributionSetId: b, weight: 600 });
    await assign((await filter(rollouts.filterOf(prefix))).id, c as number, { weight: 700 });
    const found = await eventually(async () => {
      const actions = await open(targetId);
      return actions.length === 3 && actions.sort((x, y) => y.weight - x.weight);
    }, 20_000);
    expect(found.map((action) => [action.weight, stateOf(action).state])).toEqual([
      [700, "running"],
      [600, "running"],
      [500, "running"],
    ]);
    for (const action of found) {
      expect(await first(targetId)).toBe(action.id);
      await device(targetId).feedback(action.id, report("closed", "success"));
    }
    await rollouts.become(id, "finished");
    expect(await status(targetId)).toBe("in_sync");
  });
});
