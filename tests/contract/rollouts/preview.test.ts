import { type RolloutPreview, routeTable as r } from "@harrier/contracts";
import { beforeAll, describe, expect, it } from "vitest";
import { accessBuilder } from "../support/access.ts";
import { unique } from "../support/build.ts";
import { call, dialects, refused } from "../support/call.ts";
import type { Page } from "../support/look.ts";
import { rolloutBuilder } from "../support/rollout.ts";
import { typeBuilder } from "../support/types.ts";

const bad = [400, "repo.constraintViolation"] as const;

describe.each(dialects)("preview of rollouts, %s", (dialect) => {
  const rollouts = rolloutBuilder(dialect);
  const { build, body, create, become, groups, fleet } = rollouts;
  const { targetType } = typeBuilder(dialect);
  let prefix: string;
  let setId: number;
  beforeAll(async () => {
    ({ prefix } = await fleet(10));
    setId = (await rollouts.set()).id;
  });
  const preview = async (more: object = {}, auth?: string): Promise<RolloutPreview> => {
    const options = { body: await body(prefix, { distributionSetId: setId, ...more }) };
    return (await call<RolloutPreview>(r.rollouts.preview, dialect, { ...options, ...(auth === undefined ? {} : { auth }) })).json;
  };
  const overQuota = [dialect === "spec" ? 403 : 429, "quota.tooManyEntries"] as const;

  it.each<[string, { few?: boolean; [member: string]: unknown }, number[]]>([
    ["10.10 three groups of ten", { amountGroups: 3 }, [3, 3, 4]],
    ["10.11 five groups of three", { amountGroups: 5, few: true }, [1, 1, 0, 1, 0]],
    [
      "10.13 30 and 70 percent",
      {
        groups: [
          { name: "a", targetPercentage: 30 },
          { name: "b", targetPercentage: 70 },
        ],
      },
      [3, 7],
    ],
    ["10.71 dynamic", { amountGroups: 2, dynamic: true, dynamicGroupTemplate: { nameSuffix: "-d", targetCount: 5 } }, [5, 5, 0]],
    ["4.6 dynamic without a template", { amountGroups: 3, dynamic: true }, [3, 3, 4, 0]],
  ])("rollouts %s: the preview equals the creation", async (_case, { few, ...more }, sizes) => {
    const own = few ? { ...more, targetFilterQuery: `controllerid==${(await fleet(3)).prefix}*` } : more;
    const seen = await preview(own);
    expect(seen.groups.map(({ totalTargets }) => totalTargets)).toEqual(sizes);
    const total = sizes.reduce((sum, n) => sum + n, 0);
    expect(seen).toMatchObject({ candidates: total, matched: total, excluded: { outsideScope: 0, incompatibleType: 0, noGroup: 0 } });
    const made = await become((await create(prefix, { distributionSetId: setId, ...own })).id, "ready");
    const real = (await groups(made.id)).map(({ name, targetPercentage, dynamic, totalTargets }) => ({
      name,
      targetPercentage,
      dynamic,
      totalTargets,
    }));
    expect(seen.groups).toEqual(real);
  });

  it("rollouts 10.22 groups can have filters of their own", async () => {
    const [one, two] = [`controllerid==${prefix}*0`, `controllerid==${prefix}*1`];
    const rest = `controllerid==${prefix}*;controllerid!=*0;controllerid!=*1`;
    const defined = [one, two, rest].map((targetFilterQuery, n) => ({ name: `g${n}`, targetFilterQuery }));
    const seen = await preview({ groups: defined });
    expect(seen.groups.map(({ name, totalTargets }) => [name, totalTargets])).toEqual([
      ["g0", 1],
      ["g1", 1],
      ["g2", 8],
    ]);
  });

  it("rollouts 10.8 targets whose type excludes the set are candidates, and shown as such", async () => {
    const { id } = await targetType();
    const mixed = await fleet(2);
    await build.targets(...[1, 2, 3].map((n) => ({ controllerId: `${mixed.prefix}-typed-${n}`, targetType: id })));
    expect(await preview({ targetFilterQuery: `controllerid==${mixed.prefix}*` })).toMatchObject({
      candidates: 5,
      matched: 2,
      excluded: { outsideScope: 0, incompatibleType: 3, noGroup: 0 },
    });
  });

  it("rollouts 2 a restricted user sees visible targets, and none of the others", async () => {
    const { type } = await rollouts.view.set(setId);
    const found = await call<Page<{ id: number }>>(r.distributionSetTypes.list, dialect, { query: { q: `key==${type}` } });
    const ofSet = found.json.content[0]?.id ?? 0;
    const [seen, reached] = [(await targetType([ofSet])).id, (await targetType([ofSet])).id];
    const mixed = await fleet(4);
    const typed = (name: string, type: number, n: number) =>
      Array.from({ length: n }, (_, k) => ({ controllerId: `${mixed.prefix}-${name}-${k}`, targetType: type }));
    await build.targets(...typed("seen", seen, 2), ...typed("reached", reached, 3));
    const grants = ["CREATE_ROLLOUT", "READ_ROLLOUT"];
    const { auth } = await accessBuilder(dialect).user([
      ...grants,
      { permission: "READ_TARGET", targetTypeScopes: [seen, reached] },
      { permission: "UPDATE_TARGET", targetTypeScopes: [reached] },
    ]);
    expect(await preview({ targetFilterQuery: `controllerid==${mixed.prefix}*` }, auth)).toMatchObject({
      candidates: 5,
      matched: 3,
      excluded: { outsideScope: 2, incompatibleType: 0, noGroup: 0 },
    });
  });

  it.each([
    ["10.1 no filter", { targetFilterQuery: undefined }, [400, "rest.param.rsqlParamSyntax"]],
    ["10.3 an unknown field", { targetFilterQuery: "nothing==x" }, [400, "rest.param.rsqlInvalidField"]],
    ["10.4 an unknown set", { distributionSetId: 2_000_000_000 }, [404, "repo.entityNotFound"]],
    ["10.7 no target", { targetFilterQuery: "controllerid==nobody-at-all" }, bad],
    ["10.14 half of the targets", { groups: [{ name: "g", targetPercentage: 50 }] }, bad],
    ["10.16 groups and their amount", { groups: [{ name: "g" }], amountGroups: 1 }, bad],
    ["10.19 501 groups", { amountGroups: 501 }, overQuota],
    ["10.20 amount 0", { amountGroups: 0 }, bad],
    ["10.21 a template without dynamic", { dynamicGroupTemplate: { targetCount: 1 } }, bad],
    ["10.25 an unknown type", { type: "bogus" }, [400, "rest.body.notReadable"]],
    ["2.1 no name", { name: null }, bad],
  ] as const)("rollouts %s: the preview is rejected as the creation would be", async (_case, more, expected) => {
    await refused(r.rollouts.preview, dialect, { body: await body(prefix, { distributionSetId: setId, ...more }) }, expected);
  });

  it("rollouts 10.23 a name in use is rejected; a preview takes no name and locks no set", async () => {
    const fresh = (await rollouts.set()).id;
    const name = unique("rollout");
    await preview({ name, distributionSetId: fresh });
    await preview({ name, distributionSetId: fresh });
    expect((await rollouts.view.set(fresh)).locked).toBe(false);
    await create(prefix, { name, distributionSetId: fresh });
    await refused(r.rollouts.preview, dialect, { body: await body(prefix, { name, distributionSetId: fresh }) }, [
      409,
      "repo.entityAlreadyExists",
    ]);
  });

  it("rollouts 10.28 a start time needs HANDLE_ROLLOUT", async () => {
    const { auth } = await accessBuilder(dialect).user(["CREATE_ROLLOUT"]);
    const options = { body: await body(prefix, { distributionSetId: setId, startAt: 1 }), auth };
    await refused(r.rollouts.preview, dialect, options, [403, "insufficientPermission"]);
  });
});
