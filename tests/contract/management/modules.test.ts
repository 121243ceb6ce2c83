import { type DistributionSetTypeView, routeTable as r, type SoftwareModuleTypeView, type SoftwareModuleView } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { builder, unique } from "../support/build.ts";
import { call, dialects, refused } from "../support/call.ts";
import { type Page, viewer } from "../support/look.ts";

describe.each(dialects)("types and modules, %s", (dialect) => {
  const build = builder(dialect);
  const view = viewer(dialect);
  const one = (softwareModuleId: number) => ({ params: { softwareModuleId } });
  const create = (body: object) => ({ body: [{ name: unique(), version: "1", type: "os", ...body }] });
  const bodiless = dialect === "spec" ? 200 : 204;

  it("management 12.19 the built-in types exist", async () => {
    // Other tests have made types since, with higher ids.
    const first = (limit: number) => ({ query: { sort: "id:ASC", limit } });
    const modules = (await call<Page<SoftwareModuleTypeView>>(r.softwareModuleTypes.list, dialect, first(2))).json;
    expect(modules.content.map(({ key, name, maxAssignments, deleted }) => [key, name, maxAssignments, deleted])).toEqual([
      ["os", "OS", 1, false],
      ["application", "Application", 2_147_483_647, false],
    ]);
    const sets = (await call<Page<DistributionSetTypeView>>(r.distributionSetTypes.list, dialect, first(3))).json;
    expect(sets.content.map(({ key, name }) => [key, name])).toEqual([
      ["os", "OS only"],
      ["app", "App(s) only"],
      ["os_app", "OS with app(s)"],
    ]);
    for (const { colour } of [...modules.content, ...sets.content]) expect(colour).toBeUndefined();
  });

  it("management 12.20 the default type of sets is os_app", async () => {
    const { json } = await call<{ value: number; global: boolean }>(r.configs.get, dialect, { params: { key: "default.ds.type" } });
    expect(json.global).toBe(false);
    const type = (
      await call<DistributionSetTypeView>(r.distributionSetTypes.get, dialect, { params: { distributionSetTypeId: json.value } })
    ).json;
    expect(type.key).toBe("os_app");
  });

  it("management 12.25 a set type links to its module types", async () => {
    const { json } = await call<Page<DistributionSetTypeView>>(r.distributionSetTypes.list, dialect, { query: { q: "key==os_app" } });
    expect(json.content.map(({ _links }) => Object.keys(_links))).toEqual([["self"]]);
    const id = json.content[0]?.id as number;
    const type = (await call<DistributionSetTypeView>(r.distributionSetTypes.get, dialect, { params: { distributionSetTypeId: id } })).json;
    expect(type._links.mandatorymodules?.href).toMatch(new RegExp(`/distributionsettypes/${id}/mandatorymoduletypes$`));
    expect(type._links.optionalmodules?.href).toMatch(new RegExp(`/distributionsettypes/${id}/optionalmoduletypes$`));
    const module = (await call<Page<SoftwareModuleTypeView>>(r.softwareModuleTypes.list, dialect, { query: { q: "key==os" } })).json
      .content[0];
    const single = await call<SoftwareModuleTypeView>(r.softwareModuleTypes.get, dialect, {
      params: { softwareModuleTypeId: module?.id as number },
    });
    expect(single.json).toEqual(module);
    await refused(r.softwareModuleTypes.get, dialect, { params: { softwareModuleTypeId: 2_000_000_000 } }, [404, "repo.entityNotFound"]);
    await refused(r.distributionSetTypes.get, dialect, { params: { distributionSetTypeId: 2_000_000_000 } }, [404, "repo.entityNotFound"]);
  });

  it.each([
    ["an unknown type", { type: "nothing" }, 404, "repo.entityNotFound"],
    ["no type", { type: undefined }, 400, "repo.constraintViolation"],
    ["no name", { name: undefined }, 400, "repo.constraintViolation"],
    ["an empty name", { name: "  " }, 400, "repo.constraintViolation"],
    ["a name of 129", { name: "n".repeat(129) }, 400, "repo.constraintViolation"],
    ["a version of 65", { version: "v".repeat(65) }, 400, "repo.constraintViolation"],
    ["no version", { version: null }, 400, "repo.constraintViolation"],
    ["a vendor of 257", { vendor: "v".repeat(257) }, 400, "repo.constraintViolation"],
    ["a description of 513", { description: "d".repeat(513) }, 400, "repo.constraintViolation"],
    ["markup in the name", { name: "a<b>c" }, 400, "repo.constraintViolation"],
    ["markup in the description", { description: "<script>alert(1)</script>" }, 400, "repo.constraintViolation"],
    ["a name that is a list", { name: [5] }, 400, "rest.body.notReadable"],
    ["a type that is an object", { type: {} }, 400, "rest.body.notReadable"],
    ["encryption", { encrypted: true }, 400, "artifact.encryptionNotSupported"],
  ])("management 12.32 %s is rejected", async (_case, body, status, code) => {
    await refused(r.softwareModules.create, dialect, create(body), [status, code]);
  });

  it("management 12.32 a bare < is no markup; values at the limits are accepted", async () => {
    const body = {
      name: unique().padEnd(124, "n").concat(" < 5"),
      version: "v".repeat(64),
      vendor: "ü".repeat(256),
      description: "a<5 && b>3",
    };
    const module = await build.module(body);
    expect(module).toMatchObject(body);
    expect(module).toMatchObject({ type: "os", typeName: "OS", encrypted: false, locked: false, deleted: false });
  });

  it("management 12.33 name, version and type are unique together", async () => {
    const { name, version } = await build.module();
    await refused(r.softwareModules.create, dialect, create({ name, version }), [409, "repo.entityAlreadyExists"]);
    await build.module({ name, version, type: "application" });
    await build.module({ name, version: "2" });
  });

  it("management 12.34 a change touches only what it names, and never name, version and type", async () => {
    const { id, name, version, createdAt } = await build.module({ description: "d", vendor: "a" });
    const change = { vendor: "v", name: "other", version: "9", type: "application", description: null };
    const { json } = await call<SoftwareModuleView>(r.softwareModules.update, dialect, { ...one(id), body: change });
    expect(json).toMatchObject({ name, version, type: "os", description: "d", vendor: "v", createdAt });
    expect(json).toEqual(await view.module(id));
    expect(Object.keys(json._links).sort()).toEqual(["artifacts", "metadata", "self", "type"]);
    await call(r.softwareModules.update, dialect, { ...one(id), body: {} });
    await refused(r.softwareModules.update, dialect, { ...one(2_000_000_000), body: {} }, [404, "repo.entityNotFound"]);
    await refused(r.softwareModules.update, dialect, { ...one(id), body: { vendor: "v".repeat(257) } }, [400, "repo.constraintViolation"]);
    await refused(r.softwareModules.update, dialect, { ...one(id), body: { locked: "yes" } }, [400, "rest.body.notReadable"]);
  });

  it("management 12.46 a module that is in no set is gone when it is deleted", async () => {
    const { id, name, version } = await build.module();
    const artifact = await build.upload(id);
    expect((await call(r.softwareModules.delete, dialect, one(id))).status).toBe(bodiless);
    await refused(r.softwareModules.get, dialect, one(id), [404, "repo.entityNotFound"]);
    await refused(r.softwareModules.delete, dialect, one(id), [404, "repo.entityNotFound"]);
    await refused(r.artifacts.get, dialect, { params: { softwareModuleId: id, artifactId: artifact.id } }, [404, "repo.entityNotFound"]);
    await build.module({ name, version });
  });

  it("management 12.46 a deleted module of a set stays readable and keeps its name", async () => {
    const { id, name, version } = await build.module();
    const artifact = await build.upload(id);
    await build.set({ modules: [{ id }] });
    const download = { params: { softwareModuleId: id, artifactId: artifact.id } };
    await call(r.artifacts.download, dialect, download);
    await call(r.softwareModules.delete, dialect, one(id));
    expect(await view.module(id)).toMatchObject({ deleted: true, name });
    await refused(r.artifacts.download, dialect, download, [410, "artifact.binaryDeleted"]);
    const listed = (q: object) => call<Page<SoftwareModuleView>>(r.softwareModules.list, dialect, { query: { q: `name==${name}`, ...q } });
    expect((await listed({})).json.total).toBe(0);
    expect((await listed({ soft_deleted_mode: "ONLY_SOFT_DELETED" })).json.total).toBe(1);
    expect((await listed({ soft_deleted_mode: "INCLUDE_SOFT_DELETED" })).json.total).toBe(1);
    await refused(r.softwareModules.create, dialect, create({ name, version }), [409, "repo.entityAlreadyExists"]);
    await call(r.softwareModules.delete, dialect, one(id));
  });

  it("management 12.47 a module of a locked set cannot be deleted until that set is", async () => {
    const { id } = await build.module();
    const set = await build.set({ modules: [{ id }], locked: true });
    expect(set).toMatchObject({ locked: true, complete: true });
    await refused(r.softwareModules.delete, dialect, one(id), [423, "locked"]);
    const { controllerId } = await build.target();
    await build.assign(set.id, controllerId);
    await call(r.distributionSets.delete, dialect, { params: { distributionSetId: set.id } });
    expect((await view.set(set.id)).deleted).toBe(true);
    await call(r.softwareModules.delete, dialect, one(id));
    expect((await view.module(id)).deleted).toBe(true);
  });
});
