import { type RolloutInsights, type RolloutReport, routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { ask, call, dialects, refused } from "../support/call.ts";
import { device } from "../support/device.ts";
import { filterBuilder } from "../support/filters.ts";
import { workAs } from "../support/http.ts";
import { makeTenant, tenantBuilder } from "../support/tenants.ts";
import { eventually } from "../support/wait.ts";
import { failure, success, watchedBuilder } from "../support/watched.ts";

// Every failed action may be tried again by a new one (contract beyond.md §3). proof.test.ts has 3.1 and 3.3, action-safety.test.ts the attempt by hand.

const retry = (more: object = {}) => ({ retry: { max: 2, delaySeconds: 0, codes: ["500-599"], ...more } });
const untilDue = { delaySeconds: 3_600 };

describe.each(dialects)("attempts, %s", (dialect) => {
  const { rollouts, build, view, at, action, safety, counts, attempts, nextAttempt, safetyBecomes, eventsFromNow, watchEvents } =
    watchedBuilder(dialect);
  const { fleet, running, actionOf, groupsBecome, become, step } = rollouts;
  const filters = filterBuilder(dialect);
  /** A running rollout whose devices have not reported yet. */
  const started = async (count: number, safetyPolicy: object, amountGroups = 1) => {
    const { prefix, ids } = await fleet(count);
    const { id } = await running(prefix, {
      errorCondition: { expression: "0" },
      errorAction: { action: "PAUSE" },
      safety: safetyPolicy,
      amountGroups,
    });
    await groupsBecome(id, "running", ...Array.from({ length: amountGroups - 1 }, () => "scheduled"));
    return { id, ids, first: ids[0] as string };
  };
  const fails = async (controllerId: string, id: number, code: number) => {
    const { id: failed } = await actionOf(controllerId, id);
    await device(controllerId).feedback(failed, failure(code));
    return failed;
  };

  it("beyond 3.2 a code that is not to be tried again is an error at once", async () => {
    const { id, first } = await started(1, retry());
    const failed = await fails(first, id, 42);
    expect(await safety(first, failed)).toEqual({ attempt: 1 });
    await counts(id, { error: 1 });
    expect(await attempts(first)).toHaveLength(1);
  });

  it("beyond 3.4 each attempt waits twice as long as the one before, give or take a tenth", async () => {
    const { controllerId, actionId } = await build.deployment({ safety: retry({ max: 3, delaySeconds: 1, backoff: 2 }) });
    let now = actionId;
    for (const seconds of [1, 2, 4]) {
      await device(controllerId).feedback(now, failure(503));
      const waiting = await safety(controllerId, now);
      // The attempt may have begun already on a busy machine, and then nothing waits.
      if (waiting?.nextAttemptAt !== undefined) {
        const delay = (waiting.nextAttemptAt - (waiting.since as number)) / 1_000;
        expect(delay).toBeGreaterThanOrEqual(seconds * 0.9 - 0.01);
        expect(delay).toBeLessThanOrEqual(seconds * 1.1 + 0.01);
      }
      now = (await nextAttempt(controllerId, now)).id;
    }
    await device(controllerId).feedback(now, failure(503));
    expect(await safety(controllerId, now)).toEqual({ attempt: 4, retryOf: actionId });
  });

  it("beyond 3.5 while the rollout is paused nothing is tried again, after its resume it is", async () => {
    const { id, first } = await started(1, retry({ delaySeconds: 2 }));
    await step("pause", id);
    await become(id, "paused");
    const failed = await fails(first, id, 503);
    const waiting = await safety(first, failed);
    expect(waiting).toMatchObject({ stage: "retryWait", attempt: 1 });
    // It has come due, and was put off.
    await safetyBecomes(first, failed, ({ nextAttemptAt }) => (nextAttemptAt as number) > (waiting?.nextAttemptAt as number));
    expect(await attempts(first)).toHaveLength(1);
    await step("resume", id);
    expect((await nextAttempt(first, failed)).safety).toMatchObject({ attempt: 2, retryOf: failed });
  });

  it("beyond 3.6 a rollout that is stopped tries nothing again", async () => {
    const { id, first } = await started(1, retry({ delaySeconds: 2 }));
    const failed = await fails(first, id, 503);
    await step("stop", id);
    await become(id, "stopped");
    await safetyBecomes(first, failed, ({ stage }) => stage === undefined);
    expect(await attempts(first)).toHaveLength(1);
    await counts(id, { error: 1 });
  });

  it("beyond 3.7 what is assigned meanwhile takes the place of the attempt", async () => {
    const { id: set } = await build.set(); // there is no time to make it between the failure and the next attempt
    const { id, first } = await started(1, retry({ delaySeconds: 2 }));
    const failed = await fails(first, id, 503);
    const other = await build.assign(set, first);
    await safetyBecomes(first, failed, ({ stage }) => stage === undefined);
    expect((await attempts(first)).map((one) => one.id)).toEqual([failed, other]);
  });

  it("beyond 3.8, 3.9, 3.10 who waits for an attempt neither stops a rollout nor lets its group end, and is counted once", async () => {
    const { id, ids, first } = await started(2, retry(untilDue));
    const from = await eventsFromNow();
    const failed = await fails(first, id, 503);
    await counts(id, { running: 2 }, { retrying: 1 });
    const [told] = await watchEvents(from, { controllerId: first, actionId: failed }, 1);
    expect(told).toMatchObject({ kind: "retry", safety: { attempt: 1, nextAttemptAt: (await safety(first, failed))?.nextAttemptAt } });
    await rollouts.reportAll(id, ids.slice(1), "closed", "success");
    const seen = await counts(id, { running: 1, finished: 1 }, { retrying: 1 });
    expect([seen.status, seen.totalTargets]).toEqual(["running", 2]);
    // By hand it need not wait; the group ends with it.
    await call(r.targets.retryAction, dialect, at(first, failed));
    await counts(id, { running: 1, finished: 1 });
    await device(first).feedback((await nextAttempt(first, failed)).id, success);
    await become(id, "finished");
    await counts(id, { finished: 2 });
    const one = { params: { rolloutId: id } };
    const { groupInsights } = (await call<RolloutInsights>(r.rollouts.insights, dialect, one)).json;
    expect(groupInsights.map((group) => group.targetsPerStatusAndCode)).toEqual([{ finished: { none: 2 } }]);
    const { groupReports } = (await call<RolloutReport>(r.rollouts.report, dialect, one)).json;
    expect(groupReports.map((group) => group.targetsPerStatus)).toEqual([{ finished: { none: ids } }]);
    expect((await call(r.rollouts.reportCsv, dialect, one)).text.split("\r\n")).toHaveLength(ids.length + 2);
  });

  it("beyond 3.8 where the policy counts them as errors, those who wait stop the rollout", async () => {
    const { id, first } = await started(4, retry({ ...untilDue, waitingCounts: "error" }), 2);
    const failed = await fails(first, id, 503);
    await become(id, "paused");
    await counts(id, { running: 2, scheduled: 2 }, { retrying: 1 });
    // A person need not resume it for that.
    await call(r.targets.retryAction, dialect, at(first, failed));
    await counts(id, { running: 2, scheduled: 2 });
    expect((await nextAttempt(first, failed)).active).toBe(true);
  });

  it("beyond 3.11 a rollout that goes on after a pause makes no further action", async () => {
    const { id, first } = await started(1, retry());
    const second = (await nextAttempt(first, await fails(first, id, 503))).id;
    await step("pause", id);
    await become(id, "paused");
    await step("resume", id);
    await become(id, "running");
    await device(first).feedback(second, success);
    await become(id, "finished");
    expect(await attempts(first)).toHaveLength(2);
    await counts(id, { finished: 1 });
  });

  it("beyond 3.12 an auto-assignment tries again, and then gives the set to nobody twice", async () => {
    const [{ controllerId }, set] = [await build.target(), await build.set()];
    const { id } = await filters.filter(`controllerid==${controllerId}`);
    await filters.assign(id, set.id, { safety: retry({ max: 1 }) });
    const first = await eventually(async () => (await attempts(controllerId))[0], 60_000);
    await device(controllerId).feedback(first.id, failure(503));
    const second = await nextAttempt(controllerId, first.id);
    await device(controllerId).feedback(second.id, failure(503));
    expect(await safety(controllerId, second.id)).toEqual({ attempt: 2, retryOf: first.id });
    await filters.end(id);
    expect(await attempts(controllerId)).toHaveLength(2);
  });

  it("beyond 3.13 an assignment tries again, too", async () => {
    const { controllerId, actionId, setId } = await build.deployment({ safety: retry() });
    await device(controllerId).feedback(actionId, failure(503));
    const second = await nextAttempt(controllerId, actionId);
    await device(controllerId).feedback(second.id, success);
    expect(await view.standing(controllerId)).toMatchObject({ updateStatus: "in_sync", installed: setId });
  });

  it("beyond 3.14 by hand twice at once: one attempt and one conflict", async () => {
    const { controllerId, actionId } = await build.deployment();
    await device(controllerId).feedback(actionId, failure());
    const both = await Promise.all([1, 2].map(() => ask(r.targets.retryAction, dialect, at(controllerId, actionId))));
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
    await refused(r.targets.retryAction, dialect, at(controllerId, actionId), [409, "action.notRetryable"]);
    expect(await attempts(controllerId)).toHaveLength(2);
  });

  it("beyond 3.15 a target that has as many actions as it may have gets no further one", async () => {
    const own = await makeTenant(dialect, 0);
    workAs(own);
    try {
      const { controllerId, actionId } = await build.deployment({ safety: retry({ delaySeconds: 2 }) });
      const other = await build.target();
      await tenantBuilder(dialect).setQuota(own.tenant, "ACTIONS_PER_TARGET_MAX_COUNT", 1);
      // controller has heard of it when it refuses a second assignment.
      await eventually(async () => {
        const params = { distributionSetId: (await build.set()).id };
        return (await ask(r.distributionSets.assignTargets, dialect, { params, body: [{ id: other.controllerId }] })).status >= 400;
      });
      await device(controllerId).feedback(actionId, failure(503));
      const ended = await safetyBecomes(controllerId, actionId, ({ stage }) => stage === undefined);
      expect(ended).toEqual({ attempt: 1, reason: "quota" });
      expect(await attempts(controllerId)).toHaveLength(1);
    } finally {
      workAs();
      await tenantBuilder(dialect).remove(own.tenant);
    }
  });

  it("beyond 3.16 a late success of the failed action is too late, and the attempt comes", async () => {
    const { controllerId, actionId } = await build.deployment({ safety: retry({ delaySeconds: 1 }) });
    await device(controllerId).feedback(actionId, failure(503));
    await device(controllerId).feedbackRefused(actionId, success, [410]);
    expect((await nextAttempt(controllerId, actionId)).active).toBe(true);
    expect((await action(controllerId, actionId)).active).toBe(false);
  });

  it("beyond 3.18 a device that remembers the last id and installs nothing for it again installs the next attempt", async () => {
    const { set } = await build.setWithArtifact();
    const { controllerId } = await build.target();
    const first = await build.assign(set.id, controllerId, { safety: retry() });
    const on = device(controllerId);
    let remembered: number | undefined;
    let installed = 0;
    // Zephyr's client keeps the id of an action before it writes, and closes an id that it knows with success.
    const cycle = async (works: boolean) => {
      const href = (await on.links()).deploymentBase;
      const id = Number(/deploymentBase\/(\d+)/.exec(href ?? "")?.[1]);
      if (id === remembered) return on.feedback(id, success);
      remembered = id;
      const [artifact] = (await on.deployment(id)).deployment.chunks.flatMap(({ artifacts }) => artifacts);
      expect((await on.follow(artifact?._links?.download?.href ?? artifact?._links?.["download-http"]?.href ?? "")).status).toBe(200);
      if (works) installed += 1;
      return on.feedback(id, works ? success : failure(503));
    };
    await cycle(false);
    const second = await nextAttempt(controllerId, first);
    await cycle(true);
    expect([installed, remembered]).toEqual([1, second.id]);
    expect(await view.standing(controllerId)).toMatchObject({ updateStatus: "in_sync", installed: set.id });
  });
});
