import { type ActionView, routeTable as r, type TargetFilterView } from "@harrier/contracts";
import { beforeAll, describe, expect, it } from "vitest";
import { accessBuilder, type SignedUp } from "../support/access.ts";
import { builder } from "../support/build.ts";
import { ask, call, dialects, refused } from "../support/call.ts";
import { filterBuilder } from "../support/filters.ts";
import { viewer } from "../support/look.ts";
import { rolloutBuilder } from "../support/rollout.ts";
import { inOwnTenant } from "../support/tenants.ts";
import { eventually } from "../support/wait.ts";

const key = "auto.assignment.approval.enabled";

// The test changes a setting, so it runs in a tenant of its own.
describe.each(dialects)("approval of auto-assignments, %s", (dialect) => {
  const build = builder(dialect);
  const view = viewer(dialect);
  const { fleet, filterOf } = rolloutBuilder(dialect);
  const { of, filter, get, assign, waiting, end } = filterBuilder(dialect);
  const bodiless = dialect === "spec" ? 200 : 204;
  let assigner: SignedUp;
  let approver: SignedUp;
  inOwnTenant(dialect);
  beforeAll(async () => {
    const { user } = accessBuilder(dialect);
    assigner = await user(["READ_TARGET", "UPDATE_TARGET", "READ_REPOSITORY"]);
    approver = await user(["APPROVE_ROLLOUT", "READ_TARGET", "UPDATE_TARGET", "READ_REPOSITORY"]);
  });

  const switchTo = (value: boolean) => call(r.configs.put, dialect, { params: { key }, body: { value } });
  const decide = async (name: "approveAutoAssign" | "denyAutoAssign", id: number, more: object = {}) =>
    (await ask(r.targetFilters[name], dialect, { ...of(id), auth: approver.auth, ...more })).status;
  const noDecision = async (id: number) => {
    for (const route of [r.targetFilters.approveAutoAssign, r.targetFilters.denyAutoAssign]) {
      await refused(route, dialect, { ...of(id), auth: approver.auth }, [400, "rollout.illegalState"]);
    }
  };
  const actionsOf = async (id: string): Promise<ActionView[]> => (await view.actions(id)).content;
  /** Waits until a target has an action; a filter of its own assigns it. */
  const served = (id: string): Promise<ActionView> =>
    eventually(async () => (await actionsOf(id))[0] ?? Promise.reject(new Error(`${id} has no action`)));
  /** Waits until filters have run: one that needs no approval has assigned its set to a target of its own. */
  const untilFiltersHaveRun = async () => {
    const { prefix, ids } = await fleet(1);
    await assign((await filter(filterOf(prefix))).id, (await build.set()).id);
    await served(ids[0] as string);
  };
  const undecided = async () => {
    const { prefix, ids } = await fleet(1);
    const set = await build.set();
    return { id: await waiting(filterOf(prefix), set.id, assigner.auth), target: ids[0] as string, prefix, set };
  };

  it("management 8.1 an auto-assignment assigns nothing before its approval, then as requested and in its creator's name", async () => {
    const { id, target, set } = await undecided();
    expect(await get(id)).toMatchObject({ autoAssignDistributionSet: set.id, autoAssignStatus: "waiting_for_approval" });
    for (const member of ["approveDecidedBy", "approvalRemark"]) expect(await get(id)).not.toHaveProperty(member);
    await untilFiltersHaveRun();
    expect(await actionsOf(target)).toEqual([]);
    expect(await decide("approveAutoAssign", id, { query: { remark: "go" } })).toBe(bodiless);
    expect(await get(id)).toMatchObject({ autoAssignStatus: "running", approveDecidedBy: approver.name, approvalRemark: "go" });
    await served(target);
    expect((await view.standing(target)).assigned).toBe(set.id);
    expect((await view.history(target, (await served(target)).id))[0]?.messages.join()).toContain("Auto assignment");
    await noDecision(id);
  });

  it("management 8.1 a denied auto-assignment assigns nothing until it is set anew", async () => {
    const { id, target, set } = await undecided();
    expect(await decide("denyAutoAssign", id, { body: { remark: "no" } })).toBe(bodiless);
    expect(await get(id)).toMatchObject({ autoAssignStatus: "approval_denied", approveDecidedBy: approver.name, approvalRemark: "no" });
    await noDecision(id);
    await untilFiltersHaveRun();
    expect(await actionsOf(target)).toEqual([]);
    await call(r.targetFilters.setAutoAssign, dialect, { ...of(id), body: { id: set.id }, auth: assigner.auth });
    expect((await get(id)).autoAssignStatus).toBe("waiting_for_approval");
    await call(r.targetFilters.setAutoAssign, dialect, { ...of(id), body: { id: set.id }, auth: approver.auth });
    expect(await get(id)).not.toHaveProperty("autoAssignStatus");
    await served(target);
  });

  it("management 8.1 another query or set needs a new approval; another name does not", async () => {
    const { id, target, prefix, set } = await undecided();
    await decide("approveAutoAssign", id);
    await served(target);
    const change = (body: object, auth = assigner.auth) =>
      call<TargetFilterView>(r.targetFilters.update, dialect, { ...of(id), body, auth });
    await change({ name: `${prefix} renamed` });
    expect((await get(id)).autoAssignStatus).toBe("running");
    const more = await fleet(1);
    const wider = `${filterOf(prefix)},${filterOf(more.prefix)}`;
    await change({ query: wider });
    const now = await get(id);
    expect(now.autoAssignStatus).toBe("waiting_for_approval");
    expect(now).not.toHaveProperty("approveDecidedBy");
    await untilFiltersHaveRun();
    expect(await actionsOf(more.ids[0] as string)).toEqual([]);
    await decide("approveAutoAssign", id);
    await served(more.ids[0] as string);
    // A user who may approve can change it without interrupting it.
    await change({ query: filterOf(prefix) }, approver.auth);
    expect((await get(id)).autoAssignStatus).toBe("running");
    await call(r.targetFilters.setAutoAssign, dialect, { ...of(id), body: { id: set.id, weight: 5 }, auth: assigner.auth });
    expect((await get(id)).autoAssignStatus).toBe("waiting_for_approval");
    await end(id);
    expect(await get(id)).not.toHaveProperty("autoAssignStatus");
    await noDecision(id);
  });

  it("management 8.1 only users who may approve can decide; a remark has 255 characters at most", async () => {
    const { id } = await undecided();
    for (const route of [r.targetFilters.approveAutoAssign, r.targetFilters.denyAutoAssign]) {
      await refused(route, dialect, { ...of(id), auth: assigner.auth }, [403, "insufficientPermission"]);
      const remark = "r".repeat(256);
      await refused(route, dialect, { ...of(id), auth: approver.auth, body: { remark } }, [400, "repo.constraintViolation"]);
      await refused(route, dialect, { ...of(2_000_000_000), auth: approver.auth }, [404, "repo.entityNotFound"]);
    }
    expect((await get(id)).autoAssignStatus).toBe("waiting_for_approval");
    await noDecision((await filter()).id);
  });

  it("rollouts 4.11 an approver's own needs no approval; with the setting off none does, and waiting ones keep waiting", async () => {
    const { prefix, ids } = await fleet(1);
    const { id } = await filter(filterOf(prefix));
    await call(r.targetFilters.setAutoAssign, dialect, { ...of(id), body: { id: (await build.set()).id }, auth: approver.auth });
    await served(ids[0] as string);
    const old = await undecided();
    await switchTo(false);
    const { id: free, target } = await undecided();
    expect(await get(free)).not.toHaveProperty("autoAssignStatus");
    await served(target);
    await untilFiltersHaveRun();
    expect(await actionsOf(old.target)).toEqual([]);
    await decide("approveAutoAssign", old.id);
    await served(old.target);
    await switchTo(true);
  });
});
