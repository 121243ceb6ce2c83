import { type DistributionSetTypeView, routeTable as r, type SoftwareModuleTypeView } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { builder, unique } from "../support/build.ts";
import { call, dialects, refused } from "../support/call.ts";
import { type Page, viewer } from "../support/look.ts";
import { typeBuilder } from "../support/types.ts";

describe.each(dialects)("types of modules and sets, %s", (dialect) => {
  const build = builder(dialect);
  const view = viewer(dialect);
  const types = typeBuilder(dialect);
  const { softwareModuleTypes, distributionSetTypes } = r;
  const bodiless = dialect === "spec" ? 200 : 204;
  const quota = dialect === "spec" ? 403 : 429;
  const moduleTypeAt = (softwareModuleTypeId: number) => ({ params: { softwareModuleTypeId } });
  const setTypeAt = (distributionSetTypeId: number) => ({ params: { distributionSetTypeId } });
  const getModuleType = async (id: number) => (await call<SoftwareModuleTypeView>(softwareModuleTypes.get, dialect, moduleTypeAt(id))).json;
  const getSetType = async (id: number) => (await call<DistributionSetTypeView>(distributionSetTypes.get, dialect, setTypeAt(id))).json;
  const idsIn = async (id: number, list: "listMandatory" | "listOptional") =>
    (await call<SoftwareModuleTypeView[]>(distributionSetTypes[list], dialect, setTypeAt(id))).json.map((type) => type.id);

  it("management 12.21 without maxAssignments a set takes one module of the type; 0 and less is rejected", async () => {
    expect((await types.moduleType()).maxAssignments).toBe(1);
    expect((await types.moduleType({ maxAssignments: 2_147_483_647 })).maxAssignments).toBe(2_147_483_647);
    for (const [maxAssignments, code] of [
      [0, "repo.constraintViolation"],
      [-1, "repo.constraintViolation"],
      [2_147_483_648, "rest.body.notReadable"],
      ["one", "rest.body.notReadable"],
    ] as const) {
      await refused(softwareModuleTypes.create, dialect, { body: [{ key: unique(), name: unique(), maxAssignments }] }, [400, code]);
    }
  });

  it("management 12.22 key and name are unique, and a request with a duplicate stores nothing", async () => {
    for (const [route, { key, name }] of [
      [softwareModuleTypes, await types.moduleType()],
      [distributionSetTypes, await types.setType()],
    ] as const) {
      const first = { key: unique(), name: unique() };
      await refused(route.create, dialect, { body: [first, { key, name: unique() }] }, [409, "repo.entityAlreadyExists"]);
      await refused(route.create, dialect, { body: [first, { key: unique(), name }] }, [409, "repo.entityAlreadyExists"]);
      expect((await call<Page<unknown>>(route.list, dialect, { query: { q: `key==${first.key}` } })).json.total).toBe(0);
      expect((await call<unknown[]>(route.create, dialect, { body: [] })).json).toEqual([]);
    }
  });

  it("management 12.23 only description and colour of a type can be changed", async () => {
    const moduleType = await types.moduleType({ description: "d", maxAssignments: 3 });
    const setType = await types.setType([], [], { description: "d" });
    const body = { name: "x", key: "y", maxAssignments: 9, colour: "red", description: null };
    const changed = (await call<SoftwareModuleTypeView>(softwareModuleTypes.update, dialect, { ...moduleTypeAt(moduleType.id), body }))
      .json;
    const { lastModifiedAt: _one, ...rest } = moduleType;
    expect(changed).toMatchObject({ ...rest, colour: "red" });
    expect(changed).toEqual(await getModuleType(moduleType.id));
    const changedSet = (await call<DistributionSetTypeView>(distributionSetTypes.update, dialect, { ...setTypeAt(setType.id), body })).json;
    expect(changedSet).toMatchObject({ key: setType.key, name: setType.name, description: "d", colour: "red" });
    expect(changedSet).toEqual(await getSetType(setType.id));
    await refused(softwareModuleTypes.update, dialect, { ...moduleTypeAt(2_000_000_000), body }, [404, "repo.entityNotFound"]);
    await refused(distributionSetTypes.update, dialect, { ...setTypeAt(2_000_000_000), body }, [404, "repo.entityNotFound"]);
  });

  it("management 12.24 a set type with an unknown module type is not created, nor anything else of the request", async () => {
    const first = { key: unique(), name: unique() };
    for (const list of ["mandatorymodules", "optionalmodules"]) {
      const bad = { key: unique(), name: unique(), [list]: [{ id: 2_000_000_000 }] };
      await refused(distributionSetTypes.create, dialect, { body: [first, bad] }, [404, "repo.entityNotFound"]);
    }
    expect((await call<Page<unknown>>(distributionSetTypes.list, dialect, { query: { q: `key==${first.key}` } })).json.total).toBe(0);
  });

  it("management 12.26, 12.27 a module type is in one of the two lists, and moves to the other", async () => {
    const [a, b] = [await types.moduleType(), await types.moduleType()];
    const { id } = await types.setType([a.id], [b.id]);
    const at = (softwareModuleTypeId: number) => ({ params: { distributionSetTypeId: id, softwareModuleTypeId } });
    expect((await call(distributionSetTypes.getMandatory, dialect, at(a.id))).json).toEqual(await getModuleType(a.id));
    await refused(distributionSetTypes.getMandatory, dialect, at(b.id), [404, "repo.entityNotFound"]);
    await refused(distributionSetTypes.getOptional, dialect, at(a.id), [404, "repo.entityNotFound"]);

    expect((await call(distributionSetTypes.addOptional, dialect, { ...setTypeAt(id), body: { id: a.id } })).status).toBe(bodiless);
    expect([await idsIn(id, "listMandatory"), await idsIn(id, "listOptional")]).toEqual([[], [a.id, b.id].sort((x, y) => x - y)]);
    await call(distributionSetTypes.addMandatory, dialect, { ...setTypeAt(id), body: { id: b.id } });
    expect([await idsIn(id, "listMandatory"), await idsIn(id, "listOptional")]).toEqual([[b.id], [a.id]]);
    // Both paths remove a type from both lists.
    expect((await call(distributionSetTypes.removeMandatory, dialect, at(a.id))).status).toBe(bodiless);
    expect((await call(distributionSetTypes.removeOptional, dialect, at(b.id))).status).toBe(bodiless);
    await call(distributionSetTypes.removeOptional, dialect, at(b.id));
    expect([await idsIn(id, "listMandatory"), await idsIn(id, "listOptional")]).toEqual([[], []]);
    for (const route of [distributionSetTypes.addMandatory, distributionSetTypes.addOptional]) {
      await refused(route, dialect, { ...setTypeAt(id), body: { id: 2_000_000_000 } }, [404, "repo.entityNotFound"]);
    }
    const both = await types.setType([a.id, b.id], [a.id]);
    expect([await idsIn(both.id, "listMandatory"), await idsIn(both.id, "listOptional")]).toEqual([[b.id], [a.id]]);
  });

  it("management 12.28, 12.29 the lists of a set type in use are fixed, and it stays readable when deleted", async () => {
    const moduleType = await types.moduleType();
    const type = await types.setType([moduleType.id]);
    const set = await build.set({ type: type.key, modules: [] });
    const at = setTypeAt(type.id);
    const readOnly = [403, "entityReadOnly"] as const;
    await refused(distributionSetTypes.addMandatory, dialect, { ...at, body: { id: moduleType.id } }, readOnly);
    await refused(distributionSetTypes.addOptional, dialect, { ...at, body: { id: moduleType.id } }, readOnly);
    const listed = { params: { ...at.params, softwareModuleTypeId: moduleType.id } };
    await refused(distributionSetTypes.removeMandatory, dialect, listed, readOnly);
    await call(distributionSetTypes.update, dialect, { ...at, body: { colour: "green" } });

    expect((await call(distributionSetTypes.delete, dialect, at)).status).toBe(bodiless);
    expect((await call(distributionSetTypes.delete, dialect, at)).status).toBe(bodiless);
    expect(await getSetType(type.id)).toMatchObject({ deleted: true, colour: "green" });
    const found = async (more: object) =>
      (await call<Page<unknown>>(distributionSetTypes.list, dialect, { query: { q: `key==${type.key}`, ...more } })).json.total;
    expect([await found({}), await found({ soft_deleted_mode: "ONLY_SOFT_DELETED" })]).toEqual([0, 1]);
    await refused(distributionSetTypes.create, dialect, { body: [{ key: type.key, name: unique() }] }, [409, "repo.entityAlreadyExists"]);
    const late = { name: unique(), version: "1", type: type.key };
    await refused(r.distributionSets.create, dialect, { body: [late] }, [400, "repo.constraintViolation"]);
    expect(await view.set(set.id)).toMatchObject({ type: type.key, typeName: type.name });
  });

  it("management 5.1 an unused type can be deleted, the tenant's default cannot", async () => {
    const [moduleType, setType] = [await types.moduleType(), await types.setType()];
    expect((await call(softwareModuleTypes.delete, dialect, moduleTypeAt(moduleType.id))).status).toBe(bodiless);
    await refused(softwareModuleTypes.get, dialect, moduleTypeAt(moduleType.id), [404, "repo.entityNotFound"]);
    await refused(softwareModuleTypes.delete, dialect, moduleTypeAt(moduleType.id), [404, "repo.entityNotFound"]);
    await call(distributionSetTypes.delete, dialect, setTypeAt(setType.id));
    await refused(distributionSetTypes.get, dialect, setTypeAt(setType.id), [404, "repo.entityNotFound"]);
    const { json } = await call<{ value: number }>(r.configs.get, dialect, { params: { key: "default.ds.type" } });
    await refused(distributionSetTypes.delete, dialect, setTypeAt(json.value), [409]);
  });

  it("management 12.30 a deleted module type of a set type stays readable and takes no new module", async () => {
    const moduleType = await types.moduleType();
    await types.setType([], [moduleType.id]);
    await call(softwareModuleTypes.delete, dialect, moduleTypeAt(moduleType.id));
    expect((await getModuleType(moduleType.id)).deleted).toBe(true);
    const body = [{ name: unique(), version: "1", type: moduleType.key }];
    await refused(r.softwareModules.create, dialect, { body }, [400, "repo.constraintViolation"]);
    const found = { query: { q: `key==${moduleType.key}` } };
    expect((await call<Page<unknown>>(softwareModuleTypes.list, dialect, found)).json.total).toBe(0);
  });

  it.each([
    ["a colour of 17", { colour: "c".repeat(17) }],
    ["a key of 65", { key: "k".repeat(65) }],
    ["no key", { key: undefined }],
    ["no name", { name: null }],
    ["a name of 129", { name: "n".repeat(129) }],
    ["a description of 513", { description: "d".repeat(513) }],
    ["markup in the key", { key: "a<b>c" }],
    ["markup in the colour", { colour: "<b>red</b>" }],
  ])("management 12.31 %s is rejected", async (_case, body) => {
    const whole = { key: unique(), name: unique(), ...body };
    for (const route of [softwareModuleTypes.create, distributionSetTypes.create]) {
      await refused(route, dialect, { body: [whole] }, [400, "repo.constraintViolation"]);
    }
  });

  it("management 12.51, 12.53 sets of a custom type are complete with all mandatory modules, and at least one module", async () => {
    const [must, may, foreign] = [await types.moduleType(), await types.moduleType({ maxAssignments: 2 }), await types.moduleType()];
    const [strict, loose] = [await types.setType([must.id], [may.id]), await types.setType([], [may.id])];
    expect(await build.set({ type: loose.key, modules: [] })).toMatchObject({ complete: false });
    const [a, b, c, d] = await build.modules({ type: must.key }, { type: may.key }, { type: may.key }, { type: may.key });
    const [one, two, three, four] = [a?.id as number, b?.id as number, c?.id as number, d?.id as number];
    expect(await build.set({ type: loose.key, modules: [{ id: two }] })).toMatchObject({ complete: true });
    const set = await build.set({ type: strict.key, modules: [{ id: two }] });
    expect(set.complete).toBe(false);
    const add = (...ids: number[]) =>
      call(r.distributionSets.assignModules, dialect, { params: { distributionSetId: set.id }, body: ids.map((id) => ({ id })) });
    await add(one, three);
    expect(await view.set(set.id)).toMatchObject({ complete: true });
    // The newest two modules of the type that takes two stay.
    await add(four);
    expect((await view.set(set.id)).modules.map(({ id }) => id)).toEqual([one, three, four]);
    const { id } = await build.module({ type: foreign.key });
    const body = [{ id }];
    await refused(r.distributionSets.assignModules, dialect, { params: { distributionSetId: set.id }, body }, [
      400,
      "distributionset.modules.unsupported",
    ]);
  });

  it("management 9 a set type lists at most 50 module types", async () => {
    const all = Array.from({ length: 51 }, () => ({ key: unique(), name: unique() }));
    const made = (await call<SoftwareModuleTypeView[]>(softwareModuleTypes.create, dialect, { body: all })).json.map(({ id }) => id);
    const setType = await types.setType(made.slice(0, 25), made.slice(25, 50));
    const body = { id: made[50] };
    await refused(distributionSetTypes.addOptional, dialect, { ...setTypeAt(setType.id), body }, [quota, "quota.tooManyEntries"]);
    await call(distributionSetTypes.addOptional, dialect, { ...setTypeAt(setType.id), body: { id: made[0] } });
  });
});
