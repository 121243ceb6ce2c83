import { type DistributionSetView, routeTable as r, type SoftwareModuleView, type TargetView } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { builder, unique } from "../support/build.ts";
import { call, dialects, refused } from "../support/call.ts";
import { device, report } from "../support/device.ts";
import { type Page, viewer } from "../support/look.ts";

describe.each(dialects)("distribution sets, %s", (dialect) => {
  const build = builder(dialect);
  const view = viewer(dialect);
  const one = (distributionSetId: number) => ({ params: { distributionSetId } });
  const add = (id: number, ...modules: number[]) =>
    call(r.distributionSets.assignModules, dialect, { ...one(id), body: modules.map((module) => ({ id: module })) });
  const noAdd = (id: number, module: number, expected: readonly [number, string]) =>
    refused(r.distributionSets.assignModules, dialect, { ...one(id), body: [{ id: module }] }, expected);
  const change = async (id: number, body: object) =>
    (await call<DistributionSetView>(r.distributionSets.update, dialect, { ...one(id), body })).json;
  const noChange = (id: number, body: object, expected: readonly [number, string]) =>
    refused(r.distributionSets.update, dialect, { ...one(id), body }, expected);
  const bodiless = dialect === "spec" ? 200 : 204;
  const assigned = async () => {
    const set = await build.set();
    const { controllerId } = await build.target();
    const actionId = await build.assign(set.id, controllerId);
    return { set, controllerId, actionId };
  };

  it("management 12.49 a set without a type gets the type os_app", async () => {
    const set = await build.set({ type: undefined, modules: [] });
    expect(set).toMatchObject({
      type: "os_app",
      typeName: "OS with app(s)",
      complete: false,
      valid: true,
      locked: false,
      deleted: false,
      requiredMigrationStep: false,
    });
    await refused(r.distributionSets.create, dialect, { body: [{ name: unique(), version: "1", type: "nothing" }] }, [
      404,
      "repo.entityNotFound",
    ]);
  });

  it("management 12.50 a set is complete when it has every mandatory module type", async () => {
    const [os, app] = await build.modules({ type: "os" }, { type: "application" });
    const set = await build.set({ type: "os_app", modules: [{ id: app?.id as number }] });
    expect(set.complete).toBe(false);
    const { status } = await add(set.id, os?.id as number);
    expect(status).toBe(bodiless);
    expect((await view.set(set.id)).complete).toBe(true);
  });

  it("management 12.51 a set without modules is incomplete", async () => {
    for (const type of ["os", "app", "os_app"]) expect((await build.set({ type, modules: [] })).complete).toBe(false);
  });

  it("management 12.129 the set type app takes two application modules", async () => {
    const [a, b] = await build.modules({ type: "application" }, { type: "application" });
    const set = await build.set({ type: "app", modules: [{ id: a?.id as number }, { id: b?.id as number }] });
    expect([set.complete, set.modules.map(({ id }) => id)]).toEqual([true, [a?.id, b?.id]]);
  });

  it("management 12.52 of a type that may occur once the last module counts", async () => {
    const [first, second] = await build.modules({}, {});
    const set = await build.set({ modules: [{ id: first?.id as number }] });
    await add(set.id, second?.id as number);
    expect((await view.set(set.id)).modules.map(({ id }) => id)).toEqual([second?.id]);
    await add(set.id, second?.id as number);
    expect((await view.set(set.id)).modules).toHaveLength(1);
  });

  it("management 12.53 modules that do not fit or do not exist are rejected", async () => {
    const app = await build.module({ type: "application" });
    const set = await build.set();
    await noAdd(set.id, app.id, [400, "distributionset.modules.unsupported"]);
    await noAdd(set.id, 2_000_000_000, [404, "repo.entityNotFound"]);
    await noAdd(2_000_000_000, app.id, [404, "repo.entityNotFound"]);
    const create = (modules: object[]) => ({ body: [{ name: unique(), version: "1", type: "os", modules }] });
    await refused(r.distributionSets.create, dialect, create([{ id: app.id }]), [400, "distributionset.modules.unsupported"]);
    await refused(r.distributionSets.create, dialect, create([{ id: 2_000_000_000 }]), [404, "repo.entityNotFound"]);
    await refused(r.distributionSets.create, dialect, create([{}]), [400, "rest.body.notReadable"]);
    await refused(r.distributionSets.create, dialect, create([{ id: "x" }]), [400, "rest.body.notReadable"]);
    expect((await view.set(set.id)).modules).toHaveLength(1);
  });

  it("management 12.54 a single answer has all links, an item of a list only self; both have modules", async () => {
    const { id, name } = await build.set();
    const set = await view.set(id);
    expect(Object.keys(set._links).sort()).toEqual(["metadata", "modules", "self", "type"]);
    const { content } = (await call<Page<DistributionSetView>>(r.distributionSets.list, dialect, { query: { q: `name==${name}` } })).json;
    expect(content.map(({ _links }) => Object.keys(_links))).toEqual([["self"]]);
    expect(content[0]?.modules).toEqual(set.modules);
    expect(set.modules.map(({ _links }) => Object.keys(_links))).toEqual([["self"]]);
    const modules = (await call<Page<SoftwareModuleView>>(r.distributionSets.listModules, dialect, one(id))).json;
    expect([modules.total, modules.content]).toEqual([1, set.modules]);
    await refused(r.distributionSets.listModules, dialect, { ...one(id), query: { sort: "x" } }, [400, "rest.param.sortParamSyntax"]);
    await refused(r.distributionSets.listModules, dialect, one(2_000_000_000), [404, "repo.entityNotFound"]);
  });

  it("management 12.55 a change touches only what it names", async () => {
    const { id, name, version, createdAt } = await build.set({ description: "d" });
    expect(await change(id, { description: "e", name: null, type: "app" })).toMatchObject({
      name,
      version,
      type: "os",
      description: "e",
      createdAt,
    });
    const renamed = unique();
    expect(await change(id, { name: renamed, version: "2" })).toMatchObject({ name: renamed, version: "2", description: "e" });
    await noChange(2_000_000_000, {}, [404, "repo.entityNotFound"]);
    for (const body of [{ name: "n".repeat(129) }, { version: "" }, { name: "<b>x</b>" }, { description: "d".repeat(513) }]) {
      await noChange(id, body, [400, "repo.constraintViolation"]);
    }
    await noChange(id, { requiredMigrationStep: "yes" }, [400, "rest.body.notReadable"]);
    const other = await build.set();
    await noChange(id, { name: other.name, version: other.version }, [409, "repo.entityAlreadyExists"]);
    expect(await view.set(id)).toMatchObject({ name: renamed, version: "2" });
  });

  it("management 12.56 locking needs a complete set, and locks its modules permanently", async () => {
    const empty = await build.set({ modules: [] });
    await noChange(empty.id, { locked: true }, [400, "distributionset.incomplete"]);
    const set = await build.set();
    const module = set.modules[0]?.id as number;
    expect((await change(set.id, { locked: true })).locked).toBe(true);
    expect((await view.module(module)).locked).toBe(true);
    expect((await change(set.id, { locked: false })).locked).toBe(false);
    expect((await view.module(module)).locked).toBe(true);
    await refused(r.distributionSets.create, dialect, { body: [{ name: unique(), version: "1", type: "os", locked: true }] }, [
      400,
      "distributionset.incomplete",
    ]);
  });

  it("management 12.57 a locked set keeps its modules", async () => {
    const set = await build.set({ locked: true });
    const module = await build.module();
    await noAdd(set.id, module.id, [423, "locked"]);
    expect(await change(set.id, { description: "d", name: unique() })).toMatchObject({ locked: true, description: "d" });
  });

  it("management 12.58 an assigned set cannot be changed in its essential members", async () => {
    const { set } = await assigned();
    const module = await build.module();
    // It is locked as well, and that is the error of hawkBit 1.x.
    await noAdd(set.id, module.id, dialect === "spec" ? [403, "entityReadOnly"] : [423, "locked"]);
    await noChange(set.id, { requiredMigrationStep: true }, [403, "entityReadOnly"]);
    const name = unique();
    expect(await change(set.id, { name, requiredMigrationStep: false })).toMatchObject({ name, requiredMigrationStep: false });
  });

  it("management 12.59, 12.60, 12.61 a deleted unused set is gone; a deleted used set is hidden, keeps its name and cannot be assigned", async () => {
    const free = await build.set();
    expect((await call(r.distributionSets.delete, dialect, one(free.id))).status).toBe(bodiless);
    await refused(r.distributionSets.get, dialect, one(free.id), [404, "repo.entityNotFound"]);
    await refused(r.distributionSets.delete, dialect, one(free.id), [404, "repo.entityNotFound"]);
    await build.set({ name: free.name, version: free.version });

    const { set, controllerId } = await assigned();
    await call(r.distributionSets.delete, dialect, one(set.id));
    await call(r.distributionSets.delete, dialect, one(set.id));
    expect(await view.set(set.id)).toMatchObject({ deleted: true, name: set.name });
    for (const query of [{ q: `name==${set.name}` }, { q: `id==${set.id}` }]) {
      expect((await call<Page<DistributionSetView>>(r.distributionSets.list, dialect, { query })).json.total).toBe(0);
    }
    const all = { q: `name==${set.name}`, soft_deleted_mode: "INCLUDE_SOFT_DELETED" };
    expect((await call<Page<DistributionSetView>>(r.distributionSets.list, dialect, { query: all })).json.total).toBe(1);
    await refused(r.distributionSets.create, dialect, { body: [{ name: set.name, version: set.version, type: "os" }] }, [
      409,
      "repo.entityAlreadyExists",
    ]);
    const other = await build.target();
    await refused(r.distributionSets.assignTargets, dialect, { ...one(set.id), body: [{ id: other.controllerId }] }, [404, "deleted"]);
    // The device to which it is assigned still gets it.
    expect(await device(controllerId).linkNames()).toContain("deploymentBase");
    expect((await view.assigned(controllerId))?.id).toBe(set.id);
  });

  it("management 12.66 a set lists the targets that have it assigned or installed", async () => {
    const set = await build.set();
    const prefix = unique();
    const names = ["a1", "a2", "b1"].map((name) => `${prefix}-${name}`);
    const targets = await build.targets(...names.map((name) => ({ controllerId: name })));
    const { assignedActions } = await build.assignAll(
      set.id,
      targets.map(({ controllerId }) => ({ id: controllerId })),
    );
    expect(assignedActions).toHaveLength(3);
    const done = (await view.actions(names[0] as string)).content[0]?.id as number;
    await device(names[0] as string).feedback(done, report("closed", "success"));
    const list = async (which: "listAssignedTargets" | "listInstalledTargets", query = {}) =>
      (await call<Page<TargetView>>(r.distributionSets[which], dialect, { ...one(set.id), query })).json.content.map(
        ({ controllerId }) => controllerId,
      );
    expect(await list("listAssignedTargets")).toEqual(names);
    expect(await list("listAssignedTargets", { q: `name==${prefix}-a*` })).toEqual(names.slice(0, 2));
    expect(await list("listAssignedTargets", { sort: "controllerid:DESC", limit: 1 })).toEqual([names[2]]);
    expect(await list("listInstalledTargets")).toEqual([names[0]]);
    expect(await list("listInstalledTargets", { q: `name==${prefix}-b*` })).toEqual([]);
    for (const which of ["listAssignedTargets", "listInstalledTargets"] as const) {
      await refused(r.distributionSets[which], dialect, one(2_000_000_000), [404, "repo.entityNotFound"]);
      await refused(r.distributionSets[which], dialect, { ...one(set.id), query: { q: "name==" } }, [400, "rest.param.rsqlParamSyntax"]);
    }
  });

  it("management 4.1 without a mandatory module a set is incomplete; a module can be removed from a set", async () => {
    const [os, app] = await build.modules({ type: "os" }, { type: "application" });
    const set = await build.set({ type: "os_app", modules: [{ id: os?.id as number }, { id: app?.id as number }] });
    const at = (softwareModuleId = 0, distributionSetId = set.id) => ({ params: { distributionSetId, softwareModuleId } });
    expect((await call(r.distributionSets.removeModule, dialect, at(os?.id))).status).toBe(bodiless);
    expect(await view.set(set.id)).toMatchObject({ complete: false, modules: [{ id: app?.id }] });
    // Removing a module that is not in the set succeeds; one that does not exist is an error.
    expect((await call(r.distributionSets.removeModule, dialect, at(os?.id))).status).toBe(bodiless);
    await refused(r.distributionSets.removeModule, dialect, at(2_000_000_000), [404, "repo.entityNotFound"]);
    await refused(r.distributionSets.removeModule, dialect, at(app?.id, 2_000_000_000), [404, "repo.entityNotFound"]);
    await add(set.id, os?.id as number);
    expect((await view.set(set.id)).complete).toBe(true);
    await change(set.id, { locked: true });
    await refused(r.distributionSets.removeModule, dialect, at(app?.id), [423, "locked"]);
    const { controllerId } = await build.target();
    await build.assign(set.id, controllerId);
    await refused(r.distributionSets.removeModule, dialect, at(app?.id), dialect === "spec" ? [403, "entityReadOnly"] : [423, "locked"]);
  });

  it("management 12.65 statistics have zeros and empty parts for an unused set, and counts by status otherwise", async () => {
    const { statistics, actionStatistics, rolloutStatistics, autoAssignmentStatistics } = r.distributionSets;
    const idle = await build.set();
    const get = async (route: typeof statistics | typeof actionStatistics | typeof rolloutStatistics, id: number) =>
      (await call<object>(route, dialect, one(id))).json;
    const zeros = { actions: { total: 0 }, rollouts: { total: 0 }, totalAutoAssignments: 0 };
    expect(await get(statistics, idle.id)).toEqual(zeros);
    for (const part of [actionStatistics, rolloutStatistics, autoAssignmentStatistics]) {
      expect(await get(part, idle.id)).toEqual({});
      await refused(part, dialect, one(2_000_000_000), [404, "repo.entityNotFound"]);
    }
    const { set, controllerId, actionId } = await assigned();
    await build.assign(set.id, (await build.target()).controllerId);
    await device(controllerId).feedback(actionId, report("closed", "success"));
    const actions = { FINISHED: 1, RUNNING: 1, total: 2 };
    expect(await get(statistics, set.id)).toEqual({ ...zeros, actions });
    expect(await get(actionStatistics, set.id)).toEqual({ actions });
    expect(await get(rolloutStatistics, set.id)).toEqual({});
  });

  it("management 4.1 a set takes the members os, runtime and application of old clients", async () => {
    const [os, app] = await build.modules({ type: "os" }, { type: "application" });
    const body = [{ name: unique(), version: "1", type: "os_app", os: { id: os?.id }, application: { id: app?.id } }];
    const { json } = await call<DistributionSetView[]>(r.distributionSets.create, dialect, { body });
    expect(json[0]?.modules.map(({ id }) => id).sort()).toEqual([os?.id, app?.id].sort());
  });
});
