import { type MetadataView, routeTable as r, type TargetView } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { builder, unique } from "../support/build.ts";
import { call, dialects, refused } from "../support/call.ts";
import { type Page, viewer } from "../support/look.ts";

describe.each(dialects)("metadata of targets, %s", (dialect) => {
  const build = builder(dialect);
  const view = viewer(dialect);
  const { targets } = r;
  const [written, quota] = dialect === "spec" ? [200, 403] : [204, 429];
  const of = (targetId: string, metadataKey = "") => ({ params: { targetId, metadataKey } });
  const list = async (targetId: string, query: Record<string, string | number> = {}) =>
    (await call<Page<MetadataView>>(targets.listMetadata, dialect, { ...of(targetId), query })).json;

  it("management 12.80 the 101st entry and an existing key are rejected", async () => {
    const { controllerId } = await build.target();
    const entries = (from: number, n: number) => Array.from({ length: n }, (_, i) => ({ key: `k${from + i}`, value: "v" }));
    await call(targets.createMetadata, dialect, { ...of(controllerId), body: entries(0, 99) });
    await refused(targets.createMetadata, dialect, { ...of(controllerId), body: entries(99, 2) }, [quota, "quota.tooManyEntries"]);
    await call(targets.createMetadata, dialect, { ...of(controllerId), body: entries(99, 1) });
    await refused(targets.createMetadata, dialect, { ...of(controllerId), body: entries(100, 1) }, [quota, "quota.tooManyEntries"]);
    expect(await list(controllerId)).toMatchObject({ total: 100, size: 50 });
    // hawkBit 1.x overwrites an existing key (hawkbit-dialect.test.ts).
    if (dialect === "rest") return;
    const there = { ...of(controllerId), body: entries(0, 1) };
    const answer = await refused(targets.createMetadata, dialect, there, [409, "repo.entityAlreadyExists"]);
    expect(answer.json.info).toMatchObject({ duplicate: { key: "k0" }, violations: [{ path: "0" }] });
    const other = (await build.target()).controllerId;
    const twice = { ...of(other), body: [...entries(0, 2), ...entries(1, 1)] };
    await refused(targets.createMetadata, dialect, twice, [409, "repo.entityAlreadyExists"]);
    expect((await list(other)).total).toBe(0);
  });

  it("management 4.6 entries of a target are created, listed by key, searched, changed and deleted; its audit members change", async () => {
    const { controllerId, lastModifiedAt } = await build.target();
    const body = [{ key: "b", value: " beta " }, { key: "a", value: "Alpha" }, { key: "with/slash and ü", value: "" }, { key: "none" }];
    const { status, json } = await call<MetadataView[]>(targets.createMetadata, dialect, { ...of(controllerId), body });
    const stored = body.map((entry) => (entry.key === "b" ? { ...entry, value: "beta" } : entry));
    expect([status, json]).toEqual([201, dialect === "spec" ? stored : undefined]);
    expect((await view.target(controllerId)).lastModifiedAt).toBeGreaterThanOrEqual(lastModifiedAt);
    expect((await list(controllerId)).content.map(({ key }) => key)).toEqual(["a", "b", "none", "with/slash and ü"]);
    expect((await list(controllerId, { q: "value==a*" })).content).toEqual([{ key: "a", value: "Alpha" }]);
    expect((await list(controllerId, { sort: "key:DESC", limit: 1, offset: 1 })).content.map(({ key }) => key)).toEqual(["none"]);

    const slash = of(controllerId, "with/slash and ü");
    expect((await call(targets.getMetadata, dialect, slash)).json).toEqual(body[2]);
    const changed = await call<MetadataView>(targets.updateMetadata, dialect, { ...slash, body: { value: "new" } });
    expect([changed.status, changed.json]).toEqual([written, dialect === "spec" ? { key: "with/slash and ü", value: "new" } : undefined]);
    expect((await call(targets.getMetadata, dialect, slash)).json).toEqual({ key: "with/slash and ü", value: "new" });
    expect((await call(targets.deleteMetadata, dialect, slash)).status).toBe(written);
    for (const route of [targets.getMetadata, targets.deleteMetadata]) await refused(route, dialect, slash, [404, "repo.entityNotFound"]);
    if (dialect === "spec") {
      const unknown = await refused(targets.updateMetadata, dialect, { ...slash, body: { value: "v" } }, [404, "repo.entityNotFound"]);
      expect(unknown.json.info).toMatchObject({ type: "TargetMetadata", entityId: controllerId, key: "with/slash and ü" });
    }
    for (const route of [targets.listMetadata, targets.getMetadata, targets.deleteMetadata]) {
      await refused(route, dialect, of(unique(), "k"), [404, "repo.entityNotFound"]);
    }
  });

  it("management 6.4 targets are found by their metadata", async () => {
    const [key, both, one] = [unique("K.ey"), (await build.target()).controllerId, (await build.target()).controllerId];
    const long = "x".repeat(3_999);
    await call(targets.createMetadata, dialect, { ...of(both), body: [{ key, value: `${long}y` }] });
    await call(targets.createMetadata, dialect, { ...of(one), body: [{ key, value: "Hall 1" }, { key: `${key}.2` }] });
    const found = async (q: string) => {
      const { json } = await call<Page<TargetView>>(targets.list, dialect, { query: { q } });
      return json.content.map(({ controllerId }) => controllerId).sort();
    };
    const everyone = [both, one].sort();
    expect(await found(`metadata.${key.toLowerCase()}==*`)).toEqual(everyone);
    expect(await found(`metadata.${key}==hall*`)).toEqual([one]);
    expect(await found(`metadata.${key}!="hall 1"`)).toEqual([both]);
    expect(await found(`metadata.${key}==*Y`)).toEqual([both]);
    expect(await found(`metadata.${key}.2==""`)).toEqual([one]);
    expect(await found(`metadata.${key}.2=is=null;controllerid=in=(${everyone})`)).toEqual([both]);
  });

  it.each([
    ["a key of 129", { key: "k".repeat(129) }, "repo.constraintViolation"],
    ["an empty key", { key: " " }, "repo.constraintViolation"],
    ["no key", { value: "v" }, "repo.constraintViolation"],
    ["a value of 4001", { key: "k", value: "v".repeat(4_001) }, "repo.constraintViolation"],
    ["a value that is a list", { key: "k", value: [5] }, "rest.body.notReadable"],
  ])("management 4.6, 1.6 %s is rejected", async (_case, entry, code) => {
    const { controllerId } = await build.target();
    await refused(targets.createMetadata, dialect, { ...of(controllerId), body: [{ key: unique() }, entry] }, [400, code]);
    expect((await list(controllerId)).total).toBe(0);
  });
});
