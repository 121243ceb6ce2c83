import { type ActionView, type AssignmentResult, routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { builder, unique } from "../support/build.ts";
import { type CallOptions, call, dialects, refused } from "../support/call.ts";
import { device, report } from "../support/device.ts";
import { viewer } from "../support/look.ts";

const zeros = { alreadyAssigned: 0, assigned: 0, total: 0, assignedActions: [] };

describe.each(dialects)("assignment, %s", (dialect) => {
  const build = builder(dialect);
  const view = viewer(dialect);
  const toTargets = (distributionSetId: number, body: unknown): CallOptions => ({ params: { distributionSetId }, body });
  const toTarget = (targetId: string, body: unknown): CallOptions => ({ params: { targetId }, body });
  const no = (id: number, body: unknown, expected: readonly [number, string]) =>
    refused(r.distributionSets.assignTargets, dialect, toTargets(id, body), expected);
  const actionsOf = async (controllerId: string) => (await view.actions(controllerId)).content;

  it("management 12.83 known targets get an action, unknown ones are not counted", async () => {
    const set = await build.set();
    const [a, b] = await build.targets({}, {});
    const ids = [a?.controllerId as string, b?.controllerId as string];
    const result = await build.assignAll(
      set.id,
      [...ids, unique("nobody")].map((id) => ({ id })),
    );
    expect(result).toMatchObject({ alreadyAssigned: 0, assigned: 2, total: 2 });
    expect(result).not.toHaveProperty("_links");
    for (const { id, _links } of result.assignedActions) {
      const owner = ids.find((controllerId) => _links.self?.href.endsWith(`/targets/${controllerId}/actions/${id}`));
      expect(await view.state(owner as string, id)).toEqual({ type: "update", active: true, state: "running" });
    }
    expect(await view.standing(ids[0] as string)).toEqual({ updateStatus: "pending", assigned: set.id, installed: undefined });
  });

  it("management 4.1.2 the actions come in the order of the request, online and offline", async () => {
    const targets = await build.targets(...Array.from({ length: 12 }, () => ({})));
    const requested = targets.map(({ controllerId }) => controllerId).reverse();
    // The offline assignment comes first, because it does not touch targets with an open update.
    for (const offline of [true, false]) {
      const params = { distributionSetId: (await build.set()).id };
      const options = { params, body: [...requested, unique()].map((id) => ({ id })), query: { offline } };
      const { json } = await call<AssignmentResult>(r.distributionSets.assignTargets, dialect, options);
      expect(json.assignedActions.map(({ _links }) => /targets\/([^/]+)\//.exec(_links.self?.href ?? "")?.[1])).toEqual(requested);
    }
  });

  it("management 12.84 a repeated assignment is counted apart and does nothing", async () => {
    const set = await build.set();
    const [a, b] = await build.targets({}, {});
    const items = [{ id: a?.controllerId }, { id: b?.controllerId }];
    await build.assignAll(set.id, items);
    expect(await build.assignAll(set.id, items)).toEqual({ alreadyAssigned: 2, assigned: 0, total: 2, assignedActions: [] });
    expect(await actionsOf(a?.controllerId as string)).toHaveLength(1);
  });

  it("management 12.85 an assignment of only unknown targets or none answers zeros; to an unknown target itself 404", async () => {
    const set = await build.set();
    expect(await build.assignAll(set.id, [{ id: unique("nobody") }])).toEqual(zeros);
    expect(await build.assignAll(set.id, [])).toEqual(zeros);
    await refused(r.targets.assign, dialect, toTarget(unique("nobody"), [{ id: set.id }]), [404, "repo.entityNotFound"]);
  });

  it("management 12.86 incomplete and unknown sets cannot be assigned", async () => {
    const incomplete = await build.set({ modules: [] });
    const { controllerId } = await build.target();
    await no(incomplete.id, [{ id: controllerId }], [400, "distributionset.incomplete"]);
    await no(2_000_000_000, [{ id: controllerId }], [404, "repo.entityNotFound"]);
    await refused(r.targets.assign, dialect, toTarget(controllerId, [{ id: incomplete.id }]), [400, "distributionset.incomplete"]);
    await refused(r.targets.assign, dialect, toTarget(controllerId, [{ id: 2_000_000_000 }]), [404, "repo.entityNotFound"]);
    expect((await view.set(incomplete.id)).locked).toBe(false);
    expect(await actionsOf(controllerId)).toEqual([]);
  });

  it("management 12.87 a target named twice alike counts once; two different types for one target are rejected", async () => {
    const set = await build.set();
    const { controllerId: id } = await build.target();
    await no(
      set.id,
      [
        { id, type: "soft" },
        { id, type: "forced" },
      ],
      [400, "multiAssignmentNotEnabled"],
    );
    await no(
      set.id,
      [
        { id, weight: 1 },
        { id, weight: 2 },
      ],
      [400, "multiAssignmentNotEnabled"],
    );
    expect(await actionsOf(id)).toEqual([]);
    expect(await build.assignAll(set.id, [{ id }, { id, type: "forced" }])).toMatchObject({ assigned: 1, total: 1 });
    expect(await actionsOf(id)).toHaveLength(1);
  });

  it("management 12.88 a target takes one set, as array or object, and never two", async () => {
    const [a, b] = [await build.set(), await build.set()];
    const { controllerId } = await build.target();
    await refused(r.targets.assign, dialect, toTarget(controllerId, [{ id: a.id }, { id: b.id }]), [400, "multiAssignmentNotEnabled"]);
    const { json } = await call<AssignmentResult>(r.targets.assign, dialect, toTarget(controllerId, { id: a.id, type: "soft" }));
    expect(json).toMatchObject({ assigned: 1, total: 1 });
    expect((await view.action(controllerId, json.assignedActions[0]?.id as number)).forceType).toBe("soft");
    expect((await call<AssignmentResult>(r.targets.assign, dialect, toTarget(controllerId, [{ id: b.id }]))).json.assigned).toBe(1);
    expect((await view.assigned(controllerId))?.id).toBe(b.id);
  });

  it("management 12.89 a second set cancels the first action, unless its set has a migration step", async () => {
    const [usual, step, next] = [await build.set(), await build.set({ requiredMigrationStep: true }), await build.set()];
    for (const [first, expected] of [
      [usual, { type: "cancel", active: true, state: "canceling" }],
      [step, { type: "update", active: true, state: "running" }],
    ] as const) {
      const { controllerId } = await build.target();
      const actionId = await build.assign(first.id, controllerId);
      await build.assign(next.id, controllerId);
      expect(await view.state(controllerId, actionId)).toEqual(expected);
      expect(await view.standing(controllerId)).toMatchObject({ updateStatus: "pending", assigned: next.id });
      expect((await actionsOf(controllerId)).map(({ active }) => active)).toEqual([true, true]);
    }
  });

  it("management 12.90 the weight is 1000 where none is given, else 0 to 1000", async () => {
    const set = await build.set();
    const weightOf = async (item: object) => {
      const { controllerId } = await build.target();
      return (await view.action(controllerId, await build.assign(set.id, controllerId, item))).weight;
    };
    expect([await weightOf({}), await weightOf({ weight: 0 }), await weightOf({ weight: 1000 })]).toEqual([1000, 0, 1000]);
    const { controllerId: id } = await build.target();
    for (const weight of [1001, -1]) await no(set.id, [{ id, weight }], [400, "repo.constraintViolation"]);
    expect(await actionsOf(id)).toEqual([]);
  });

  it.each([
    [{ type: "unknown" }],
    [{ type: "FORCED" }],
    [{ id: undefined }],
    [{ id: {} }],
    [{ weight: "x" }],
    [{ forcetime: "x" }],
    [{ weight: 1.5 }],
    [{ maintenanceWindow: "x" }],
    [{ confirmationRequired: "x" }],
  ])("management 12.91 the item with %j is 400 notReadable", async (item) => {
    const set = await build.set();
    const { controllerId: id } = await build.target();
    await no(set.id, [{ id, ...item }], [400, "rest.body.notReadable"]);
    expect(await actionsOf(id)).toEqual([]);
  });

  it("management 12.92, rollouts 10.98 a maintenance window with a schedule alone is 400", async () => {
    const set = await build.set();
    const { controllerId: id } = await build.target();
    const windows = [
      { schedule: "0 0 0 * * ?" },
      { schedule: "0 0 0 ? * * 2001", duration: "00:10:00", timezone: "+00:00" },
      { schedule: "0 0 0 ? * *", duration: "00:10:00", timezone: "Europe/Berlin" },
      { schedule: "nonsense", duration: "00:10:00", timezone: "+00:00" },
    ];
    for (const maintenanceWindow of windows) await no(set.id, [{ id, maintenanceWindow }], [400, "maintenanceScheduleInvalid"]);
    expect(await actionsOf(id)).toEqual([]);
    await build.assign(set.id, id, { maintenanceWindow: { schedule: "", duration: null } });
  });

  it("management 12.92, rollouts 10.98 a valid window is stored and shown with its next start", async () => {
    const set = await build.set();
    const opens = new Date(Math.ceil(Date.now() / 3_600_000 + 2) * 3_600_000);
    const schedule = `0 0 ${opens.getUTCHours()} ${opens.getUTCDate()} ${opens.getUTCMonth() + 1} ? ${opens.getUTCFullYear()}`;
    const once = { schedule, duration: "00:10:00", timezone: "+00:00" };
    const { controllerId } = await build.target();
    const actionId = await build.assign(set.id, controllerId, { maintenanceWindow: once });
    const shown = { ...once, nextStartAt: opens.getTime() };
    expect((await view.action(controllerId, actionId)).maintenanceWindow).toEqual(shown);
    expect((await actionsOf(controllerId))[0]?.maintenanceWindow).toEqual(shown);
    expect((await call<ActionView>(r.actions.get, dialect, { params: { actionId } })).json.maintenanceWindow).toEqual(shown);
    // The hour of the window refers to its own offset.
    const other = (await build.target()).controllerId;
    const body = [{ id: set.id, maintenanceWindow: { schedule: "0 30 2 ? * *", duration: "01:00", timezone: "+05:30" } }];
    const { json } = await call<AssignmentResult>(r.targets.assign, dialect, toTarget(other, body));
    const { maintenanceWindow } = await view.action(other, json.assignedActions[0]?.id as number);
    expect(new Date(maintenanceWindow?.nextStartAt as number).toISOString()).toMatch(/T21:00:00.000Z$/);
    expect((await view.action(other, json.assignedActions[0]?.id as number)).maintenanceWindow?.duration).toBe("01:00");
    const plain = (await build.target()).controllerId;
    expect(await view.action(plain, await build.assign(set.id, plain))).not.toHaveProperty("maintenanceWindow");
  });

  it("management 12.98 nextStartAt in the window of a request is ignored", async () => {
    const { controllerId } = await build.target();
    const maintenanceWindow = { schedule: "0 0 2 ? * *", duration: "01:00", timezone: "Z", nextStartAt: 5 };
    const actionId = await build.assign((await build.set()).id, controllerId, { maintenanceWindow });
    expect((await view.action(controllerId, actionId)).maintenanceWindow?.nextStartAt).toBeGreaterThan(5);
  });

  it("management 12.95 an assigned set and its modules are locked", async () => {
    const set = await build.set();
    expect(set.locked).toBe(false);
    await build.assign(set.id, (await build.target()).controllerId);
    const seen = await view.set(set.id);
    expect([seen.locked, seen.modules[0]?.locked]).toEqual([true, true]);
  });

  it("management 12.96 more than 5000 items are over the quota", async () => {
    const set = await build.set();
    const items = Array.from({ length: 5001 }, (_, n) => ({ id: `nobody-${n}` }));
    await no(set.id, items, [dialect === "spec" ? 403 : 429, "quota.tooManyEntries"]);
    expect(await build.assignAll(set.id, items.slice(1))).toEqual(zeros);
    expect((await view.set(set.id)).locked).toBe(true);
  });

  const offline = { query: { offline: true } };

  it("management 12.94 an offline assignment is recorded, and the device gets no deployment", async () => {
    const [set, other] = [await build.set(), await build.set()];
    const [free, busy] = [(await build.target()).controllerId, (await build.target()).controllerId];
    const open = await build.assign(other.id, busy);
    const body = [{ id: free, weight: 3, type: "soft" }, { id: busy }, { id: unique("nobody") }];
    const { json } = await call<AssignmentResult>(r.distributionSets.assignTargets, dialect, { ...toTargets(set.id, body), ...offline });
    expect(json).toMatchObject({ alreadyAssigned: 1, assigned: 1, total: 2 });
    expect(await view.standing(free)).toEqual({ updateStatus: "in_sync", assigned: set.id, installed: set.id });
    expect((await view.target(free)).installedAt).toBeGreaterThan(0);
    const actionId = json.assignedActions[0]?.id as number;
    expect(await view.state(free, actionId)).toEqual({ type: "update", active: false, state: "finished" });
    expect(await view.action(free, actionId)).toMatchObject({ forceType: "forced", weight: 1000 });
    expect(await view.history(free, actionId)).toMatchObject([
      { type: "finished", messages: ["Assignment initiated by user 'admin'", "Update Server: Action reported as offline deployment"] },
    ]);
    const { json: poll } = await device(free).poll();
    expect(Object.keys(poll._links ?? {})).not.toContain("deploymentBase");
    expect(await view.standing(busy)).toMatchObject({ updateStatus: "pending", assigned: other.id });
    expect(await view.state(busy, open)).toMatchObject({ active: true, state: "running" });
    expect((await view.set(set.id)).locked).toBe(true);
    const again = await call<AssignmentResult>(r.distributionSets.assignTargets, dialect, { ...toTargets(set.id, body), ...offline });
    expect(again.json).toMatchObject({ alreadyAssigned: 2, assigned: 0, assignedActions: [] });
    const one = await call<AssignmentResult>(r.targets.assign, dialect, { ...toTarget(free, { id: other.id }), ...offline });
    expect(one.json).toMatchObject({ assigned: 1, total: 1 });
    expect(await view.standing(free)).toEqual({ updateStatus: "in_sync", assigned: other.id, installed: other.id });
  });

  it("management 12.85, 5.5 offline: unknown targets answer zeros on both routes; sets are checked as usual", async () => {
    const [set, incomplete] = [await build.set(), await build.set({ modules: [] })];
    const nobody = unique("nobody");
    const both = { ...toTarget(nobody, [{ id: set.id }]), ...offline };
    expect((await call(r.targets.assign, dialect, both)).json).toEqual(zeros);
    expect((await call(r.distributionSets.assignTargets, dialect, { ...toTargets(set.id, [{ id: nobody }]), ...offline })).json).toEqual(
      zeros,
    );
    expect((await call(r.distributionSets.assignTargets, dialect, { ...toTargets(set.id, []), ...offline })).json).toEqual(zeros);
    const { controllerId: id } = await build.target();
    const refusal = (setId: number, expected: readonly [number, string]) =>
      refused(r.distributionSets.assignTargets, dialect, { ...toTargets(setId, [{ id }]), ...offline }, expected);
    await refusal(incomplete.id, [400, "distributionset.incomplete"]);
    await refusal(2_000_000_000, [404, "repo.entityNotFound"]);
    expect(await actionsOf(id)).toEqual([]);
  });

  it("rollouts 10.90, 6.2 forcetime is stored where it has a meaning", async () => {
    const set = await build.set();
    const forcetime = Date.now() + 3_600_000;
    const made = async (item: object) => {
      const { controllerId } = await build.target();
      return view.action(controllerId, await build.assign(set.id, controllerId, item));
    };
    expect(await made({ type: "timeforced", forcetime })).toMatchObject({ forceType: "timeforced", forceTime: forcetime });
    for (const type of ["forced", "soft", "downloadonly"]) {
      const action = await made({ type, forcetime });
      expect(action.forceType).toBe(type);
      expect(action).not.toHaveProperty("forceTime");
    }
    expect((await made({})).forceType).toBe("forced");
  });

  it("management 5.3 a set can be assigned over an installed one, and afterwards the first set again", async () => {
    const [a, b] = [await build.set(), await build.set()];
    const { controllerId } = await build.target();
    for (const set of [a, b, a]) {
      const actionId = await build.assign(set.id, controllerId);
      await device(controllerId).feedback(actionId, report("closed", "success"));
      expect(await view.standing(controllerId)).toEqual({ updateStatus: "in_sync", assigned: set.id, installed: set.id });
    }
    expect((await actionsOf(controllerId)).map(({ active }) => active)).toEqual([false, false, false]);
  });

  it("management 5.3 two assignments at the same time leave consistent actions", async () => {
    const sets = await Promise.all([build.set(), build.set(), build.set()]);
    const targets = await build.targets({}, {}, {}, {});
    const items = targets.map(({ controllerId }) => ({ id: controllerId }));
    const results = await Promise.all(sets.map(({ id }) => build.assignAll(id, items)));
    expect(results.map(({ assigned }) => assigned)).toEqual([4, 4, 4]);
    for (const { controllerId } of targets) {
      const actions = await actionsOf(controllerId);
      expect(actions).toHaveLength(3);
      const running = actions.filter((action) => action.type === "update");
      expect(running).toHaveLength(1);
    }
  });
});
