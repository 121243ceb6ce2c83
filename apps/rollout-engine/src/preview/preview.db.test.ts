import type { RolloutPreview } from "@harrier/contracts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freezeRollout } from "../freeze/freeze.ts";
import { createRollout } from "../rollouts/create-rollout.ts";
import { createFixture, type Fixture, rolloutBody, setIds, typeIds } from "../testing/database.fixture.ts";
import { previewRollout } from "./preview.ts";

let fixture: Fixture;

beforeAll(async () => {
  fixture = await createFixture();
  await fixture.addTargets("a", 40);
  await fixture.addTargets("typed", 5, { typeId: typeIds.compatible });
  await fixture.addTargets("alien", 3, { typeId: typeIds.incompatible });
});
afterAll(() => fixture?.drop());

type Body = Record<string, unknown>;
const as = (targetTypeScopes?: Record<string, readonly number[]>) => ({
  ...fixture.call,
  principal: { ...fixture.call.principal, ...(targetTypeScopes ? { targetTypeScopes } : {}) },
});
const preview = (body: Body, call = as()): Promise<RolloutPreview> =>
  previewRollout(fixture.create, rolloutBody({ targetFilterQuery: "name==a-*", ...body }), call);
const rows = async (): Promise<unknown> =>
  fixture.sql(`select (select count(*) from rollout_engine.rollouts) as rollouts, (select count(*) from rollout_engine.rollout_groups) as groups,
    (select count(*) from rollout_engine.group_members) as members, (select count(*) from rollout_engine.outbox) as events,
    (select count(*) from rollout_engine.freeze_candidates) as candidates`);

/** Answers the groups that a rollout with the same body really gets. */
async function made(body: Body, call = as()): Promise<RolloutPreview["groups"]> {
  const id = await createRollout(fixture.create, rolloutBody({ targetFilterQuery: "name==a-*", ...body }), call);
  await freezeRollout({ db: fixture.create.db, fault: () => {} }, { tenantId: 1, rolloutId: id });
  return fixture.sql(
    `select name, case when dynamic then target_count else target_percentage end::real as "targetPercentage", dynamic,
            total_targets as "totalTargets" from rollout_engine.rollout_groups where rollout_id = $1 order by position`,
    [id],
  );
}
const group = (name: string, targetPercentage: number, targetFilterQuery?: string) => ({ name, targetPercentage, targetFilterQuery });

describe("a preview shows the groups that a rollout then gets", () => {
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
    expect(fixture.reserved).toEqual([]);
    expect(seen.groups).toEqual(await made(body));
    fixture.reserved.length = 0;
    expect(seen.matched + seen.excluded.noGroup + seen.excluded.incompatibleType + seen.excluded.outsideScope).toBe(seen.candidates);
  });
});

describe("a preview counts why targets are excluded", () => {
  const all = { targetFilterQuery: "name==a-*,name==typed-*,name==alien-*" };

  test("a target is excluded if the set's type is not one of its type", async () => {
    expect(await preview(all)).toMatchObject({
      candidates: 48,
      matched: 45,
      excluded: { outsideScope: 0, incompatibleType: 3, noGroup: 0 },
    });
  });

  test("this error comes first: the user sees the target but may not roll out to it", async () => {
    const call = as({ UPDATE_TARGET: [typeIds.compatible] });
    expect(await preview(all, call)).toMatchObject({
      candidates: 48,
      matched: 5,
      excluded: { outsideScope: 43, incompatibleType: 0, noGroup: 0 },
    });
  });

  test("targets that the caller does not see are not counted at all", async () => {
    const types = [typeIds.compatible, typeIds.incompatible];
    const call = as({ READ_TARGET: types, UPDATE_TARGET: types });
    expect(await preview(all, call)).toMatchObject({
      candidates: 8,
      matched: 5,
      excluded: { outsideScope: 0, incompatibleType: 3, noGroup: 0 },
    });
  });

  test("matching targets are counted for a purely dynamic rollout, because they will join it", async () => {
    const body = { ...all, dynamic: true, amountGroups: 0, dynamicGroupTemplate: { targetCount: 9 } };
    expect(await preview(body)).toMatchObject({ candidates: 48, matched: 45 });
  });
});

test.each<[string, Body, string]>([
  ["a filter", { targetFilterQuery: "bogus==x" }, "rsqlInvalidField"],
  ["a set", { distributionSetId: setIds.invalid }, "setInvalid"],
  ["groups that leave targets over", { groups: [group("x", 50)] }, "constraintViolation"],
  ["nobody", { targetFilterQuery: "name==nobody" }, "constraintViolation"],
])("a preview is refused as its rollout would be: %s", async (_, body, code) => {
  await expect(preview(body)).rejects.toMatchObject({ code });
});

test("a preview beyond its deadline is refused", async () => {
  const groups = [group("x", 100, "name==a-1*"), group("y", 100, "name!=a-1*")];
  await expect(preview({ groups }, { ...as(), deadline: 0 })).rejects.toMatchObject({ code: "deadlineExceeded" });
});
