import type { RolloutPreview } from "@harrier/contracts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freezeRollout } from "../freeze/freeze.ts";
import { createRollout } from "../rollouts/create-rollout.ts";
import { createWorld, rolloutBody, setIds, typeIds, type World } from "../testing/world.ts";
import { previewRollout } from "./preview.ts";

let world: World;

beforeAll(async () => {
  world = await createWorld();
  await world.addTargets("a", 40);
  await world.addTargets("typed", 5, { typeId: typeIds.compatible });
  await world.addTargets("alien", 3, { typeId: typeIds.incompatible });
});
afterAll(() => world?.drop());

type Body = Record<string, unknown>;
const as = (targetTypeScopes?: Record<string, readonly number[]>) => ({
  ...world.call,
  principal: { ...world.call.principal, ...(targetTypeScopes ? { targetTypeScopes } : {}) },
});
const preview = (body: Body, call = as()): Promise<RolloutPreview> =>
  previewRollout(world.create, rolloutBody({ targetFilterQuery: "name==a-*", ...body }), call);
const rows = async (): Promise<unknown> =>
  world.sql(`select (select count(*) from rollout_engine.rollouts) as rollouts, (select count(*) from rollout_engine.rollout_groups) as groups,
    (select count(*) from rollout_engine.group_members) as members, (select count(*) from rollout_engine.outbox) as events,
    (select count(*) from rollout_engine.freeze_candidates) as candidates`);

/** What is really made of the same body. */
async function made(body: Body, call = as()): Promise<RolloutPreview["groups"]> {
  const id = await createRollout(world.create, rolloutBody({ targetFilterQuery: "name==a-*", ...body }), call);
  await freezeRollout({ db: world.create.db, fault: () => {} }, { tenantId: 1, rolloutId: id });
  return world.sql(
    `select name, case when dynamic then target_count else target_percentage end::real as "targetPercentage", dynamic,
            total_targets as "totalTargets" from rollout_engine.rollout_groups where rollout_id = $1 order by position`,
    [id],
  );
}
const group = (name: string, targetPercentage: number, targetFilterQuery?: string) => ({ name, targetPercentage, targetFilterQuery });

describe("the groups are those that are made", () => {
  test.each<[string, Body]>([
    ["one", {}],
    ["three", { amountGroups: 3 }],
    ["more than targets", { targetFilterQuery: "name==typed-*", amountGroups: 7 }],
    ["by percentage", { groups: [group("x", 30), group("y", 70)] }],
    ["disjoint filters", { groups: [group("x", 100, "name==a-1*"), group("y", 50, "name!=a-1*"), group("z", 100, "name!=a-1*")] }],
    ["filters that overlap", { groups: [group("x", 50, "name==a-1*"), group("y", 30), group("z", 70)] }],
    ["filters that overlap each other", { groups: [group("x", 50, "name==*1"), group("y", 50, "name==a-1*"), group("z", 100)] }],
    ["a filter between groups without one", { groups: [group("x", 30), group("y", 100, "name==a-2*"), group("z", 70)] }],
    ["dynamic with a template", { dynamic: true, amountGroups: 2, dynamicGroupTemplate: { nameSuffix: "-d", targetCount: 9 } }],
    ["dynamic without one", { dynamic: true, amountGroups: 3 }],
    ["purely dynamic", { dynamic: true, amountGroups: 0, dynamicGroupTemplate: { targetCount: 9 } }],
  ])("%s", async (_, body) => {
    const before = await rows();
    const seen = await preview(body);
    expect(await rows()).toEqual(before);
    expect(world.reserved).toEqual([]);
    expect(seen.groups).toEqual(await made(body));
    world.reserved.length = 0;
    expect(seen.matched + seen.excluded.noGroup + seen.excluded.incompatibleType + seen.excluded.outsideScope).toBe(seen.candidates);
  });
});

describe("why a target is not in it", () => {
  const all = { targetFilterQuery: "name==a-*,name==typed-*,name==alien-*" };

  test("its type is not one of the set's", async () => {
    expect(await preview(all)).toMatchObject({
      candidates: 48,
      matched: 45,
      excluded: { outsideScope: 0, incompatibleType: 3, noGroup: 0 },
    });
  });

  test("the caller sees it, but may not roll out to it: told first", async () => {
    const call = as({ UPDATE_TARGET: [typeIds.compatible] });
    expect(await preview(all, call)).toMatchObject({
      candidates: 48,
      matched: 5,
      excluded: { outsideScope: 43, incompatibleType: 0, noGroup: 0 },
    });
  });

  test("what the caller does not see is not counted at all", async () => {
    const types = [typeIds.compatible, typeIds.incompatible];
    const call = as({ READ_TARGET: types, UPDATE_TARGET: types });
    expect(await preview(all, call)).toMatchObject({
      candidates: 8,
      matched: 5,
      excluded: { outsideScope: 0, incompatibleType: 3, noGroup: 0 },
    });
  });

  test("who matches a purely dynamic one joins it", async () => {
    const body = { ...all, dynamic: true, amountGroups: 0, dynamicGroupTemplate: { targetCount: 9 } };
    expect(await preview(body)).toMatchObject({ candidates: 48, matched: 45 });
  });
});

test.each<[string, Body, string]>([
  ["a filter", { targetFilterQuery: "bogus==x" }, "rsqlInvalidField"],
  ["a set", { distributionSetId: setIds.invalid }, "setInvalid"],
  ["groups that leave targets over", { groups: [group("x", 50)] }, "constraintViolation"],
  ["nobody", { targetFilterQuery: "name==nobody" }, "constraintViolation"],
])("it is refused as the rollout would be: %s", async (_, body, code) => {
  await expect(preview(body)).rejects.toMatchObject({ code });
});

test("whoever has no more time is told so", async () => {
  const groups = [group("x", 100, "name==a-1*"), group("y", 100, "name!=a-1*")];
  await expect(preview({ groups }, { ...as(), deadline: 0 })).rejects.toMatchObject({ code: "deadlineExceeded" });
});
