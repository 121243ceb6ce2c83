import { type MetadataView, type ModuleMetadataView, routeTable as r, type TargetView } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { builder, unique } from "../support/build.ts";
import { type CallOptions, call, refused } from "../support/call.ts";
import type { Page } from "../support/look.ts";

const build = builder("rest");

const owners = [
  ["a module", async () => ({ softwareModuleId: (await build.module()).id }), r.softwareModules],
  ["a set", async () => ({ distributionSetId: (await build.set()).id }), r.distributionSets],
  ["a target", async () => ({ targetId: (await build.target()).controllerId }), r.targets],
] as const;

/* Where hawkBit 1.1.0 differs from the specification, /rest/v1 answers as hawkBit does. */
describe.each(owners)("metadata of %s as hawkBit 1.x has it", (_owner, make, routes) => {
  const at = async () => {
    const params = await make();
    const list = async () => (await call<Page<MetadataView>>(routes.listMetadata, "rest", { params })).json.content;
    const add = (body: unknown): CallOptions => ({ params, body });
    const one = (metadataKey: string, body?: unknown): CallOptions => ({ params: { ...params, metadataKey }, body });
    return { list, add, one };
  };

  it("an existing key is overwritten; of a key that is named twice the last value counts", async () => {
    const { list, add } = await at();
    await call(
      routes.createMetadata,
      "rest",
      add([
        { key: "a", value: "1" },
        { key: "b", value: "1" },
      ]),
    );
    await call(
      routes.createMetadata,
      "rest",
      add([
        { key: "a", value: "2" },
        { key: "c", value: "2" },
        { key: "c", value: "3" },
      ]),
    );
    expect((await list()).map(({ key, value }) => [key, value])).toEqual([
      ["a", "2"],
      ["b", "1"],
      ["c", "3"],
    ]);
  });

  it("a PUT creates an unknown key and changes a known one", async () => {
    const { list, one } = await at();
    expect((await call(routes.updateMetadata, "rest", one("k", { value: "v" }))).status).toBe(204);
    expect(await list()).toMatchObject([{ key: "k", value: "v" }]);
    await call(routes.updateMetadata, "rest", one("k", { value: "w" }));
    expect(await list()).toMatchObject([{ key: "k", value: "w" }]);
  });

  it("overwriting takes no room of the quota, a new entry does", async () => {
    const { list, add, one } = await at();
    const entries = Array.from({ length: 100 }, (_, n) => ({ key: `k${String(n).padStart(2, "0")}`, value: "1" }));
    await call(routes.createMetadata, "rest", add(entries));
    await call(routes.createMetadata, "rest", add(entries.map((entry) => ({ ...entry, value: "2" }))));
    expect((await list()).every(({ value }) => value === "2")).toBe(true);
    const tooMany = [429, "quota.tooManyEntries"] as const;
    await refused(
      routes.createMetadata,
      "rest",
      add([
        { key: "k00", value: "3" },
        { key: "new", value: "3" },
      ]),
      tooMany,
    );
    await refused(routes.updateMetadata, "rest", one("new", { value: "3" }), tooMany);
    expect((await list())[0]).toMatchObject({ value: "2" });
  });
});

describe("other answers of hawkBit 1.x", () => {
  it("overwriting the value of a module entry keeps targetVisible", async () => {
    const params = { softwareModuleId: (await build.module()).id };
    await call(r.softwareModules.createMetadata, "rest", { params, body: [{ key: "k", value: "v", targetVisible: true }] });
    await call(r.softwareModules.updateMetadata, "rest", { params: { ...params, metadataKey: "k" }, body: { value: "w" } });
    const found = await call<ModuleMetadataView>(r.softwareModules.getMetadata, "rest", { params: { ...params, metadataKey: "k" } });
    expect(found.json).toEqual({ key: "k", value: "w", targetVisible: true });
  });

  it("a locked set denies changes of its modules with 423; after unlocking devices keep what they have got", async () => {
    const set = await build.set();
    const { controllerId } = await build.target();
    await build.assign(set.id, controllerId);
    const module = await build.module();
    const params = { distributionSetId: set.id };
    await refused(r.distributionSets.assignModules, "rest", { params, body: [{ id: module.id }] }, [423, "locked"]);
    const mine = { ...params, softwareModuleId: set.modules[0]?.id as number };
    await refused(r.distributionSets.removeModule, "rest", { params: mine }, [423, "locked"]);
    await call(r.distributionSets.update, "rest", { params, body: { locked: false } });
    await refused(r.distributionSets.assignModules, "rest", { params, body: [{ id: module.id }] }, [403, "entityReadOnly"]);
  });

  it.each(["spec", "rest"] as const)("a list of 5,000 with ids of full length, %s", async (dialect) => {
    const prefix = unique();
    // The body is as long as possible: more than 1 MiB, fewer than 8.
    const body = Array.from({ length: 5_000 }, (_, n) => ({
      controllerId: `${prefix}-${n}-`.padEnd(256, "x"),
      description: "d".repeat(250),
    }));
    expect(JSON.stringify(body).length).toBeGreaterThan(2 * 1024 * 1024);
    const { json } = await call<TargetView[]>(r.targets.create, dialect, { body });
    expect(json).toHaveLength(5_000);
    const params = { distributionSetId: (await build.set()).id };
    const items = body.map(({ controllerId }) => ({ id: controllerId }));
    const assigned = await call<{ assigned: number }>(r.distributionSets.assignTargets, dialect, { params, body: items });
    expect(assigned.json.assigned).toBe(5_000);
    const tooLong = `["${"x".repeat(8 * 1024 * 1024)}"]`;
    await refused(r.targets.create, dialect, { body: tooLong }, [413]);
  });
});
