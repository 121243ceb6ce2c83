import { describe, expect, it } from "vitest";
import { unique } from "../support/build.ts";
import { rolloutBuilder } from "../support/rollout.ts";

const { fleet, ready, create, groups, members, get, become, filterOf, build, set } = rolloutBuilder("spec");

/** Reads the sizes of the groups of a rollout that is ready, and checks that each target is in exactly one. */
const sizesOf = async (prefix: string, ids: readonly string[], more: object): Promise<number[]> => {
  const { id, totalTargets } = await ready(prefix, more);
  const found = await groups(id);
  expect(found.map(({ status }) => status)).toEqual(found.map(() => "ready"));
  const inGroups = await Promise.all(found.map((group) => members(id, group.id)));
  expect(inGroups.map(({ length }) => length)).toEqual(found.map((group) => group.totalTargets));
  expect(inGroups.flat().sort()).toEqual([...ids].sort());
  expect(totalTargets).toBe(ids.length);
  return found.map((group) => group.totalTargets);
};

describe.concurrent("sizes of groups", () => {
  it.each([
    ["10.10", 10, 3, [3, 3, 4]],
    ["10.11", 3, 5, [1, 1, 0, 1, 0]],
    ["10.12", 1, 3, [0, 0, 1]],
    ["3.4", 20, 3, [7, 6, 7]],
    ["3.4", 100, 3, [33, 33, 34]],
    ["3.4", 10, 4, [3, 2, 3, 2]],
    ["3.4", 10, 6, [2, 2, 1, 2, 1, 2]],
    ["3.4", 100, 7, [14, 14, 14, 14, 15, 14, 15]],
    ["3.4", 2, 3, [1, 0, 1]],
    ["3.4", 7, 1, [7]],
  ])("rollouts %s %d targets in %d groups", async (_case, count, amountGroups, sizes) => {
    const { prefix, ids } = await fleet(count);
    expect(await sizesOf(prefix, ids, { amountGroups })).toEqual(sizes);
  });

  it.each([
    ["10.13", 10, [30, 70], [3, 7]],
    ["3.4", 1000, [30, 70], [300, 700]],
    ["3.4", 10, [20, 30, 50], [2, 3, 5]],
    ["3.4", 10, [20, 100], [2, 8]],
  ])("rollouts %s %d targets by %j percent", async (_case, count, percentages, sizes) => {
    const { prefix, ids } = await fleet(count);
    const named = percentages.map((targetPercentage, n) => ({ name: `g${n}`, targetPercentage }));
    if (count <= 500) expect(await sizesOf(prefix, ids, { groups: named })).toEqual(sizes);
    else expect((await groups((await ready(prefix, { groups: named })).id)).map(({ totalTargets }) => totalTargets)).toEqual(sizes);
  });

  it("rollouts 10.22 groups can have filters of their own", async () => {
    const { prefix, ids } = await fleet(10);
    const named = [
      { name: "even", targetFilterQuery: `controllerid=in=(${ids.filter((_, n) => n % 2 === 0).join(",")})` },
      { name: "rest", targetFilterQuery: `controllerid=in=(${ids.filter((_, n) => n % 2 === 1).join(",")})` },
    ];
    const { id } = await ready(prefix, { groups: named });
    const [even, rest] = await groups(id);
    expect([even?.name, even?.targetFilterQuery, even?.targetPercentage]).toEqual(["even", named[0]?.targetFilterQuery, 100]);
    expect((await members(id, even?.id as number)).sort()).toEqual(ids.filter((_, n) => n % 2 === 0));
    expect((await members(id, rest?.id as number)).sort()).toEqual(ids.filter((_, n) => n % 2 === 1));
  });

  it("rollouts 3.1 names, percentages and order of counted groups are right", async () => {
    const { prefix } = await fleet(4);
    const found = await groups((await ready(prefix, { amountGroups: 3 })).id);
    expect(found.map(({ name, description }) => [name, description])).toEqual([1, 2, 3].map((n) => [`group-${n}`, `group-${n}`]));
    for (const { targetPercentage, targetFilterQuery, dynamic } of found) {
      expect(targetPercentage).toBeCloseTo(100 / 3, 4);
      expect([targetFilterQuery, dynamic]).toEqual(["", false]);
    }
  });

  it("rollouts 10.31 targets that are created later are not members; present ones count at once", async () => {
    const { prefix } = await fleet(3);
    const { id, totalTargets } = await create(prefix);
    expect(totalTargets).toBe(3);
    await build.target({ controllerId: `${prefix}-later` });
    expect((await become(id, "ready")).totalTargets).toBe(3);
    expect(await members(id, (await groups(id))[0]?.id as number)).not.toContain(`${prefix}-later`);
  });

  it("rollouts 4 membership is frozen: a target that no longer matches stays a member", async () => {
    const word = unique("word");
    const { prefix, ids } = await fleet(2, { description: word });
    const { id } = await ready(prefix, { targetFilterQuery: `description==${word}` });
    await build.targets({ description: word });
    expect((await members(id, (await groups(id))[0]?.id as number)).sort()).toEqual(ids);
  });

  it("rollouts 3.7 a filter that matches one of several thousand targets is ready soon", async () => {
    const { prefix } = await fleet(2_000);
    const began = Date.now();
    const { id } = await ready(prefix, {
      amountGroups: 2,
      distributionSetId: (await set()).id,
      targetFilterQuery: filterOf(`${prefix}-0007`),
    });
    expect((await get(id)).totalTargets).toBe(1);
    expect(Date.now() - began).toBeLessThan(15_000);
    expect((await groups(id)).map(({ totalTargets }) => totalTargets)).toEqual([1, 0]);
  });
});
