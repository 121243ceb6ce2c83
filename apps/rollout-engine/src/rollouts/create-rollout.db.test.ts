import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { freezeRollout } from "../freeze/freeze.ts";
import { listMembers } from "../groups/read-groups.ts";
import { createFixture, type Fixture, rolloutBody, setIds, typeIds } from "../testing/database.fixture.ts";
import { createRollout } from "./create-rollout.ts";
import { getRollout } from "./read-rollouts.ts";
import { changeRollout } from "./update-rollout.ts";

let fixture: Fixture;

beforeAll(async () => {
  fixture = await createFixture();
  await fixture.addTargets("ten", 10);
  await fixture.addTargets("typed", 3, { typeId: typeIds.compatible });
  await fixture.addTargets("alien", 2, { typeId: typeIds.incompatible });
  await fixture.addTargets("many", 20_002);
});
afterAll(() => fixture?.drop());
beforeEach(() => {
  fixture.reserved.length = 0;
});

const create = (body: Record<string, unknown>, permissions?: string[]) => {
  const { call } = fixture;
  const principal = permissions ? { ...call.principal, permissions } : call.principal;
  return createRollout(fixture.create, rolloutBody({ targetFilterQuery: "name==ten-*", ...body }), { ...call, principal });
};

/** Makes a body with groups that all have different filters. */
const filtered = (amount: number, filterOf: (n: number) => string) =>
  Array.from({ length: amount }, (_, n) => ({ name: `g${n}`, targetFilterQuery: filterOf(n) }));
const anyOf = (n: number) => `id=in=(${Array.from({ length: 101 }, (_, k) => `a${n * 101 + k}`).join(",")})`;

const groups = (...percentages: number[]) => percentages.map((targetPercentage, index) => ({ name: `g${index + 1}`, targetPercentage }));

describe("what is refused (contract rollouts.md §2.4)", () => {
  test.each<[string, Record<string, unknown>, string]>([
    ["no filter, before everything else", { targetFilterQuery: null, distributionSetId: 999 }, "rsqlParamSyntax"],
    ["bad filter", { targetFilterQuery: "name=bogus=x", distributionSetId: 999 }, "rsqlParamSyntax"],
    ["unknown field", { targetFilterQuery: "bogus==x", distributionSetId: 999 }, "rsqlInvalidField"],
    ["bad filter of a group", { groups: [{ name: "g", targetFilterQuery: "bogus==x" }], distributionSetId: 999 }, "rsqlInvalidField"],
    ["filters that ask too much together", { groups: filtered(334, (n) => `tag!=a${n};tag!=b${n};tag!=c${n}`) }, "rsqlParamSyntax"],
    ["filters with too many values together", { groups: filtered(200, anyOf) }, "rsqlParamSyntax"],
    ["many filters", { groups: filtered(333, (n) => `tag==a${n};id!=b${n};id!=c${n}`) }, "constraintViolation"],
    ["unknown set, before the members", { distributionSetId: 999, amountGroups: 0 }, "entityNotFound"],
    ["invalid set", { distributionSetId: setIds.invalid, amountGroups: 0 }, "setInvalid"],
    ["incomplete set", { distributionSetId: setIds.incomplete, amountGroups: 0 }, "setIncomplete"],
    ["deleted set", { distributionSetId: setIds.deleted }, "deleted"],
    ["groups and dynamic", { groups: groups(100), dynamic: true }, "constraintViolation"],
    ["amountGroups 0, dynamic without a template", { amountGroups: 0, dynamic: true }, "constraintViolation"],
    ["a template for nobody", { dynamic: true, dynamicGroupTemplate: { targetCount: 0 } }, "constraintViolation"],
    ["a template for too many", { dynamic: true, dynamicGroupTemplate: { targetCount: 20_001 } }, "quotaTooManyEntries"],
    ["500 groups, and one for who joins", { amountGroups: 500, dynamic: true }, "quotaTooManyEntries"],
    ["groups and amountGroups", { groups: groups(100), amountGroups: 1 }, "constraintViolation"],
    ["no groups", { groups: [] }, "constraintViolation"],
    ["amountGroups 0", { amountGroups: 0 }, "constraintViolation"],
    ["amountGroups -1", { amountGroups: -1 }, "constraintViolation"],
    ["501 groups", { amountGroups: 501 }, "quotaTooManyEntries"],
    ["template without dynamic", { dynamicGroupTemplate: { nameSuffix: "x", targetCount: 1 } }, "constraintViolation"],
    ["no target matches", { targetFilterQuery: "name==nobody" }, "constraintViolation"],
    ["only incompatible targets match", { targetFilterQuery: "name==alien-*" }, "constraintViolation"],
    ["too many targets for the groups", { targetFilterQuery: "name==many-*" }, "quotaTooManyEntries"],
    ["too many targets in a group", { targetFilterQuery: "name==many-*", groups: groups(100) }, "quotaTooManyEntries"],
    ["groups that leave targets over", { groups: groups(50) }, "constraintViolation"],
    ["filters that leave targets over", { groups: [{ name: "g", targetFilterQuery: "name==ten-1" }] }, "constraintViolation"],
    ["two groups of one name", { groups: [...groups(50), ...groups(50)] }, "entityAlreadyExists"],
  ])("%s", async (_, body, code) => {
    await expect(create(body)).rejects.toMatchObject({ code });
    expect(fixture.reserved).toEqual([]);
  });

  test("a start time needs HANDLE_ROLLOUT, except the time that stands for never", async () => {
    await expect(create({ startAt: 1 }, ["CREATE_ROLLOUT"])).rejects.toMatchObject({ code: "insufficientPermission" });
    await expect(create({ startAt: Number("9223372036854775807") }, ["CREATE_ROLLOUT"])).resolves.toBeGreaterThan(10);
  });

  test("a NUL in a name is refused even by the database", async () => {
    const id = await create({});
    const changed = changeRollout(fixture.create, fixture.call.principal, id, { name: "a\u0000b" });
    await expect(changed).rejects.toMatchObject({ code: "constraintViolation" });
  });

  test("a name in use is refused", async () => {
    await create({ name: "taken" });
    fixture.reserved.length = 0;
    await expect(create({ name: "taken" })).rejects.toMatchObject({ code: "entityAlreadyExists" });
    expect(fixture.reserved).toEqual([]);
    const both = await Promise.allSettled([create({ name: "raced" }), create({ name: "raced" })]);
    expect(both.map((one) => one.status).sort()).toEqual(["fulfilled", "rejected"]);
  });
});

