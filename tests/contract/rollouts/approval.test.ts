import { type RolloutView, routeTable as r } from "@harrier/contracts";
import { beforeAll, describe, expect, it } from "vitest";
import { accessBuilder, type SignedUp } from "../support/access.ts";
import { ask, call, dialects, refused } from "../support/call.ts";
import { rolloutBuilder } from "../support/rollout.ts";
import { inOwnTenant } from "../support/tenants.ts";
import { eventually } from "../support/wait.ts";

const setting = (value: boolean) => ({ params: { key: "rollout.approval.enabled" }, body: { value } });

// The test changes a setting, so it runs in a tenant of its own.
describe.each(dialects)("approval of rollouts, %s", (dialect) => {
  const { fleet, create, ready, get, become, step, noStep, groups, members, one } = rolloutBuilder(dialect);
  const bodiless = dialect === "spec" ? 200 : 204;
  let creator: SignedUp;
  let approver: SignedUp;
  inOwnTenant(dialect);
  beforeAll(async () => {
    const { user } = accessBuilder(dialect);
    creator = await user(["CREATE_ROLLOUT", "HANDLE_ROLLOUT"]);
    approver = await user(["APPROVE_ROLLOUT", "CREATE_ROLLOUT"]);
  });

  const decide = (name: "approve" | "deny", id: number, more: object = {}) =>
    ask(r.rollouts[name], dialect, { ...one(id), auth: approver.auth, ...more });
  const noDecision = async (id: number) => {
    for (const route of [r.rollouts.approve, r.rollouts.deny]) await refused(route, dialect, one(id), [400, "rollout.illegalState"]);
  };
  const waiting = async (more: object = {}): Promise<RolloutView> => {
    const { prefix } = await fleet(2);
    return become((await create(prefix, more, creator.auth)).id, "waiting_for_approval");
  };

  it("rollouts 10.74 an approved rollout is ready, and shows who decided and the remark", async () => {
    const { id } = await waiting();
    await noStep("start", id);
    // Its members are frozen already.
    const [group] = await groups(id);
    expect([group?.status, (await members(id, group?.id as number)).length]).toEqual(["ready", 2]);
    for (const member of ["approveDecidedBy", "approvalRemark"]) expect(await get(id)).not.toHaveProperty(member);
    expect((await decide("approve", id, { query: { remark: "x" } })).status).toBe(bodiless);
    expect(await get(id)).toMatchObject({ status: "ready", approvalRemark: "x", approveDecidedBy: approver.name });
    await noDecision(id);
    await step("start", id);
    await become(id, "running");
  });

  it("rollouts 4.11 the remark may come in the body or be absent; one that is too long decides nothing", async () => {
    const [first, second] = [await waiting(), await waiting()];
    const long = "r".repeat(256);
    for (const more of [{ query: { remark: long } }, { body: { remark: long } }]) {
      const options = { ...one(first.id), auth: approver.auth, ...more };
      await refused(r.rollouts.approve, dialect, options, [400, "repo.constraintViolation"]);
    }
    expect((await get(first.id)).status).toBe("waiting_for_approval");
    await decide("approve", first.id, { body: { remark: "r".repeat(255) } });
    expect((await get(first.id)).approvalRemark).toBe("r".repeat(255));
    await decide("deny", second.id);
    const denied = await get(second.id);
    expect(denied).toMatchObject({ status: "approval_denied", approveDecidedBy: approver.name });
    expect(denied).not.toHaveProperty("approvalRemark");
  });

  it("rollouts 10.75 a denied rollout cannot be started, but stopped or deleted", async () => {
    const [{ id }, other] = [await waiting(), await waiting()];
    expect((await decide("deny", id, { body: { remark: "no" } })).status).toBe(bodiless);
    expect(await get(id)).toMatchObject({ status: "approval_denied", approvalRemark: "no" });
    for (const name of ["start", "pause", "resume", "triggerNextGroup"] as const) await noStep(name, id);
    await noDecision(id);
    await step("stop", id);
    await become(id, "stopped");
    await decide("deny", other.id);
    expect((await call(r.rollouts.delete, dialect, one(other.id))).status).toBe(bodiless);
    await eventually(async () => (await ask(r.rollouts.get, dialect, one(other.id))).status === 404);
  });

  it("rollouts 10.76, 10.77 an approver's own rollout needs no approval, and rejects a decision", async () => {
    const { prefix } = await fleet(1);
    const { id } = await become((await create(prefix, {}, approver.auth)).id, "ready");
    await noDecision(id);
    expect(await get(id)).not.toHaveProperty("approveDecidedBy");
  });

  it("rollouts 4.11 of many decisions at once one counts", async () => {
    const { id } = await waiting();
    const remarks = ["a", "b", "c", "d"];
    const answers = await Promise.all(remarks.map((remark, n) => decide(n % 2 === 0 ? "approve" : "deny", id, { query: { remark } })));
    expect(answers.map(({ status }) => status).sort()).toEqual([bodiless, 400, 400, 400]);
    const won = answers.findIndex(({ status }) => status === bodiless);
    expect(await get(id)).toMatchObject({ status: won % 2 === 0 ? "ready" : "approval_denied", approvalRemark: remarks[won] });
  });

  it("rollouts 4.11 a start that is due waits for the approval too", async () => {
    const { id } = await waiting({ startAt: Date.now() - 1_000 });
    await decide("approve", id);
    await become(id, "running");
  });

  it("rollouts 4.11 changing the texts needs no new decision; users who may not approve are denied", async () => {
    const { id } = await waiting();
    await refused(r.rollouts.approve, dialect, { ...one(id), auth: creator.auth }, [403, "insufficientPermission"]);
    await call(r.rollouts.update, dialect, { ...one(id), body: { description: "d" } });
    expect((await get(id)).status).toBe("waiting_for_approval");
    await decide("approve", id);
    await call(r.rollouts.update, dialect, { ...one(id), body: { description: "e" } });
    expect((await get(id)).status).toBe("ready");
  });

  it("rollouts 4.11 switching the setting off releases no waiting rollout, and new ones do not wait", async () => {
    const { id } = await waiting();
    await call(r.configs.put, dialect, setting(false));
    const { prefix } = await fleet(1);
    await become((await create(prefix, {}, creator.auth)).id, "ready");
    expect((await get(id)).status).toBe("waiting_for_approval");
    await decide("approve", id);
    expect((await get(id)).status).toBe("ready");
    await call(r.configs.put, dialect, setting(true));
    expect((await ready((await fleet(1)).prefix)).status).toBe("ready");
  });
});
