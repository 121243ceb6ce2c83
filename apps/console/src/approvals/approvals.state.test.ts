import { rolloutCreateBody } from "@harrier/contracts";
import { expect, test } from "vitest";
import { againBody, freshOf } from "./approvals.state.ts";

const rollout = { distributionSetId: 4, targetFilterQuery: "name==a*", type: "forced", forcetime: 0, weight: 700, dynamic: false } as const;
const group = (name: string, targetPercentage: number, targetFilterQuery = "", dynamic = false) => ({
  name,
  targetPercentage,
  targetFilterQuery,
  dynamic,
  totalTargets: 5,
});

test("the same rollout made anew has its groups, and is a request that the contract takes", () => {
  const body = againBody(rollout, [group("one", 5, "tag==first"), group("two", 100)]);
  expect(body).toMatchObject({
    distributionSetId: 4,
    weight: 700,
    groups: [
      { name: "one", targetPercentage: 5, targetFilterQuery: "tag==first" },
      { name: "two", targetPercentage: 100 },
    ],
  });
  expect(rolloutCreateBody.safeParse(body).success).toBe(true);
});

test("a great number of equal groups, and groups that grow, are asked for as what they are", () => {
  const tiny = againBody(rollout, [group("one", 0.5), group("two", 50)]);
  expect(tiny).toMatchObject({ amountGroups: 2 });
  expect(tiny).not.toHaveProperty("groups");
  const growing = againBody({ ...rollout, dynamic: true }, [group("group-1", 100), group("group-2", 30, "", true)]);
  expect(growing).toMatchObject({ dynamic: true, dynamicGroupTemplate: { targetCount: 30 }, groups: [{ name: "group-1" }] });
  const alone = againBody({ ...rollout, dynamic: true, type: "timeforced", forcetime: 9 }, [group("group-1", 30, "", true)]);
  expect(alone).toMatchObject({ amountGroups: 0, forcetime: 9 });
  for (const body of [tiny, growing, alone]) expect(rolloutCreateBody.safeParse(body).success).toBe(true);
});

test("a preview tells the size of each group by its name", () => {
  const preview = {
    candidates: 12,
    matched: 9,
    excluded: { outsideScope: 1, incompatibleType: 2, noGroup: 0 },
    groups: [{ name: "one", targetPercentage: 100, dynamic: false, totalTargets: 9 }],
  };
  expect(freshOf(preview)).toEqual({ total: 9, groups: new Map([["one", 9]]), outsideScope: 1, incompatibleType: 2 });
});
