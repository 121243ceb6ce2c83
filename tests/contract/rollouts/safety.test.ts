import { type AutoAssignmentView, type RolloutView, routeTable as r, type TargetFilterView } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { unique } from "../support/build.ts";
import { call, dialects, refused } from "../support/call.ts";
import { device, report } from "../support/device.ts";
import { rolloutBuilder } from "../support/rollout.ts";
import { outOfRange, pathsOf, safetyPolicyBuilder } from "../support/safety-policies.ts";
import { typeBuilder } from "../support/types.ts";

const constraint = [400, "repo.constraintViolation"] as const;
const unknown = [404, "repo.entityNotFound"] as const;
const proofDefaults = {
  require: "version",
  fallback: "alive",
  stable: { polls: 2, minutes: 0 },
  graceSeconds: 900,
  withinSeconds: 3_600,
  onExpiry: "error",
  watchHours: 0,
};

describe.each(dialects)("safety of rollouts, %s", (dialect) => {
  const rollouts = rolloutBuilder(dialect);
  const policies = safetyPolicyBuilder(dialect);
  const types = typeBuilder(dialect);
  const { create, running, groupsBecome, actionOf, get, fleet, build, body } = rollouts;
  /** Neither a creation nor a preview takes it, and nothing is stored. */
  const refuse = async (prefix: string, more: object, expected: readonly [number, string]): Promise<string[]> => {
    const name = unique("refused");
    const sent = await body(prefix, { ...more, name });
    await refused(r.rollouts.preview, dialect, { body: sent }, expected);
    const { json } = await refused(r.rollouts.create, dialect, { body: sent }, expected);
    const listed = await call<{ total: number }>(r.rollouts.list, dialect, { query: { q: `name==${name}` } });
    expect(listed.json.total).toBe(0);
    return pathsOf(json);
  };

  it("beyond 1.1 without a policy a rollout shows none", async () => {
    const { prefix } = await fleet(1);
    const { id } = await create(prefix);
    expect(await get(id)).not.toHaveProperty("safety");
    const { id: off } = await create(prefix, { safety: { policy: "none" } });
    expect(await get(off)).not.toHaveProperty("safety");
    const { id: absent } = await create(prefix, { safety: null });
    expect(await get(absent)).not.toHaveProperty("safety");
  });

  it("beyond 1.2 a rollout freezes its policy with every default in place", async () => {
    const { prefix } = await fleet(1);
    const { id } = await create(prefix, { safety: { proof: {} } });
    expect((await get(id)).safety).toEqual({ proof: proofDefaults, skip: "assigned" });
  });

  it.each([
    ["assigned", [false, false, true]],
    ["installed", [true, false, true]],
  ])("beyond 1.1 with skip %s a rollout passes over those that have the set so", async (skip, gets) => {
    const { prefix, ids } = await fleet(3);
    const [assigned = "", installed = ""] = ids;
    const set = await build.set();
    await build.assign(set.id, assigned);
    await device(installed).feedback(await build.assign(set.id, installed), report("closed", "success"));
    const { id } = await running(prefix, { distributionSetId: set.id, safety: { skip, limits: { notFetchedSeconds: 3_600 } } });
    await groupsBecome(id, "running");
    const open = await Promise.all(ids.map(async (of) => (await actionOf(of, id)).active));
    expect(open).toEqual(gets);
  });

  it("beyond 1.18 a policy is named, overridden member by member, and edited without effect on the rollout", async () => {
    const { prefix } = await fleet(1);
    const policy = await policies.create({ safety: { proof: { watchHours: 5 }, limits: { installingSeconds: 60 } } });
    const safety = { policy: policy.name.toUpperCase(), proof: { stable: { polls: 9 } }, retry: { max: 2 } };
    const { id } = await create(prefix, { safety });
    const frozen = (await get(id)).safety;
    expect(frozen).toMatchObject({
      policy: safety.policy,
      proof: { ...proofDefaults, watchHours: 5, stable: { polls: 9, minutes: 0 } },
      limits: { installingSeconds: 60, count: "error" },
      retry: { max: 2, delaySeconds: 600 },
    });
    await call(r.safetyPolicies.update, dialect, { ...policies.one(policy.id), body: { safety: { skip: "installed" } } });
    await call(r.safetyPolicies.delete, dialect, policies.one(policy.id));
    expect((await get(id)).safety).toEqual(frozen);
    expect(await refuse(prefix, { safety }, unknown)).toEqual(["safety.policy"]);
  });

  it.each([...outOfRange, ["policy", { policy: "p".repeat(65) }, constraint[1]] as const])(
    "beyond 1.1 safety.%s %j is refused by its name",
    async (path, safety, code) => {
      const { prefix } = await fleet(1);
      expect(await refuse(prefix, { safety }, [400, code])).toEqual([`safety.${path}`]);
    },
  );

  it("beyond 1.26 what is only downloaded cannot be proven, but may have limits", async () => {
    const { prefix } = await fleet(1);
    expect(await refuse(prefix, { type: "downloadonly", safety: { proof: {} } }, constraint)).toEqual(["safety.proof"]);
    await create(prefix, { type: "downloadonly", safety: { limits: { downloadingSeconds: 60 } } });
  });

  it("beyond 1.16 targets without evidence fall back, or are counted and refused", async () => {
    const set = await build.set();
    const setType = (set as unknown as { type: string }).type;
    const { json } = await call<{ content: { id: number }[] }>(r.distributionSetTypes.list, dialect, { query: { q: `key==${setType}` } });
    const compatible = [json.content[0]?.id as number];
    const rule = (equals: string) => ({ evidence: [{ attribute: "sw", equals }] });
    const lacking = await types.targetType(compatible, rule(`\${module.no-such.version}`));
    const proving = await types.targetType(compatible, rule(`\${set.version}`));
    const prefix = unique("evidence");
    const typed = (n: number, targetType: number) => ({ controllerId: `${prefix}-${n}`, targetType });
    await build.targets(typed(1, lacking.id), typed(2, lacking.id), typed(3, proving.id));
    const refusing = { proof: { fallback: "refuse" } };
    const distributionSetId = set.id;
    expect(await refuse(prefix, { distributionSetId, safety: refusing }, constraint)).toEqual(["safety.proof.fallback"]);
    const { message } = (
      await refused(r.rollouts.create, dialect, { body: await body(prefix, { distributionSetId, safety: refusing }) }, constraint)
    ).json;
    expect(message).toContain("2 targets");
    await create(prefix, { distributionSetId, safety: { proof: {} } });
    await create(`${prefix}-3`, { distributionSetId, safety: refusing });

    const long = await types.targetType(compatible, rule(`${"x".repeat(128)}\${set.version}`));
    await build.targets(typed(4, long.id));
    const path = `targettypes.${long.id}.evidence.0.equals`;
    expect(await refuse(prefix, { distributionSetId, safety: { proof: {} } }, constraint)).toEqual([path]);
    // no target of that type is reached
    await create(`${prefix}-3`, { distributionSetId, safety: { proof: {} } });
  });

  it("beyond 1.1 an auto-assignment freezes its policy, by a filter and by itself", async () => {
    const { prefix } = await fleet(1);
    const set = await build.set();
    const query = `controllerid==${prefix}*`;
    const { json: filter } = await call<TargetFilterView>(r.targetFilters.create, dialect, { body: { name: unique("filter"), query } });
    const at = { params: { filterId: filter.id } };
    const assign = (safety?: object, more: object = {}) => ({ ...at, body: { id: set.id, safety, ...more } });
    const { json: shown } = await call<TargetFilterView>(r.targetFilters.setAutoAssign, dialect, assign({ proof: {} }));
    expect(shown.autoAssignSafety).toEqual({ proof: proofDefaults, skip: "assigned" });
    const bad = assign({ policy: unique("nobody") });
    expect(pathsOf((await refused(r.targetFilters.setAutoAssign, dialect, bad, unknown)).json)).toEqual(["safety.policy"]);
    const only = await refused(r.targetFilters.setAutoAssign, dialect, assign({ proof: {} }, { type: "downloadonly" }), constraint);
    expect(pathsOf(only.json)).toEqual(["safety.proof"]);
    expect((await call<TargetFilterView>(r.targetFilters.get, dialect, at)).json.autoAssignSafety).toEqual(shown.autoAssignSafety);
    const { json: plain } = await call<TargetFilterView>(r.targetFilters.setAutoAssign, dialect, assign());
    expect(plain).not.toHaveProperty("autoAssignSafety");

    const name = unique("auto");
    const whole = { name, targetFilterQuery: query, distributionSetId: set.id };
    const contradicting = { ...whole, safety: { limits: { installingSeconds: 61, giveUpSeconds: 60 } } };
    const no = await refused(r.autoAssignments.create, dialect, { body: contradicting }, constraint);
    expect(pathsOf(no.json)).toEqual(["safety.limits.giveUpSeconds"]);
    const { json: auto } = await call<AutoAssignmentView>(r.autoAssignments.create, dialect, {
      body: { ...whole, safety: { retry: { max: 1 } } },
    });
    expect(auto.safety).toMatchObject({ retry: { max: 1, waitingCounts: "running" } });
    await call(r.autoAssignments.delete, dialect, { params: { autoAssignmentId: auto.id } });
    await call(r.targetFilters.delete, dialect, at);
  });

  it("beyond 1.1 a retry has the policy of the rollout that it retries", async () => {
    const { prefix, ids } = await fleet(2);
    const safety = { limits: { installingSeconds: 3_600 } };
    const { id } = await rollouts.running(prefix, { errorCondition: { expression: "100" }, safety });
    await rollouts.reportAll(id, ids, "closed", "failure");
    await rollouts.become(id, "finished");
    const { json } = await call<RolloutView>(r.rollouts.retry, dialect, { params: { rolloutId: id } });
    expect(json.safety).toEqual((await get(id)).safety);
  });
});
