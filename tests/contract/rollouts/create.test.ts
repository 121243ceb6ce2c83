import { type RolloutView, routeTable as r } from "@harrier/contracts";
import { beforeAll, describe, expect, it } from "vitest";
import { accessBuilder } from "../support/access.ts";
import { unique } from "../support/build.ts";
import { call, dialects, refused } from "../support/call.ts";
import { credentials } from "../support/http.ts";
import { rolloutBuilder } from "../support/rollout.ts";
import { typeBuilder } from "../support/types.ts";
import { aWhile, pause } from "../support/wait.ts";

const bad = [400, "repo.constraintViolation"] as const;

describe.each(dialects)("creating rollouts, %s", (dialect) => {
  const rollouts = rolloutBuilder(dialect);
  const { build, create, notCreated, get, groups, fleet } = rollouts;
  const overQuota = [dialect === "spec" ? 403 : 429, "quota.tooManyEntries"] as const;
  let ten: string;
  let setId: number;
  beforeAll(async () => {
    ten = (await fleet(10)).prefix;
    setId = (await rollouts.set()).id;
  });
  const group = (more: object = {}) => ({ name: unique("group"), ...more });

  it("rollouts 10.9 the immediate answer to a creation", async () => {
    const name = unique("rollout");
    const rollout = await create(ten, { amountGroups: 3, name, description: "d", distributionSetId: setId });
    expect(rollout).toMatchObject({
      name,
      description: "d",
      targetFilterQuery: `controllerid==${ten}*`,
      distributionSetId: setId,
      status: "creating",
      totalTargets: 10,
      totalGroups: 3,
      deleted: false,
      dynamic: false,
      type: "forced",
      forcetime: 0,
      weight: 1000,
      createdBy: credentials.adminUser,
      totalTargetsPerStatus: { running: 0, notstarted: 10, scheduled: 0, cancelled: 0, finished: 0, error: 0 },
    });
    for (const member of ["startAt", "confirmationRequired", "approveDecidedBy", "approvalRemark"])
      expect(rollout).not.toHaveProperty(member);
  });

  it.each([
    ["1 no filter", { targetFilterQuery: undefined }, [400, "rest.param.rsqlParamSyntax"]],
    ["1 a filter that is null", { targetFilterQuery: null }, [400, "rest.param.rsqlParamSyntax"]],
    ["2 broken syntax", { targetFilterQuery: "name=bogus=x" }, [400, "rest.param.rsqlParamSyntax"]],
    ["3 an unknown field", { targetFilterQuery: "nothing==x" }, [400, "rest.param.rsqlInvalidField"]],
    ["4 an unknown set", { distributionSetId: 2_000_000_000 }, [404, "repo.entityNotFound"]],
    ["4 no set", { distributionSetId: null }, [404, "repo.entityNotFound"]],
    ["7 no target", { targetFilterQuery: "controllerid==nobody-at-all" }, bad],
    ["14 half of the targets", { groups: [group({ targetPercentage: 50 })] }, bad],
    ["15 0.5 percent", { groups: [group({ targetPercentage: 0.5 }), group()] }, bad],
    ["15 101 percent", { groups: [group({ targetPercentage: 101 })] }, bad],
    ["16 groups and their amount", { groups: [group()], amountGroups: 1 }, bad],
    ["17 groups and dynamic", { groups: [group()], dynamic: true }, bad],
    ["18 no groups", { groups: [] }, bad],
    ["20 amount 0", { amountGroups: 0 }, bad],
    ["20 amount -1", { amountGroups: -1 }, bad],
    ["21 a template without dynamic", { dynamicGroupTemplate: { nameSuffix: "x", targetCount: 1 } }, bad],
    ["24 weight 1001", { weight: 1001 }, bad],
    ["24 weight -1", { weight: -1 }, bad],
    ["25 an unknown type", { type: "bogus" }, [400, "rest.body.notReadable"]],
    ["25 an amount that is no number", { amountGroups: "three" }, [400, "rest.body.notReadable"]],
    ["4.5 a threshold that is no number", { successCondition: { condition: "THRESHOLD", expression: "80%" } }, bad],
    ["2.1 an unknown condition", { errorCondition: { condition: "OTHER", expression: "50" } }, [400, "rest.body.notReadable"]],
    ["2.1 an unknown action", { errorAction: { action: "NEXTGROUP" } }, [400, "rest.body.notReadable"]],
    ["2.1 no name", { name: null }, bad],
    ["2.1 a long name", { name: "n".repeat(129) }, bad],
    ["2.1 markup in the name", { name: "<b>x</b>" }, bad],
    ["2.2 a group without a name", { groups: [{}] }, bad],
    ["2.2 two groups of one name", { groups: [{ name: "g", targetPercentage: 50 }, { name: "g" }] }, [409, "repo.entityAlreadyExists"]],
    [
      "2.2 a group's filter with an unknown field",
      { groups: [group({ targetFilterQuery: "nothing==x" })] },
      [400, "rest.param.rsqlInvalidField"],
    ],
    ["2.2 groups that do not cover all", { groups: [group({ targetFilterQuery: "name==*0" })] }, bad],
  ] as const)("rollouts 10.%s", async (_case, more, expected) => {
    const before = (await rollouts.view.set(setId)).locked;
    await notCreated(ten, { distributionSetId: setId, ...more }, expected);
    // A rejected rollout locks nothing.
    if (!before) expect((await rollouts.view.set(setId)).locked).toBe(false);
  });

  it("rollouts 10.8 targets whose type does not take the set's type are excluded", async () => {
    const other = await typeBuilder(dialect).targetType();
    const { prefix } = await fleet(2, { targetType: other.id });
    await notCreated(prefix, { distributionSetId: setId }, bad);
    // Targets without a type take any set.
    await build.targets({ controllerId: `${prefix}-untyped` });
    expect((await create(prefix, { distributionSetId: setId })).totalTargets).toBe(1);
  });

  it("rollouts 2.4 the first of several errors is answered: filter, set, members, targets, name", async () => {
    const incomplete = await rollouts.set({ modules: [] });
    const { name } = await create(ten, { distributionSetId: setId });
    let wrong: Record<string, unknown> = {
      targetFilterQuery: "nothing==x",
      distributionSetId: 2_000_000_000,
      groups: [],
      amountGroups: 501,
      name,
    };
    const next = async (mended: object, expected: readonly [number, string]) => {
      wrong = { ...wrong, ...mended };
      await notCreated(ten, wrong, expected);
    };
    await next({}, [400, "rest.param.rsqlInvalidField"]);
    await next({ targetFilterQuery: "controllerid==nobody-at-all" }, [404, "repo.entityNotFound"]);
    await next({ distributionSetId: incomplete.id }, [400, "distributionset.incomplete"]);
    await next({ distributionSetId: setId }, bad);
    await next({ groups: undefined }, overQuota);
    await next({ amountGroups: 1 }, bad);
    await next({ targetFilterQuery: `controllerid==${ten}*` }, [409, "repo.entityAlreadyExists"]);
  });

  it("rollouts 10.5 a rollout of an incomplete set is rejected", async () => {
    const { id } = await rollouts.set({ modules: [] });
    await notCreated(ten, { distributionSetId: id }, [400, "distributionset.incomplete"]);
  });

  it("rollouts 10.19 more than 500 groups are over the quota, 500 are not", async () => {
    await notCreated(ten, { amountGroups: 501 }, overQuota);
    const many = Array.from({ length: 501 }, (_, n) => ({ name: `g${n}`, targetPercentage: 1 }));
    await notCreated(ten, { groups: many }, overQuota);
    expect((await create(ten, { amountGroups: 500 })).totalGroups).toBe(500);
  });

  it("rollouts 10.23 the name of a rollout is unique", async () => {
    const { name } = await create(ten, { distributionSetId: setId });
    await notCreated(ten, { name, distributionSetId: setId }, [409, "repo.entityAlreadyExists"]);
  });

  it("rollouts 10.24 weight 0 is a weight, 10.25 all types are accepted", async () => {
    expect((await create(ten, { weight: 0, distributionSetId: setId })).weight).toBe(0);
    for (const type of ["soft", "timeforced", "downloadonly", "forced"]) {
      expect(await create(ten, { type, forcetime: 5, distributionSetId: setId })).toMatchObject({ type, forcetime: 5 });
    }
  });

  it("rollouts 10.26 conditions default to half of a group, or to all of it where only the condition is named", async () => {
    const usual = await groups((await create(ten, { distributionSetId: setId })).id);
    expect(usual[0]).toMatchObject({
      successCondition: { condition: "THRESHOLD", expression: "50" },
      successAction: { action: "NEXTGROUP", expression: "" },
      errorCondition: { condition: "THRESHOLD", expression: "50" },
      errorAction: { action: "PAUSE", expression: "" },
    });
    const own = [group({ successCondition: { expression: "30" }, targetPercentage: 50 }), group({ description: "own" })];
    const more = {
      groups: own,
      successCondition: {},
      errorCondition: { condition: "THRESHOLD", expression: "10" },
      successAction: { action: "PAUSE" },
    };
    const [first, second] = await groups((await create(ten, { ...more, distributionSetId: setId })).id);
    expect([first?.successCondition.expression, second?.successCondition.expression]).toEqual(["30", "100"]);
    expect([first?.errorCondition.expression, second?.successAction.action, second?.description]).toEqual(["10", "PAUSE", "own"]);
  });

  it("rollouts 10.30 the set is locked", async () => {
    const set = await rollouts.set();
    await create(ten, { distributionSetId: set.id });
    const seen = await rollouts.view.set(set.id);
    expect([seen.locked, seen.modules[0]?.locked]).toEqual([true, true]);
  });

  it("rollouts 10.29 the largest number for startAt means never", async () => {
    const text = JSON.stringify(await rollouts.body(ten, { distributionSetId: setId, startAt: 1 }));
    const never = text.replace('"startAt":1', '"startAt":9223372036854775807');
    const { json } = await call<RolloutView>(r.rollouts.create, dialect, { body: never });
    await rollouts.become(json.id, "ready");
    await pause(aWhile);
    expect(await get(json.id)).toMatchObject({ status: "ready" });
    expect(await get(json.id)).not.toHaveProperty("startAt");
  });

  it("rollouts 10.27 a startAt in the past starts the rollout without a call, one in the future lets it wait", async () => {
    const [{ prefix: now }, { prefix: later }] = [await fleet(1), await fleet(1)];
    const past = Date.now() - 5_000;
    const rollout = await create(now, { distributionSetId: setId, startAt: past });
    expect(rollout.startAt).toBe(past);
    await rollouts.become(rollout.id, "running");
    const soon = Date.now() + 5_000;
    const waiting = await create(later, { distributionSetId: setId, startAt: soon });
    expect((await rollouts.become(waiting.id, "running")).startAt).toBe(soon);
    expect(Date.now()).toBeGreaterThanOrEqual(soon);
  });

  it("rollouts 10.28 a user who may not start rollouts cannot set startAt", async () => {
    const { auth } = await accessBuilder(dialect).user(r.rollouts.create.permission);
    const body = await rollouts.body(ten, { distributionSetId: setId });
    const startAt = Date.now() + 3_600_000;
    await refused(r.rollouts.create, dialect, { auth, body: { ...body, startAt } }, [403, "insufficientPermission"]);
    expect((await call<RolloutView>(r.rollouts.create, dialect, { auth, body })).json).not.toHaveProperty("startAt");
  });

  it("rollouts 2 a rollout is one object, not an array", async () => {
    const body = await rollouts.body(ten, { distributionSetId: setId });
    await refused(r.rollouts.create, dialect, { body: [body] }, [400, "rest.body.notReadable"]);
  });
});
