import { routeTable as r, type SearchView, type TargetTypeView } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { accessBuilder } from "../support/access.ts";
import { builder, unique } from "../support/build.ts";
import { type CallOptions, call, dialects, refused } from "../support/call.ts";

describe.each(dialects)("search, %s", (dialect) => {
  const build = builder(dialect);
  const { user } = accessBuilder(dialect);
  const find = async (text: string, { auth, ...query }: { limit?: number } & Pick<CallOptions, "auth"> = {}) =>
    (await call<SearchView>(r.search.find, dialect, { query: { text, ...query }, ...(auth && { auth }) })).json;
  const typed = async (): Promise<number> =>
    ((await call<TargetTypeView[]>(r.targetTypes.create, dialect, { body: [{ name: unique() }] })).json[0] as TargetTypeView).id;

  it("console M14 finds what begins with the text, in any case, by kind", async () => {
    const start = unique("Find%");
    await call(r.targets.create, dialect, {
      body: [
        { controllerId: `${start}-1`, name: "x" },
        { controllerId: unique(), name: `${start} b` },
      ],
    });
    const [tag] = (await call<{ id: number }[]>(r.targetTags.create, dialect, { body: [{ name: `${start} tag` }] })).json;
    const sets = await call<{ id: number }[]>(r.distributionSets.create, dialect, {
      body: ["1", "2"].map((version) => ({ name: `${start} set`, version, type: "os" })),
    });
    const found = await find(start.toUpperCase());
    expect(found.targets?.map(({ name }) => name).toSorted()).toEqual([`${start} b`, "x"].toSorted());
    expect(found.targetTags).toEqual([{ id: tag?.id, name: `${start} tag` }]);
    expect(found.distributionSets).toEqual(sets.json.toReversed().map(({ id }, n) => ({ id, name: `${start} set`, version: `${2 - n}` })));
    expect(found.rollouts).toEqual([]);
    expect((await find(start, { limit: 1 })).targets).toHaveLength(1);
    for (const { id } of sets.json) await call(r.distributionSets.delete, dialect, { params: { distributionSetId: id } });
    expect((await find(start)).distributionSets).toEqual([]);
  });

  it("console M14 shows nothing that the lists do not show", async () => {
    const [start, mine, other] = [unique("scoped"), await typed(), await typed()];
    await call(r.targets.create, dialect, {
      body: [mine, other].map((targetType) => ({ controllerId: `${start}-${targetType}`, targetType })),
    });
    const { auth } = await user([{ permission: "READ_TARGET", targetTypeScopes: [mine] }]);
    const found = await find(start, { auth });
    expect(found.targets?.map(({ controllerId }) => controllerId)).toEqual([`${start}-${mine}`]);
    expect(Object.keys(found).toSorted()).toEqual(["targetFilters", "targetTags", "targets"]);
    expect(await find(start, { auth: (await user(["API_KEY"])).auth })).toEqual({});
  });

  it("console M14 demands a text", async () => {
    await build.target();
    for (const query of [{}, { text: "" }, { text: "  " }, { text: "x".repeat(257) }]) {
      await refused(r.search.find, dialect, { query }, [400, "repo.constraintViolation"]);
    }
  });
});
