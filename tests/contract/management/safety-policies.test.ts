import { routeTable as r, type SafetyPolicyView, type TargetTypeView } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { unique } from "../support/build.ts";
import { ask, call, dialects, refused } from "../support/call.ts";
import { workAs } from "../support/http.ts";
import { outOfRange, pathsOf, safetyPolicyBuilder } from "../support/safety-policies.ts";
import { makeTenant, tenantBuilder } from "../support/tenants.ts";
import { typeBuilder } from "../support/types.ts";

describe.each(dialects)("safety policies, %s", (dialect) => {
  const build = safetyPolicyBuilder(dialect);
  const types = typeBuilder(dialect);
  const { safetyPolicies, targetTypes } = r;
  const constraint = [400, "repo.constraintViolation"] as const;

  it("beyond 1.1 a policy is created, read, changed and deleted; null members are absent", async () => {
    const made = await build.create({ safety: { proof: { watchHours: 2, graceSeconds: null }, limits: null } });
    expect(made.safety).toEqual({ proof: { watchHours: 2 } });
    const { json: changed } = await call<SafetyPolicyView>(safetyPolicies.update, dialect, {
      ...build.one(made.id),
      body: { description: "e", name: null },
    });
    expect(changed).toMatchObject({ name: made.name, description: "e", safety: made.safety });
    const { json: replaced } = await call<SafetyPolicyView>(safetyPolicies.update, dialect, {
      ...build.one(made.id),
      body: { safety: { skip: "installed" } },
    });
    expect(replaced.safety).toEqual({ skip: "installed" });
    expect((await call<SafetyPolicyView>(safetyPolicies.get, dialect, build.one(made.id))).json).toEqual(replaced);
    expect(await build.list()).toContainEqual(replaced);
    await call(safetyPolicies.delete, dialect, build.one(made.id));
    for (const route of [safetyPolicies.get, safetyPolicies.delete]) {
      await refused(route, dialect, build.one(made.id), [404, "repo.entityNotFound"]);
    }
    await refused(safetyPolicies.update, dialect, { ...build.one(made.id), body: {} }, [404, "repo.entityNotFound"]);
  });

  it("beyond 1.1 a name is taken in any case, and none is reserved", async () => {
    const { name } = await build.create();
    const body = build.body({ name: name.toUpperCase() });
    await refused(safetyPolicies.create, dialect, { body: [build.body(), body] }, [409, "repo.entityAlreadyExists"]);
    const { json } = await refused(safetyPolicies.create, dialect, { body: [build.body({ name: "None" })] }, constraint);
    expect(pathsOf(json)).toEqual(["0.name"]);
    const { id } = await build.create();
    await refused(safetyPolicies.update, dialect, { ...build.one(id), body: { name: "none" } }, constraint);
    await refused(safetyPolicies.update, dialect, { ...build.one(id), body: { name } }, [409, "repo.entityAlreadyExists"]);
  });

  it("beyond 1.1 the policy of the setting safety.default exists, and cannot go while the setting names it", async () => {
    const { configs } = r;
    const setting = (value: string) => ({ params: { key: "safety.default" }, body: { value } });
    const own = await makeTenant(dialect, 0);
    workAs(own);
    try {
      await refused(configs.put, dialect, setting(unique("nobody")), [400, "configValueInvalid"]);
      await call(configs.put, dialect, setting("None"));
      const { id, name } = await build.create();
      await call(configs.put, dialect, setting(name.toUpperCase()));
      const inUse = [409, "safetyPolicy.isDefault"] as const;
      await refused(safetyPolicies.delete, dialect, build.one(id), inUse);
      await refused(safetyPolicies.update, dialect, { ...build.one(id), body: { name: unique() } }, inUse);
      await call(safetyPolicies.update, dialect, { ...build.one(id), body: { name: name.toUpperCase(), safety: { proof: {} } } });
      await call(configs.put, dialect, setting(""));
      await call(safetyPolicies.update, dialect, { ...build.one(id), body: { name: unique() } });
      await call(safetyPolicies.delete, dialect, build.one(id));
    } finally {
      workAs();
      await tenantBuilder(dialect).remove(own.tenant);
    }
  });

  it.each(outOfRange)("beyond 1.1 safety.%s %j is refused by its name, and nothing is stored", async (path, safety, code) => {
    const refusal = [400, code] as const;
    const name = unique("bad");
    const { json } = await refused(safetyPolicies.create, dialect, { body: [build.body(), build.body({ name, safety })] }, refusal);
    expect(pathsOf(json)).toEqual([`1.safety.${path}`]);
    expect((await build.list()).map((policy) => policy.name)).not.toContain(name);
    const made = await build.create();
    const change = await refused(safetyPolicies.update, dialect, { ...build.one(made.id), body: { safety } }, refusal);
    expect(pathsOf(change.json)).toEqual([`safety.${path}`]);
    expect((await call<SafetyPolicyView>(safetyPolicies.get, dialect, build.one(made.id))).json).toEqual(made);
  });

  it("beyond 1.1 a policy needs its safety, and more than a hundred at once are refused", async () => {
    expect((await ask(safetyPolicies.create, dialect, { body: [{ name: unique() }] })).status).toBe(400);
    const many = Array.from({ length: 101 }, () => build.body());
    await refused(safetyPolicies.create, dialect, { body: many }, [dialect === "spec" ? 403 : 429, "quota.tooManyEntries"]);
  });

  it("beyond 1.2 a target type has rules of evidence", async () => {
    const evidence = [
      { attribute: "sw_version", equals: `\${set.version}` },
      { attribute: "kernel", equals: `\${module.os.version}`, match: "prefix" },
    ];
    const plain = await types.targetType();
    expect(plain).not.toHaveProperty("evidence");
    const made = await types.targetType([], { evidence });
    expect(made.evidence).toEqual([{ ...evidence[0], match: "exact" }, evidence[1]]);
    const at = { params: { targetTypeId: made.id } };
    const { json: renamed } = await call<TargetTypeView>(targetTypes.update, dialect, { ...at, body: { description: "d" } });
    expect(renamed.evidence).toEqual(made.evidence);
    const { json: cleared } = await call<TargetTypeView>(targetTypes.update, dialect, { ...at, body: { evidence: [] } });
    expect(cleared).not.toHaveProperty("evidence");
  });

  it.each<[path: string, rule: object]>([
    ["equals", { attribute: "a", equals: `\${set.id}` }],
    ["equals", { attribute: "a", equals: `\${module.os}` }],
    ["equals", { attribute: "a", equals: "" }],
    ["equals", { attribute: "a", equals: "e".repeat(513) }],
    ["attribute", { attribute: "a".repeat(129), equals: "e" }],
  ])("beyond 1.2 a rule with a bad %s is refused", async (path, rule) => {
    const body = { name: unique(), evidence: [rule] };
    const { json } = await refused(targetTypes.create, dialect, { body: [body] }, constraint);
    expect(pathsOf(json)).toEqual([`0.evidence.0.${path}`]);
    const made = await types.targetType();
    const nine = Array.from({ length: 9 }, () => ({ attribute: "a", equals: "e" }));
    await refused(targetTypes.update, dialect, { params: { targetTypeId: made.id }, body: { evidence: nine } }, constraint);
  });
});