test("times beyond the range are stored as the nearest possible one", async () => {
  const id = await create({ startAt: -1e300, forcetime: 1e300, name: "out of time" });
  expect(await getRollout(fixture.create, 1, id)).toMatchObject({ startAt: 0, forceTime: 8_640_000_000_000_000 });
});

describe("a rollout of a user who is restricted to target types", () => {
  const both = "name==ten-*,name==typed-*";
  const restricted = (targetTypeScopes: Record<string, number[]>, body: Record<string, unknown> = {}) => {
    const call = { ...fixture.call, principal: { ...fixture.call.principal, targetTypeScopes } };
    return createRollout(fixture.create, rolloutBody({ targetFilterQuery: both, ...body }), call);
  };
  const freeze = async (rolloutId: number) => {
    await freezeRollout({ db: fixture.create.db, fault: () => {} }, { tenantId: 1, rolloutId });
    return fixture.sql(
      `select t.target_type_id::int as type, count(*)::int as n from rollout_engine.group_members m
         join controller.targets_v1 t on t.tenant_id = m.tenant_id and t.id = m.target_id where m.rollout_id = $1 group by 1`,
      [rolloutId],
    );
  };

  test("it has targets of these types alone, whatever its query, and whichever replica freezes it", async () => {
    const id = await restricted({ UPDATE_TARGET: [typeIds.compatible], READ_TARGET: [typeIds.compatible, typeIds.incompatible] });
    expect(await getRollout(fixture.create, 1, id)).toMatchObject({ totalTargets: 3 });
    expect(await freeze(id)).toEqual([{ type: typeIds.compatible, n: 3 }]);
    const byFilters = await restricted(
      { READ_TARGET: [typeIds.compatible] },
      {
        groups: [
          { name: "a", targetFilterQuery: "name==typed-1" },
          { name: "b", targetFilterQuery: "name==*" },
        ],
      },
    );
    expect(await freeze(byFilters)).toEqual([{ type: typeIds.compatible, n: 3 }]);
  });

  test("it is refused as a query without a match if it reaches no target", async () => {
    await expect(restricted({ UPDATE_TARGET: [] })).rejects.toMatchObject({ code: "constraintViolation" });
    await expect(restricted({ UPDATE_TARGET: [1], READ_TARGET: [typeIds.compatible] })).rejects.toMatchObject({
      code: "constraintViolation",
    });
  });

  test("the user sees another user's group only with targets of these types", async () => {
    const rolloutId = await create({ targetFilterQuery: both });
    await freeze(rolloutId);
    const [group] = await fixture.sql("select id from rollout_engine.rollout_groups where rollout_id = $1", [rolloutId]);
    const members = async (targetTypeScopes: Record<string, number[]>) => {
      const targets = { readSecurityTokens: async () => ({ tokens: {} }) };
      const call = { ...fixture.call, principal: { ...fixture.call.principal, targetTypeScopes } };
      const requested = { rolloutId, groupId: Number(group?.["id"]) };
      return listMembers({ db: fixture.create.db, targets, now: Date.now }, call, requested, { offset: 0, limit: 50 });
    };
    expect((await members({})).total).toBe(13);
    const seen = await members({ READ_TARGET: [typeIds.compatible] });
    expect(seen.total).toBe(3);
    expect(seen.rows.every((row) => row.targetTypeId === typeIds.compatible)).toBe(true);
    expect((await members({ READ_TARGET: [] })).total).toBe(0);
  });
});

