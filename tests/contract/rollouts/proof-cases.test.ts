import { routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { accessBuilder } from "../support/access.ts";
import { ask, call, dialects } from "../support/call.ts";
import { device } from "../support/device.ts";
import { workAs } from "../support/http.ts";
import { makeTenant, tenantBuilder } from "../support/tenants.ts";
import { eventually } from "../support/wait.ts";
import { proof, success, watchedBuilder } from "../support/watched.ts";

// What proves and what refutes a claim (contract beyond.md §1.9). proof.test.ts has whole rollouts, limits.test.ts what takes a minute.

const old = { data: { sw: "the old one" } };

describe.each(dialects)("claims and their proofs, %s", (dialect) => {
  const watched = watchedBuilder(dialect);
  const { rollouts, build, view, showing, proving, claimed, safety, at, counts, pollUntilProven } = watched;
  const { running, groupsBecome, actionOf } = rollouts;
  const newest = (set: { version: string }) => ({ data: { sw: set.version } });
  const stateOf = async (controllerId: string, actionId: number) => (await safety(controllerId, actionId))?.proof?.state;
  const decide = (controllerId: string, actionId: number, verdict: string) => ({
    ...at(controllerId, actionId),
    body: { verdict, remark: "seen in the lab" },
  });
  /** Lets a target have installed a set before. */
  const withInstalled = async (controllerId: string) => {
    const set = await build.set();
    await device(controllerId).feedback(await build.assign(set.id, controllerId), success);
    return set.id;
  };

  it("beyond 1.5, 1.6 the old version within the grace says nothing, and the new one proves it then", async () => {
    const { controllerId, actionId, set, on } = await claimed({
      proof: { graceSeconds: 3_600, withinSeconds: 7_200, stable: { polls: 1 } },
    });
    await on.configData(old);
    expect(await safety(controllerId, actionId)).toMatchObject({ stage: "rebooting", proof: { state: "proving" } });
    expect(await on.linkNames()).toContain("configData");
    await on.configData(newest(set));
    expect((await safety(controllerId, actionId))?.stage).toBe("observing");
    await on.configData(old);
    expect(await safety(controllerId, actionId)).toMatchObject({
      stage: "rebooting",
      proof: { expected: [{ key: "sw", value: set.version, match: "exact" }], seen: [{ key: "sw", value: old.data.sw }] },
    });
    await on.configData(newest(set));
    await pollUntilProven(controllerId, actionId);
    expect(await view.standing(controllerId)).toEqual({ updateStatus: "in_sync", assigned: set.id, installed: set.id });
  });

  it("beyond 1.5 after the grace the old version refutes it, and the set from before stays installed", async () => {
    const made = await proving(proof({ graceSeconds: 1 }));
    const { controllerId, on } = made;
    const before = await withInstalled(controllerId);
    const actionId = await build.assign(made.set.id, controllerId, { safety: proof({ graceSeconds: 1 }) });
    await on.feedback(actionId, success);
    await eventually(async () => {
      await on.configData(old);
      return (await stateOf(controllerId, actionId)) === "refuted";
    });
    expect(await view.standing(controllerId)).toEqual({ updateStatus: "error", assigned: undefined, installed: before });
    expect((await view.history(controllerId, actionId))[0]?.messages).toEqual([
      `Update Server: The device shows sw the old one instead of ${made.set.version}: it fell back.`,
    ]);
  });

  it("beyond 1.7 the running version proves and refutes, and is answered as ever", async () => {
    const one = await claimed(proof({ stable: { polls: 0 } }));
    const { name, version } = one.set;
    expect(await one.on.runs({ name, version })).toBe(200);
    await eventually(async () => (await stateOf(one.controllerId, one.actionId)) === "proven");
    expect((await safety(one.controllerId, one.actionId))?.proof?.by).toBe("runningVersion");
    expect((await view.standing(one.controllerId)).installed).toBe(one.set.id);

    const other = await claimed();
    const known = await build.set();
    expect(await other.on.runs({ name: known.name, version: known.version })).toBe(201);
    expect(await safety(other.controllerId, other.actionId)).toMatchObject({ proof: { state: "refuted", by: "runningVersion" } });
    expect(await view.standing(other.controllerId)).toEqual({ updateStatus: "in_sync", assigned: known.id, installed: known.id });
  });

  it("beyond 1.9 alive: polls within the grace do not count", async () => {
    const [early, later] = [await build.deployment(safe({ graceSeconds: 3_600, withinSeconds: 7_200 })), await build.deployment(safe({}))];
    for (const { controllerId, actionId } of [early, later]) await device(controllerId).feedback(actionId, success);
    await device(early.controllerId).poll();
    await device(early.controllerId).poll();
    // Polls are counted in the order in which they came: by then those of the first device are.
    await pollUntilProven(later.controllerId, later.actionId);
    expect((await safety(later.controllerId, later.actionId))?.proof).toEqual({ state: "proven", by: "alive" });
    expect(await safety(early.controllerId, early.actionId)).toMatchObject({ stage: "rebooting", proof: { state: "proving", polls: 0 } });
  });
  function safe(more: object) {
    return { safety: proof({ require: "alive", ...more }) };
  }

  it("beyond 1.11 what falls back while it is watched is reopened, and counts as failed", async () => {
    const { prefix, ids, set } = await showing(1);
    const [controllerId = ""] = ids;
    const before = await withInstalled(controllerId);
    const errors = { errorCondition: { expression: "100" } };
    const { id } = await running(prefix, { distributionSetId: set.id, safety: proof({ watchHours: 24 }), ...errors });
    await groupsBecome(id, "running");
    const { id: actionId } = await actionOf(controllerId, id);
    await device(controllerId).feedback(actionId, success);
    await device(controllerId).configData(newest(set));
    await pollUntilProven(controllerId, actionId);
    expect(await safety(controllerId, actionId)).toMatchObject({ stage: "watched", proof: { state: "proven" } });
    await counts(id, { finished: 1 });
    expect((await view.standing(controllerId)).installed).toBe(set.id);
    await device(controllerId).configData(old);
    await counts(id, { error: 1 });
    expect(await view.standing(controllerId)).toEqual({ updateStatus: "error", assigned: undefined, installed: before });
  });

  it("beyond 1.14 a newer claim makes it void, a newer action that has merely started does not", async () => {
    const { prefix, ids, set } = await showing(2);
    const [voided = "", proven = ""] = ids;
    const { id } = await running(prefix, { distributionSetId: set.id, safety: proof() });
    await groupsBecome(id, "running");
    const newer = await build.set();
    for (const of of ids) {
      await device(of).feedback((await actionOf(of, id)).id, success);
      const next = await build.assign(newer.id, of);
      if (of === voided) await device(of).feedback(next, success);
    }
    await counts(id, { running: 1, cancelled: 1 }, { proving: 1 });
    expect(await stateOf(voided, (await actionOf(voided, id)).id)).toBe("void");
    await device(proven).configData(newest(set));
    await pollUntilProven(proven, (await actionOf(proven, id)).id);
    expect(await view.standing(proven)).toEqual({ updateStatus: "pending", assigned: newer.id, installed: set.id });
  });

  it("beyond 1.15 an attribute that is taken away contradicts nothing", async () => {
    const { controllerId, actionId, on } = await claimed();
    for (const body of [
      { mode: "merge", data: { hw: "1" } },
      { mode: "remove", data: { sw: "the old one" } },
      { mode: "replace", data: { hw: "2" } },
    ])
      await on.configData(body);
    expect(await safety(controllerId, actionId)).toMatchObject({ stage: "rebooting", proof: { state: "proving" } });
    expect(await on.linkNames()).toContain("configData");
  });

  it("beyond 1.17 a rule that changes while a rollout runs changes nothing for it", async () => {
    const { prefix, ids, set, targetType } = await showing(1);
    const [controllerId = ""] = ids;
    const { id } = await running(prefix, { distributionSetId: set.id, safety: proof() });
    await groupsBecome(id, "running");
    const evidence = [{ attribute: "another", equals: "x" }];
    await call(r.targetTypes.update, dialect, { params: { targetTypeId: targetType }, body: { evidence } });
    const { id: actionId } = await actionOf(controllerId, id);
    await device(controllerId).feedback(actionId, success);
    await device(controllerId).configData(newest(set));
    expect((await safety(controllerId, actionId))?.stage).toBe("observing");
    await pollUntilProven(controllerId, actionId);
  });

  it("beyond 1.20 a hundred polls at once count as those of one second", async () => {
    const { controllerId, actionId, set, on } = await claimed(proof({ stable: { polls: 100 } }));
    await on.configData(newest(set));
    const began = Date.now();
    await Promise.all(Array.from({ length: 100 }, () => on.poll()));
    const seconds = Math.ceil((Date.now() - began) / 1_000);
    const counted = async () => (await safety(controllerId, actionId))?.proof?.polls ?? 0;
    await eventually(async () => (await counted()) > 0);
    // They reach into so many seconds at most, and each counts once.
    expect(await counted()).toBeLessThanOrEqual(seconds + 1);
  });

  it("beyond 1.21 of another tenant's action and of one beyond its grants nobody decides", async () => {
    const { controllerId, actionId } = await claimed();
    const other = await makeTenant(dialect, 0);
    const { user } = accessBuilder(dialect);
    const reader = await user(["READ_TARGET"]);
    // It sees all targets, and may change none of them, which is as if they were not there.
    const restricted = await user(["READ_TARGET", { permission: "UPDATE_TARGET", targetTypeScopes: [] }]);
    const blind = await user(["READ_TARGET", "UPDATE_TARGET"].map((permission) => ({ permission, targetTypeScopes: [] })));
    const expected = [
      [other.admin, [404]],
      [reader.auth, [403]],
      [restricted.auth, [404]],
      [blind.auth, [404]],
    ] as const;
    const ways = [
      [r.targets.proveAction, decide(controllerId, actionId, "proven")],
      [r.targets.retryAction, at(controllerId, actionId)],
    ] as const;
    for (const [route, options] of ways) {
      for (const [auth, statuses] of expected) expect(statuses).toContain((await ask(route, dialect, { ...options, auth })).status);
    }
    expect(await stateOf(controllerId, actionId)).toBe("proving");
    await tenantBuilder(dialect).remove(other.tenant);
  });

  it("beyond 1.27 the artifacts of what is being proven can be downloaded", async () => {
    const { actionId, on } = await proving();
    const [artifact] = (await on.deployment(actionId)).deployment.chunks.flatMap(({ artifacts }) => artifacts);
    const href = artifact?._links?.download?.href ?? artifact?._links?.["download-http"]?.href ?? "";
    await on.feedback(actionId, success);
    expect((await on.follow(href)).status).toBe(200);
  });

  it("beyond 1.29 another action that is cancelled meanwhile does not make its target in sync", async () => {
    const { controllerId, set, on } = await claimedAfterAnother();
    expect(await view.standing(controllerId)).toMatchObject({ updateStatus: "pending", assigned: set.id });
    const { content } = await view.actions(controllerId, { sort: "id:ASC" });
    await on.cancelFeedback(content[0]?.id as number, success);
    expect(await view.standing(controllerId)).toEqual({ updateStatus: "pending", assigned: set.id, installed: undefined });
  });
  /** A claim beside an older action that is asked to cancel. */
  async function claimedAfterAnother() {
    const { set, targetType } = await watched.shownSet();
    const { controllerId } = await build.target({ targetType });
    await build.assign((await build.set()).id, controllerId);
    const actionId = await build.assign(set.id, controllerId, { safety: proof() });
    await device(controllerId).feedback(actionId, success);
    return { controllerId, actionId, set, on: device(controllerId) };
  }

  it("beyond 1.30 a tenant's policy holds where nothing is said, and none and an own one beat it", async () => {
    const own = await makeTenant(dialect, 0);
    workAs(own);
    try {
      const named = { name: "everywhere", safety: { proof: { watchHours: 7 } } };
      await call(r.safetyPolicies.create, dialect, { body: [named] });
      await call(r.configs.put, dialect, { params: { key: "safety.default" }, body: { value: "everywhere" } });
      const { prefix } = await rollouts.fleet(1);
      const made = await eventually(async () => {
        const { safety: seen } = await rollouts.create(prefix);
        return seen !== undefined && seen;
      });
      expect(made).toMatchObject({ proof: { watchHours: 7 } });
      expect((await rollouts.create(prefix, { safety: null })).safety).toMatchObject({ proof: { watchHours: 7 } });
      expect(await rollouts.create(prefix, { safety: { policy: "none" } })).not.toHaveProperty("safety");
      expect((await rollouts.create(prefix, { safety: { retry: { max: 1 } } })).safety).not.toHaveProperty("proof");
    } finally {
      workAs();
      await tenantBuilder(dialect).remove(own.tenant);
    }
  });
});
