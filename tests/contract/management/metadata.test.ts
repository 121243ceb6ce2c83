import { type MetadataView, type ModuleMetadataView, routeTable as r, type SoftwareModuleView } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { builder, unique } from "../support/build.ts";
import { ask, call, dialects, refused } from "../support/call.ts";
import { type Page, viewer } from "../support/look.ts";

describe.each(dialects)("metadata of modules and sets, %s", (dialect) => {
  const build = builder(dialect);
  const view = viewer(dialect);
  const { softwareModules, distributionSets } = r;
  const [written, quota] = dialect === "spec" ? [200, 403] : [204, 429];
  const ofModule = (softwareModuleId: number, metadataKey = "") => ({ params: { softwareModuleId, metadataKey } });
  const ofSet = (distributionSetId: number, metadataKey = "") => ({ params: { distributionSetId, metadataKey } });
  const entriesOfSet = async (id: number, query: Record<string, string | number> = {}) =>
    (await call<Page<MetadataView>>(distributionSets.listMetadata, dialect, { ...ofSet(id), query })).json;

  it("management 12.48 an entry of a module is hidden from devices by default, and a change touches only what it names", async () => {
    const { id, lastModifiedAt } = await build.module();
    const body = [{ key: "k", value: "v" }, { key: "open", value: "w", targetVisible: true }, { key: "bare" }];
    const { status, json } = await call<ModuleMetadataView[]>(softwareModules.createMetadata, dialect, { ...ofModule(id), body });
    const stored = [
      { key: "k", value: "v", targetVisible: false },
      { key: "open", value: "w", targetVisible: true },
      { key: "bare", targetVisible: false },
    ];
    expect([status, json]).toEqual([201, dialect === "spec" ? stored : undefined]);
    expect((await view.module(id)).lastModifiedAt).toBeGreaterThanOrEqual(lastModifiedAt);
    const change = { ...ofModule(id, "k"), body: { targetVisible: true } };
    const changed = await call<ModuleMetadataView>(softwareModules.updateMetadata, dialect, change);
    const now = { key: "k", value: "v", targetVisible: true };
    expect([changed.status, changed.json]).toEqual([written, dialect === "spec" ? now : undefined]);
    expect((await call(softwareModules.getMetadata, dialect, ofModule(id, "k"))).json).toEqual(now);

    if (dialect === "spec") {
      const answer = await refused(softwareModules.createMetadata, dialect, { ...ofModule(id), body: [{ key: "n" }, { key: "k" }] }, [
        409,
        "repo.entityAlreadyExists",
      ]);
      expect(answer.json.info).toMatchObject({ duplicate: { key: "k" }, violations: [{ path: "1" }] });
    }
    const list = (await call<Page<ModuleMetadataView>>(softwareModules.listMetadata, dialect, ofModule(id))).json;
    expect(list.content.map(({ key }) => key)).toEqual(["bare", "k", "open"]);
    const visible = { ...ofModule(id), query: { q: "targetvisible==true;key==O*" } };
    expect((await call<Page<ModuleMetadataView>>(softwareModules.listMetadata, dialect, visible)).json.content).toEqual([stored[1]]);
    expect((await call(softwareModules.deleteMetadata, dialect, ofModule(id, "k"))).status).toBe(written);
    for (const route of [softwareModules.getMetadata, softwareModules.deleteMetadata]) {
      await refused(route, dialect, ofModule(id, "k"), [404, "repo.entityNotFound"]);
    }
    const again = { ...ofModule(id, "k"), body: { value: "x" } };
    if (dialect === "spec") await refused(softwareModules.updateMetadata, dialect, again, [404, "repo.entityNotFound"]);
  });

  it("management 12.48 a module has 100 entries at most, a request adds all or none; a locked module takes them too", async () => {
    const { id } = await build.module();
    await call<SoftwareModuleView>(softwareModules.update, dialect, { params: { softwareModuleId: id }, body: { locked: true } });
    const entries = (from: number, n: number) => Array.from({ length: n }, (_, i) => ({ key: `k${from + i}`, value: "v" }));
    await call(softwareModules.createMetadata, dialect, { ...ofModule(id), body: entries(0, 99) });
    await refused(softwareModules.createMetadata, dialect, { ...ofModule(id), body: entries(99, 2) }, [quota, "quota.tooManyEntries"]);
    await call(softwareModules.createMetadata, dialect, { ...ofModule(id), body: entries(99, 1) });
    await refused(softwareModules.createMetadata, dialect, { ...ofModule(id), body: entries(100, 1) }, [quota, "quota.tooManyEntries"]);
    expect((await call<Page<unknown>>(softwareModules.listMetadata, dialect, ofModule(id))).json).toMatchObject({ total: 100, size: 50 });
  });

  it("management 12.64 entries of a set are created, listed by key, searched, changed and deleted", async () => {
    const { id } = await build.set({ modules: [] });
    const body = [{ key: "b", value: "beta" }, { key: "a", value: "Alpha" }, { key: "with/slash and ü", value: "" }, { key: "none" }];
    const { status, json } = await call<MetadataView[]>(distributionSets.createMetadata, dialect, { ...ofSet(id), body });
    expect([status, json]).toEqual([201, dialect === "spec" ? body : undefined]);
    expect((await entriesOfSet(id)).content.map(({ key }) => key)).toEqual(["a", "b", "none", "with/slash and ü"]);
    expect((await entriesOfSet(id, { q: "value==a*" })).content).toEqual([{ key: "a", value: "Alpha" }]);
    expect((await entriesOfSet(id, { sort: "key:DESC", limit: 1, offset: 1 })).content.map(({ key }) => key)).toEqual(["none"]);
    await refused(distributionSets.listMetadata, dialect, { ...ofSet(id), query: { sort: "targetvisible:ASC" } }, [
      400,
      "rest.param.invalidField",
    ]);

    const slash = ofSet(id, "with/slash and ü");
    expect((await call(distributionSets.getMetadata, dialect, slash)).json).toEqual(body[2]);
    const changed = await call<MetadataView>(distributionSets.updateMetadata, dialect, { ...slash, body: { value: "new" } });
    expect([changed.status, changed.json]).toEqual([written, dialect === "spec" ? { key: "with/slash and ü", value: "new" } : undefined]);
    expect((await call(distributionSets.getMetadata, dialect, slash)).json).toMatchObject({ value: "new" });
    expect((await call(distributionSets.deleteMetadata, dialect, slash)).status).toBe(written);
    expect((await entriesOfSet(id)).total).toBe(3);

    if (dialect === "spec") {
      const unknown = await refused(distributionSets.updateMetadata, dialect, { ...ofSet(id, "zz"), body: { value: "v" } }, [
        404,
        "repo.entityNotFound",
      ]);
      expect(unknown.json.info).toMatchObject({ entityId: id, key: "zz" });
      await refused(distributionSets.createMetadata, dialect, { ...ofSet(id), body: [{ key: "a" }] }, [409, "repo.entityAlreadyExists"]);
    }
    const hundred = Array.from({ length: 98 }, (_, n) => ({ key: `n${n}` }));
    await refused(distributionSets.createMetadata, dialect, { ...ofSet(id), body: hundred }, [quota, "quota.tooManyEntries"]);
    await call(distributionSets.createMetadata, dialect, { ...ofSet(id), body: hundred.slice(1) });
  });

  it("management 6.4 modules and sets are found by metadata; of two that add a key at once one wins, the other is 409 or overwrites", async () => {
    const [{ id: moduleId }, { id: setId }] = [await build.module(), await build.set({ modules: [] })];
    const value = unique();
    const add = (route: typeof softwareModules.createMetadata | typeof distributionSets.createMetadata, at: { params: object }) =>
      ask(route, dialect, { ...at, params: { ...at.params }, body: [{ key: "own.key", value }] });
    const owners = [
      [softwareModules.createMetadata, ofModule(moduleId), softwareModules.list, moduleId],
      [distributionSets.createMetadata, ofSet(setId), distributionSets.list, setId],
    ] as const;
    for (const [create, at, list, id] of owners) {
      const answers = await Promise.all([1, 2, 3].map(() => add(create, at)));
      expect(answers.map(({ status }) => status).sort()).toEqual(dialect === "spec" ? [201, 409, 409] : [201, 201, 201]);
      const found = await call<Page<{ id: number }>>(list, dialect, { query: { q: `metadata.own.key==${value}` } });
      expect(found.json.content.map((owner) => owner.id)).toEqual([id]);
    }
  });

  it("management 12.64 metadata of a locked set can be changed, of a deleted one not", async () => {
    const set = await build.set({ locked: true });
    await call(distributionSets.createMetadata, dialect, { ...ofSet(set.id), body: [{ key: "k", value: "v" }] });
    const { controllerId } = await build.target();
    await build.assign(set.id, controllerId);
    await call(distributionSets.updateMetadata, dialect, { ...ofSet(set.id, "k"), body: { value: "w" } });
    await call(distributionSets.delete, dialect, ofSet(set.id));
    expect((await entriesOfSet(set.id)).content).toEqual([{ key: "k", value: "w" }]);
    await refused(distributionSets.updateMetadata, dialect, { ...ofSet(set.id, "k"), body: { value: "x" } }, [404, "deleted"]);
    await refused(distributionSets.createMetadata, dialect, { ...ofSet(set.id), body: [{ key: "n" }] }, [404, "deleted"]);
    await refused(distributionSets.deleteMetadata, dialect, ofSet(set.id, "k"), [404, "deleted"]);
  });

  it.each([
    ["a key of 129", { key: "k".repeat(129) }, "repo.constraintViolation"],
    ["an empty key", { key: " " }, "repo.constraintViolation"],
    ["no key", { value: "v" }, "repo.constraintViolation"],
    ["a value of 4001", { key: "k", value: "v".repeat(4_001) }, "repo.constraintViolation"],
    ["a value that is a list", { key: "k", value: [5] }, "rest.body.notReadable"],
  ])("management 12.64, 1.6 %s is rejected", async (_case, entry, code) => {
    const [{ id: moduleId }, { id: setId }] = [await build.module(), await build.set({ modules: [] })];
    const body = [{ key: unique() }, entry];
    await refused(softwareModules.createMetadata, dialect, { ...ofModule(moduleId), body }, [400, code]);
    await refused(distributionSets.createMetadata, dialect, { ...ofSet(setId), body }, [400, code]);
    expect((await entriesOfSet(setId)).total).toBe(0);
    const maxLength = [{ key: "k".repeat(128), value: "v".repeat(4_000) }];
    await call(distributionSets.createMetadata, dialect, { ...ofSet(setId), body: maxLength });
    expect((await entriesOfSet(setId)).content).toEqual(maxLength);
  });
});
