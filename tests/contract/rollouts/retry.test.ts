import { type RolloutView, routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { ask, call, dialects, refused } from "../support/call.ts";
import { filled, rolloutBuilder } from "../support/rollout.ts";

const violation = [400, "repo.constraintViolation"] as const;

describe.concurrent.each(dialects)("retries of rollouts, %s", (dialect) => {
  const { fleet, running, become, get, groups, members, reportAll, actionOf, step, noStep, create, notCreated, one, view } =
    rolloutBuilder(dialect);
  const retry = async (id: number): Promise<RolloutView> => (await call<RolloutView>(r.rollouts.retry, dialect, one(id))).json;
  /** Runs a rollout whose first devices fail and whose others succeed. */
  const finished = async (count: number, failing: number, more: object = {}) => {
    const { prefix, ids } = await fleet(count);
    const rollout = await running(prefix, { errorCondition: { expression: "100" }, ...more });
    await reportAll(rollout.id, ids.slice(0, failing), "closed", "failure");
    await reportAll(rollout.id, ids.slice(failing), "closed", "success");
    return { prefix, rollout: await become(rollout.id, "finished"), failed: ids.slice(0, failing) };
  };

  it("rollouts 10.78 only a finished rollout with failed targets can be retried", async () => {
    await refused(r.rollouts.retry, dialect, one(2_000_000_000), [404, "repo.entityNotFound"]);
    const { id } = await running((await fleet(1)).prefix);
    await refused(r.rollouts.retry, dialect, one(id), violation);
    await refused(r.rollouts.retry, dialect, one((await finished(1, 0)).rollout.id), violation);
    const deleted = (await finished(1, 1)).rollout;
    await call(r.rollouts.delete, dialect, one(deleted.id));
    await become(deleted.id, "deleted");
    await refused(r.rollouts.retry, dialect, one(deleted.id), [404, "repo.entityNotFound"]);
  });

  it("rollouts 10.78 the retry of two failed targets is a rollout of its own, and possible once", async () => {
    const more = {
      description: "d",
      type: "soft",
      weight: 7,
      startAt: Date.now() + 3_600_000,
      successCondition: { expression: "30" },
      successAction: { action: "PAUSE" },
    };
    const { rollout: old, failed } = await finished(5, 2, more);
    const answer = await ask<RolloutView>(r.rollouts.retry, dialect, one(old.id));
    expect([answer.status, r.rollouts.retry.response?.safeParse(answer.json).success]).toEqual([201, true]);
    const { name, distributionSetId } = old;
    const expected = {
      name: `${name}_retry`,
      description: "d",
      type: "soft",
      weight: 1000,
      totalTargets: 2,
      totalGroups: 1,
      dynamic: false,
      distributionSetId,
    };
    expect(answer.json).toMatchObject({ ...expected, targetFilterQuery: `failedrollout==${old.id}`, status: "creating" });
    // The retry does not take over the start time.
    expect(answer.json).not.toHaveProperty("startAt");
    const { id } = await become(answer.json.id, "ready");
    const [group, ...others] = await groups(id);
    expect([group?.name, others]).toEqual(["group-1", []]);
    expect(group).toMatchObject({
      successCondition: { expression: "30" },
      successAction: { action: "PAUSE" },
      errorCondition: { expression: "100" },
    });
    expect(await members(id, group?.id as number)).toEqual(failed);
    await refused(r.rollouts.retry, dialect, one(old.id), [409, "repo.entityAlreadyExists"]);
    await step("start", id);
    await become(id, "running");
    await reportAll(id, failed, "closed", "success");
    expect(filled((await become(id, "finished")).totalTargetsPerStatus)).toEqual({ finished: 2 });
    expect((await view.standing(failed[0] as string)).updateStatus).toBe("in_sync");
    expect(filled((await get(old.id)).totalTargetsPerStatus)).toEqual({ error: 2, finished: 3 });
  });

  it("rollouts 4.8 a retry of a retry has the targets that failed again, in the order of all rollouts", async () => {
    const { rollout: old, failed } = await finished(2, 2);
    const { id } = await become((await retry(old.id)).id, "ready");
    await noStep("pause", id);
    await step("start", id);
    await become(id, "running");
    await reportAll(id, failed.slice(0, 1), "closed", "failure");
    await reportAll(id, failed.slice(1), "closed", "success");
    await become(id, "finished");
    const again = await become((await retry(id)).id, "ready");
    expect(again).toMatchObject({ name: `${old.name}_retry_retry`, totalTargets: 1, targetFilterQuery: `failedrollout==${id}` });
    expect((await view.actions(failed[0] as string)).total).toBe(2);
    expect((await actionOf(failed[0] as string, id)).rollout).toBe(id);
  });

  it("rollouts 4.8 the field is not queryable; a name that would be too long is rejected", async () => {
    const { prefix, rollout } = await finished(1, 1);
    const unknown = [400, "rest.param.rsqlInvalidField"] as const;
    await notCreated(prefix, { targetFilterQuery: `failedrollout==${rollout.id}` }, unknown);
    await refused(r.targets.list, dialect, { query: { q: `failedrollout==${rollout.id}` } }, unknown);
    const long = await finished(1, 1, { name: "n".repeat(100) + String(Date.now()).padStart(25, dialect === "spec" ? "s" : "r") });
    await refused(r.rollouts.retry, dialect, one(long.rollout.id), violation);
    expect((await create(prefix, { targetFilterQuery: `controllerid==${prefix}*` })).totalTargets).toBe(1);
  });
});
