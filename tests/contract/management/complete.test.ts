import { type DistributionSetView, routeTable as r, type SoftwareModuleTypeView, type TargetFilterView } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { builder, unique } from "../support/build.ts";
import { call, dialects, refused } from "../support/call.ts";
import { filterBuilder } from "../support/filters.ts";
import { type Page, viewer } from "../support/look.ts";
import { rolloutBuilder } from "../support/rollout.ts";
import { typeBuilder } from "../support/types.ts";
import { aWhile, eventually, pause } from "../support/wait.ts";

const incomplete = [400, "distributionset.incomplete"] as const;

/* A module type says how many artifacts a module needs (hawkBit 1.1, minArtifacts); a module or a set that lacks some is not complete. */
describe.each(dialects)("minArtifacts, %s", (dialect) => {
  const build = builder(dialect);
  const view = viewer(dialect);
  const { moduleType, setType } = typeBuilder(dialect);
  const rollouts = rolloutBuilder(dialect);
  const { filter } = filterBuilder(dialect);
  const type = (id: number) => ({ params: { softwareModuleTypeId: id } });

  /** Makes a set of one module that needs artifacts. */
  const needy = async (minArtifacts: number) => {
    const kind = await moduleType({ minArtifacts });
    const module = await build.module({ type: kind.key });
    const set = await build.set({ type: (await setType([kind.id])).key, modules: [{ id: module.id }] });
    return { kind, module, set };
  };
  const assign = (set: number, id: string) =>
    refused(r.distributionSets.assignTargets, dialect, { params: { distributionSetId: set }, body: [{ id }] }, incomplete);

  it("is 0 unless given, and is stored, shown, changed and checked", async () => {
    expect((await moduleType()).minArtifacts).toBe(0);
    const made = await moduleType({ minArtifacts: 2 });
    expect(made.minArtifacts).toBe(2);
    const read = async () => (await call<SoftwareModuleTypeView>(r.softwareModuleTypes.get, dialect, type(made.id))).json.minArtifacts;
    expect(await read()).toBe(2);
    await call(r.softwareModuleTypes.update, dialect, { ...type(made.id), body: { description: "d" } });
    expect(await read()).toBe(2);
    await call(r.softwareModuleTypes.update, dialect, { ...type(made.id), body: { minArtifacts: 1 } });
    expect(await read()).toBe(1);
    const bad = [
      [-1, "repo.constraintViolation"],
      [1.5, "rest.body.notReadable"],
      [2 ** 31, "rest.body.notReadable"],
    ] as const;
    for (const [minArtifacts, code] of bad) {
      const body = [{ key: unique(), name: unique(), minArtifacts }];
      await refused(r.softwareModuleTypes.create, dialect, { body }, [400, code]);
    }
  });

  it("modules and sets are complete when their artifacts exist, and incomplete when one is deleted", async () => {
    const { module, set } = await needy(2);
    const complete = async () => [(await view.module(module.id)).complete, (await view.set(set.id)).complete];
    const listed = async () => {
      const query = { q: `complete==true;name==${set.name}`, sort: "complete:ASC" };
      return (await call<Page<DistributionSetView>>(r.distributionSets.list, dialect, { query })).json.total;
    };
    expect(module.complete).toBe(false);
    expect(set).toMatchObject({ complete: false, modules: [{ complete: false }] });
    await build.upload(module.id);
    expect([await complete(), await listed()]).toEqual([[false, false], 0]);
    const second = await build.upload(module.id);
    expect([await complete(), await listed()]).toEqual([[true, true], 1]);
    await call(r.artifacts.delete, dialect, { params: { softwareModuleId: module.id, artifactId: second.id } });
    expect([await complete(), await listed()]).toEqual([[false, false], 0]);
  });

  it("a module of a type without minArtifacts is complete without artifacts", async () => {
    const set = await build.set();
    expect(set).toMatchObject({ complete: true, modules: [{ complete: true }] });
  });

  it("an incomplete set is not assigned, locked or used by a rollout or filter, and errors say what it lacks", async () => {
    const { module, set } = await needy(1);
    const { controllerId } = await build.target();
    const info = { modulesWithoutArtifacts: [`${module.name}:${module.version}`] };
    const params = { distributionSetId: set.id };
    expect((await assign(set.id, controllerId)).json.info).toEqual(info);
    expect((await refused(r.distributionSets.update, dialect, { params, body: { locked: true } }, incomplete)).json.info).toEqual(info);
    expect((await rollouts.notCreated(controllerId, { distributionSetId: set.id }, incomplete)).json.info).toEqual(info);
    const made = await filter(`controllerid==${controllerId}`);
    const auto = { params: { filterId: made.id }, body: { id: set.id } };
    expect((await refused(r.targetFilters.setAutoAssign, dialect, auto, incomplete)).json.info).toEqual(info);
    const locked = { name: unique(), version: "1", type: set.type, locked: true, modules: [{ id: module.id }] };
    expect((await refused(r.distributionSets.create, dialect, { body: [locked] }, incomplete)).json.info).toEqual(info);
    expect((await view.set(set.id)).locked).toBe(false);
    await build.upload(module.id);
    await build.assign(set.id, controllerId);
    await call<TargetFilterView>(r.targetFilters.setAutoAssign, dialect, auto);
  });

  it("raising minArtifacts makes sets without artifacts unusable; existing actions go on", async () => {
    const { kind, set } = await needy(0);
    const [first, second] = [await build.target(), await build.target()];
    const actionId = await build.assign(set.id, first.controllerId);
    const made = await filter(`controllerid==${second.controllerId}-none`);
    await call(r.targetFilters.setAutoAssign, dialect, { params: { filterId: made.id }, body: { id: set.id } });
    await call(r.softwareModuleTypes.update, dialect, { ...type(kind.id), body: { minArtifacts: 1 } });
    expect((await view.set(set.id)).complete).toBe(false);
    await assign(set.id, second.controllerId);
    expect((await view.action(first.controllerId, actionId)).active).toBe(true);
    // A filter that existed before finds a target, and assigns nothing until the artifacts are not required any more.
    const query = `controllerid==${second.controllerId}`;
    await call(r.targetFilters.update, dialect, { params: { filterId: made.id }, body: { query } });
    await pause(aWhile);
    expect((await view.actions(second.controllerId)).total).toBe(0);
    await call(r.softwareModuleTypes.update, dialect, { ...type(kind.id), body: { minArtifacts: 0 } });
    await eventually(async () => (await view.actions(second.controllerId)).total === 1, 60_000);
  });
});
