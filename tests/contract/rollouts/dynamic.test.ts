import { routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { accessBuilder } from "../support/access.ts";
import { stateOf, unique } from "../support/build.ts";
import { call, dialects, refused } from "../support/call.ts";
import { device } from "../support/device.ts";
import { filled, rolloutBuilder } from "../support/rollout.ts";
import { inOwnTenant } from "../support/tenants.ts";
import { typeBuilder } from "../support/types.ts";
import { aWhile, eventually, pause } from "../support/wait.ts";

const bad = [400, "repo.constraintViolation"] as const;
/** It takes far less until a change of a target is noticed, a group is added and actions begin. */
const joinMs = 40_000;

describe.each(dialects)("dynamic rollouts, %s", (dialect) => {
  inOwnTenant(dialect);
  const rollouts = rolloutBuilder(dialect);
  const { build, create, notCreated, get, groups, members, fleet, become, groupsBecome, step, ready, running, reportAll } = rollouts;
  const overQuota = [dialect === "spec" ? 403 : 429, "quota.tooManyEntries"] as const;
  const template = (targetCount: number, nameSuffix = "-d") => ({ dynamicGroupTemplate: { nameSuffix, targetCount } });
  const dynamic = (more: object = {}) => ({ dynamic: true, amountGroups: 1, ...more });
  const late = async (prefix: string, count: number, more: object = {}): Promise<string[]> => {
    const ids = Array.from({ length: count }, () => `${prefix}-${unique("late")}`);
    await build.targets(...ids.map((controllerId) => ({ controllerId, ...more })));
    return ids;
  };
  /** Waits until the groups have these sizes and every member of a group has its action; then all counts agree. */
  const sizesBecome = (id: number, ...expected: number[]) =>
    eventually(async () => {
      const seen = await groups(id);
      const { totalTargets, totalGroups, totalTargetsPerStatus } = await get(id);
      const sizes = seen.map((group) => group.totalTargets);
      const total = expected.reduce((sum, n) => sum + n, 0);
      const buckets = Object.values(totalTargetsPerStatus ?? {}).reduce((sum, n) => sum + n, 0);
      const facts = [sizes.join(), totalTargets, totalGroups, buckets, totalTargetsPerStatus?.notstarted].join(" ");
      if (facts === [expected.join(), total, expected.length, total, 0].join(" ")) return seen;
      throw new Error(`the groups of rollout ${id} have ${facts}, not ${expected.join()}`);
    }, joinMs);

  describe("creation", () => {
    it("rollouts 10.71 a template gives the group behind the others its name and its number of targets", async () => {
      const { prefix } = await fleet(2);
      const made = await create(prefix, dynamic(template(5)));
      expect(made).toMatchObject({ dynamic: true, totalTargets: 2, totalGroups: 2, status: "creating" });
      const expected = {
        name: "group-2-d",
        description: "group-2-d",
        targetPercentage: 5,
        dynamic: true,
        totalTargets: 0,
        targetFilterQuery: "",
      };
      expect((await groups(made.id))[1]).toMatchObject({ ...expected, status: "ready" });
      await become(made.id, "ready");
      const [first, second] = await groups(made.id);
      expect(first).toMatchObject({ name: "group-1", targetPercentage: 100, dynamic: false, totalTargets: 2, status: "ready" });
      expect(second).toMatchObject({ ...expected, status: "ready" });
    });

    it("rollouts 4.6 without a template the group exists once the rollout is ready, with size and conditions of the last one", async () => {
      const { prefix } = await fleet(5);
      const errorCondition = { condition: "THRESHOLD", expression: "7" };
      const { id } = await ready(prefix, dynamic({ amountGroups: 2, errorCondition }));
      expect(await get(id)).toMatchObject({ dynamic: true, totalTargets: 5, totalGroups: 3 });
      const [, second, third] = await groups(id);
      expect(third).toMatchObject({
        name: "group-3",
        dynamic: true,
        targetPercentage: second?.totalTargets,
        totalTargets: 0,
        errorCondition,
      });
    });

    it("rollouts 10.72 a purely dynamic rollout needs no target, and runs when it is started", async () => {
      const { id } = await running(unique("nobody"), { dynamic: true, amountGroups: 0, ...template(3, "") });
      expect(await get(id)).toMatchObject({ totalTargets: 0, totalGroups: 1, status: "running" });
      const [first] = await groupsBecome(id, "running");
      expect(first).toMatchObject({ name: "group-1", dynamic: true, targetPercentage: 3, totalTargets: 0 });
    });

    it("rollouts 4.6 targets that match a purely dynamic rollout already join when it runs, and not before", async () => {
      const { prefix, ids } = await fleet(3);
      const { id, totalTargets } = await ready(prefix, { dynamic: true, amountGroups: 0, ...template(2, "") });
      expect([totalTargets, (await get(id)).totalTargets]).toEqual([0, 0]);
      await step("start", id);
      const [first, second] = await sizesBecome(id, 2, 1);
      const both = await Promise.all([first, second].map((group) => members(id, group?.id ?? 0)));
      expect(both.flat().sort()).toEqual(ids);
      await groupsBecome(id, "running", "scheduled");
    });

    it.each([
      ["10.20 amount 0 without a template", { dynamic: true, amountGroups: 0 }, bad],
      ["10.20 amount 0 with a template, not dynamic", { amountGroups: 0, ...template(5) }, bad],
      ["10.20 amount -1", { dynamic: true, amountGroups: -1, ...template(5) }, bad],
      ["10.21 a template without dynamic", { amountGroups: 1, ...template(5) }, bad],
      ["10.17 groups and dynamic", { dynamic: true, groups: [{ name: "g" }] }, bad],
      ["10.7 no target, though others may come", { dynamic: true, amountGroups: 1, targetFilterQuery: "controllerid==nobody-at-all" }, bad],
      ["4.6 a template without a number of targets", { dynamic: true, amountGroups: 1, dynamicGroupTemplate: { nameSuffix: "x" } }, bad],
      ["4.6 a template for less than nobody", { dynamic: true, amountGroups: 1, ...template(-1) }, bad],
      ["4.6 a template for more targets than a group may have", { dynamic: true, amountGroups: 1, ...template(20_001) }, overQuota],
      ["4.6 a suffix that is too long", { dynamic: true, amountGroups: 1, ...template(1, "x".repeat(129)) }, bad],
      ["4.6 a suffix with markup", { dynamic: true, amountGroups: 1, ...template(1, "<b>x</b>") }, bad],
      ["10.19 500 groups, and one for who joins", { dynamic: true, amountGroups: 500 }, overQuota],
    ] as const)("rollouts %s", async (_case, more, expected) => {
      const { prefix } = await fleet(1);
      await notCreated(prefix, more, expected);
    });
  });

  it("rollouts 10.70 a target that is added later joins the dynamic group", async () => {
    const { prefix } = await fleet(2);
    const { id } = await running(prefix, dynamic());
    const joined = await late(prefix, 1);
    const [, second] = await sizesBecome(id, 2, 1);
    expect(second).toMatchObject({ name: "group-2", dynamic: true, targetPercentage: 2, totalTargets: 1 });
    expect(await get(id)).toMatchObject({ totalTargets: 3, totalGroups: 2, status: "running" });
    expect(await members(id, second?.id ?? 0)).toEqual(joined);
    // Its group has not started.
    expect(filled((await get(id)).totalTargetsPerStatus)).toEqual({ running: 2, scheduled: 1 });
  });

  it("rollouts 4.6 a target joins a running group and begins at once; a full group is followed by another one", async () => {
    const { prefix, ids } = await fleet(1);
    const { id } = await running(prefix, dynamic(template(2)));
    await reportAll(id, ids, "closed", "success");
    await groupsBecome(id, "finished", "running");
    const joined = await late(prefix, 3);
    const [, second, third] = await sizesBecome(id, 1, 2, 1);
    expect([second?.name, third?.name]).toEqual(["group-2-d", "group-3-d"]);
    await groupsBecome(id, "finished", "running", "scheduled");
    const first = joined.slice(0, 2);
    expect((await members(id, second?.id ?? 0)).sort()).toEqual([...first].sort());
    for (const controllerId of first) expect((await device(controllerId).poll()).json._links).toHaveProperty("deploymentBase");
    // Half of the second group has finished: the third begins, and never ends.
    await reportAll(id, first, "closed", "success");
    await groupsBecome(id, "finished", "finished", "running");
    await reportAll(id, joined.slice(2), "closed", "success");
    await pause(aWhile);
    expect((await groups(id)).map(({ status }) => status)).toEqual(["finished", "finished", "running"]);
    expect(filled((await get(id)).totalTargetsPerStatus)).toEqual({ finished: 4 });
    expect((await get(id)).status).toBe("running");
  });

  it("rollouts 4.6 a target that has changed joins too", async () => {
    const description = unique("wanted");
    const { ids } = await fleet(1, { description });
    const [other] = (await fleet(1)).ids as [string];
    const { id } = await running("", dynamic({ targetFilterQuery: `description==${description}`, ...template(5) }));
    await call(r.targets.update, dialect, { params: { targetId: other }, body: { description } });
    const [first, second] = await sizesBecome(id, 1, 1);
    expect([await members(id, first?.id ?? 0), await members(id, second?.id ?? 0)]).toEqual([ids, [other]]);
  });

  it("rollouts 4.6 a target whose type excludes the set does not join", async () => {
    const { prefix } = await fleet(1);
    const { id } = await running(prefix, dynamic(template(5)));
    const { id: targetType } = await typeBuilder(dialect).targetType();
    await late(prefix, 1, { targetType });
    await late(prefix, 1);
    await sizesBecome(id, 1, 1);
    await pause(aWhile);
    await sizesBecome(id, 1, 1);
  });

  it("rollouts 10.73 a target of a newer rollout does not join an older one", async () => {
    const description = unique("wanted");
    await fleet(1, { description });
    const older = await running("", dynamic({ targetFilterQuery: `description==${description}`, ...template(5) }));
    const { prefix, ids } = await fleet(1);
    const newer = await running(prefix);
    await call(r.targets.update, dialect, { params: { targetId: ids[0] as string }, body: { description } });
    const [joined] = (await fleet(1, { description })).ids as [string];
    const [, second] = await sizesBecome(older.id, 1, 1);
    expect(await members(older.id, second?.id ?? 0)).toEqual([joined]);
    await pause(aWhile);
    await sizesBecome(older.id, 1, 1);
    expect(filled((await get(newer.id)).totalTargetsPerStatus)).toEqual({ running: 1 });
  });

  it("rollouts 4.6 a newer dynamic rollout supersedes an older one on its targets", async () => {
    const { prefix, ids } = await fleet(2);
    const older = await running(prefix, { dynamic: true, amountGroups: 0, ...template(5) });
    await sizesBecome(older.id, 2);
    const newer = await running(prefix, { dynamic: true, amountGroups: 0, ...template(5) });
    await sizesBecome(newer.id, 2);
    await groupsBecome(newer.id, "running");
    for (const controllerId of ids) expect(stateOf(await rollouts.actionOf(controllerId, older.id)).state).toBe("canceling");
    await late(prefix, 1);
    // Both rollouts match it: the newer one has it in the end, alone or after the older one.
    await sizesBecome(newer.id, 3);
  });

  it("rollouts 4.6 no target joins while the rollout is paused", async () => {
    const { prefix } = await fleet(1);
    const { id } = await running(prefix, dynamic(template(5)));
    await step("pause", id);
    await late(prefix, 1);
    await pause(aWhile);
    expect((await get(id)).totalTargets).toBe(1);
    await step("resume", id);
    await sizesBecome(id, 1, 1);
  });

  it("rollouts 4.5 the thresholds of the dynamic group refer to its maximum number of targets", async () => {
    const errorCondition = { condition: "THRESHOLD", expression: "50" };
    const { prefix } = await fleet(3);
    const { id } = await running(prefix, { dynamic: true, amountGroups: 0, errorCondition, ...template(4) });
    const [first] = await sizesBecome(id, 3);
    await groupsBecome(id, "running");
    const [one, two, three] = await members(id, first?.id ?? 0);
    // 2 of 4 is not more than half, though it would be of 3.
    await reportAll(id, [one ?? "", two ?? ""], "closed", "failure");
    await pause(aWhile);
    expect((await get(id)).status).toBe("running");
    await reportAll(id, [three ?? ""], "closed", "failure");
    await become(id, "paused");
    expect((await groups(id))[0]?.status).toBe("error");
    // No target can join a failed group, so there is another one when the rollout goes on.
    await step("resume", id);
    await late(prefix, 1);
    const [, second] = await sizesBecome(id, 3, 1);
    await groupsBecome(id, "error", "running");
    expect(second?.name).toBe("group-2-d");
  });

  it("rollouts 2 a user restricted to target types cannot see an unrestricted user's dynamic rollout, because any target may join it", async () => {
    const restriction = { permission: "READ_TARGET", targetTypeScopes: [] };
    const { auth } = await accessBuilder(dialect).user(["READ_ROLLOUT", restriction]);
    const { id } = await running(unique("nobody"), { dynamic: true, amountGroups: 0, ...template(3) });
    await refused(r.rollouts.get, dialect, { params: { rolloutId: id }, auth }, [404]);
  });
});