describe("what is created", () => {
  test("the answer is a rollout in creating with its total", async () => {
    const id = await create({ amountGroups: 3, description: "d", forcetime: 7, type: "soft" });
    expect(id).toBeGreaterThanOrEqual(11);
    expect(await getRollout(fixture.create, 1, id)).toMatchObject({
      status: "creating",
      totalTargets: 10,
      totalGroups: 3,
      weight: 1000,
      forceTime: 7,
      startAt: null,
      setName: "set",
      counts: { scheduled: 0, running: 0, finished: 0, error: 0, cancelled: 0 },
      createdBy: "admin",
    });
    expect(fixture.reserved).toEqual([setIds.complete]);
  });

  test("groups get defaults for what they leave open", async () => {
    const id = await create({
      successCondition: {},
      errorCondition: { expression: "10" },
      groups: [
        { name: "a", targetPercentage: 30 },
        { name: "b", targetPercentage: 70, successCondition: { expression: "80" }, successAction: { action: "PAUSE" } },
      ],
    });
    const rows = await fixture.sql(
      `select name, description, target_percentage, success_expression, success_action, error_expression, confirmation_required
         from rollout_engine.rollout_groups where rollout_id = $1 order by position`,
      [id],
    );
    const shared = { description: null, error_expression: "10", confirmation_required: false };
    expect(rows).toEqual([
      { ...shared, name: "a", target_percentage: 30, success_expression: "100", success_action: "NEXTGROUP" },
      { ...shared, name: "b", target_percentage: 70, success_expression: "80", success_action: "PAUSE" },
    ]);
  });

  test("a number of equal groups gets the defaults", async () => {
    const id = await create({ amountGroups: 3 });
    const rows = await fixture.sql(
      `select name, description, target_percentage, success_expression, error_expression, target_filter
         from rollout_engine.rollout_groups where rollout_id = $1 order by position`,
      [id],
    );
    expect(rows[2]).toEqual({
      name: "group-3",
      description: "group-3",
      target_percentage: 33.333332,
      success_expression: "50",
      error_expression: "50",
      target_filter: "",
    });
  });

  test("groups may have disjoint filters of their own", async () => {
    const id = await create({
      targetFilterQuery: "name==ten-*,name==typed-*",
      groups: [
        { name: "typed", targetFilterQuery: "targettype.key==yes" },
        { name: "rest", targetFilterQuery: "targettype.key!=yes" },
      ],
    });
    expect(await getRollout(fixture.create, 1, id)).toMatchObject({ totalTargets: 13, totalGroups: 2 });
  });

  test("a change of its name or description is one event, and a change that is refused is none", async () => {
    const id = await create({ name: "plain" });
    await changeRollout(fixture.create, { ...fixture.call.principal, traceparent: "00-t" }, id, { name: "renamed" });
    await changeRollout(fixture.create, fixture.call.principal, id, { description: "d" });
    await expect(changeRollout(fixture.create, fixture.call.principal, id, { name: "no", ifMatch: [999] })).rejects.toMatchObject({
      code: "entityChanged",
    });
    const rows = await fixture.sql(
      `select common ->> 'name' as name, traceparent, items -> 0 ->> 'sequence' as sequence, items -> 0 -> 'data' as data from rollout_engine.outbox
        where (common ->> 'rolloutId')::bigint = $1 and type = 'io.update.rollout.changed.v1' order by id`,
      [id],
    );
    const [created, actor] = [2, fixture.call.principal.subject];
    expect(rows).toEqual([
      { name: "renamed", traceparent: "00-t", sequence: String(created + 1), data: { actor, changed: ["name"] } },
      { name: "renamed", traceparent: null, sequence: String(created + 2), data: { actor, changed: ["description"] } },
    ]);
  });

  test("the rollout and all its groups share one row of events", async () => {
    const id = await create({ amountGroups: 2, name: "told" });
    const rows = await fixture.sql<{ common: object; items: { type: string; subject: string; sequence: number }[] }>(
      "select common, items from rollout_engine.outbox where (common ->> 'rolloutId')::bigint = $1",
      [id],
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]?.common).toEqual({ tenant: "DEFAULT", rolloutId: id, name: "told" });
    expect(rows[0]?.items.map((item) => [item.type.split(".").slice(2).join("."), item.sequence])).toEqual([
      ["rollout.created.v1", 1],
      ["rollout_group.created.v1", 2],
      ["rollout_group.created.v1", 3],
    ]);
  });
});
