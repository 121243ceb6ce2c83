import { type FrozenSafety, type Safety, safetyBody } from "@harrier/contracts";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { parseTargetFilter } from "../matching/matching.ts";
import { createFixture, type Fixture, setIds, typeIds } from "../testing/database.fixture.ts";
import { planSafety } from "./plan-safety.ts";
import { resolveSafety } from "./resolve.ts";

let fixture: Fixture;
const setId = setIds.complete;

beforeAll(async () => {
  fixture = await createFixture();
  await fixture.addTargets("plain", 3);
  await fixture.addTargets("typed", 2, { typeId: typeIds.compatible });
  await fixture.sql(
    `insert into management.software_module_types (tenant_id, id, key, name, max_assignments, created_by, last_modified_by)
       values (1, 401, 'os', 'OS', 1, 'x', 'x');
     insert into management.software_modules (tenant_id, id, type_id, name, version, created_by, last_modified_by)
       values (1, 501, 401, 'linux', '6.1', 'x', 'x');
     insert into management.set_modules (tenant_id, set_id, module_id, position) values (1, ${setId}, 501, 0);
     insert into management.set_metadata (tenant_id, set_id, key, value) values (1, ${setId}, 'board', 'imx8'), (1, ${setId}, 'empty', null);
     insert into management.module_metadata (tenant_id, module_id, key, value) values (1, 501, 'build', 'b7');
     insert into management.safety_policies (tenant_id, id, name, safety, created_by, last_modified_by)
       values (1, 1, 'Careful', '{"proof": {"watchHours": 4}}', 'x', 'x')`,
  );
});
afterAll(() => fixture?.drop());
beforeEach(async () => {
  await fixture.sql("delete from management.settings; update management.target_types set evidence = '[]'");
});

const setRules = (id: number, ...equals: string[]) =>
  fixture.sql("update management.target_types set evidence = $2 where id = $1", [id, JSON.stringify(rulesOf(equals))]);
const rulesOf = (equals: string[]) => equals.map((text) => ({ attribute: "sw", equals: text, match: "exact" }));
const setDefault = (...equals: string[]) =>
  fixture.sql(
    `insert into management.settings (tenant_id, key, value, created_by, last_modified_by)
       values (1, 'evidence.default', to_jsonb($1::text), 'x', 'x')`,
    [JSON.stringify(rulesOf(equals))],
  );

const plan = (given: Safety | undefined, over: { byDefault?: string; filter?: string; type?: "forced" | "downloadonly" } = {}) => {
  const selection = {
    tenantId: 1,
    setTypeId: 301,
    targetTypes: null,
    filter: parseTargetFilter(over.filter ?? "id==*"),
    now: Date.now(),
    macros: {},
  };
  const request = { tenantId: 1, setId, given, byDefault: over.byDefault ?? "", forceType: over.type ?? "forced", selection } as const;
  return planSafety(fixture.create.db.pool, request);
};
const frozenOf = async (given: unknown): Promise<FrozenSafety> => {
  const frozen = await plan(safetyBody.parse(given));
  if (!frozen) throw new Error("nothing is watched");
  return frozen;
};
const resolved = async (given: unknown) => {
  const { safety, safetyOfTypes } = await resolveSafety(fixture.create.db.pool, { tenantId: 1, setId, frozen: await frozenOf(given) });
  const proofOf = (text: string | undefined) => JSON.parse(text ?? "{}").proof;
  return { proof: proofOf(safety), types: safetyOfTypes.map(({ targetTypes, safety: text }) => [targetTypes, proofOf(text)]) };
};

describe("which policy is frozen", () => {
  test("none was sent and none is the default", async () => {
    expect(await plan(undefined)).toBeNull();
  });

  test("beyond 1.30 the default applies where none was sent, and the name none beats it", async () => {
    expect(await plan(undefined, { byDefault: "careful" })).toMatchObject({ policy: "careful", proof: { watchHours: 4 } });
    expect(await plan({ policy: "none" }, { byDefault: "careful" })).toBeNull();
    expect(await plan({ limits: { installingSeconds: 60 } }, { byDefault: "careful" })).toEqual({
      limits: { installingSeconds: 60, count: "error" },
      skip: "assigned",
    });
  });

  test("a default proves nothing of what is only downloaded, a policy that was sent is refused", async () => {
    expect(await plan(undefined, { byDefault: "careful", type: "downloadonly" })).toBeNull();
    await expect(plan({ policy: "careful" }, { type: "downloadonly" })).rejects.toMatchObject({ code: "constraintViolation" });
  });

  test.each([
    [{ policy: "nobody" }, ""],
    [undefined, "nobody"],
  ])("an unknown policy is not found: %o, by default %j", async (given, byDefault) => {
    await expect(plan(given, { byDefault })).rejects.toMatchObject({ code: "entityNotFound" });
  });
});

describe("evidence depends on the type of the target", () => {
  test("beyond 1.16 without a rule, and with one that drops out, the device must be alive", async () => {
    await setRules(typeIds.compatible, `\${module.app.version}`, `\${set.metadata.empty}`);
    expect(await resolved({ proof: {} })).toMatchObject({ proof: { require: "alive", expected: [] }, types: [] });
  });

  test("values are those of the set, its modules and their metadata", async () => {
    await setRules(
      typeIds.compatible,
      `\${set.name}-\${set.version}`,
      `\${module.os.version}/\${set.metadata.board}/\${module.os.metadata.build}`,
    );
    await setDefault("1");
    const expected = (...values: string[]) => ({
      require: "version",
      expected: values.map((value) => ({ key: "sw", value, match: "exact" })),
    });
    expect(await resolved({ proof: {} })).toMatchObject({
      proof: { require: "alive" },
      types: [
        [[0], expected("1")],
        [[typeIds.compatible], expected("set-1", "6.1/imx8/b7")],
      ],
    });
  });

  test("types of the same evidence have one policy, and a policy that asks for life alone reads none", async () => {
    await setRules(typeIds.compatible, "1");
    await setRules(typeIds.incompatible, "1");
    expect((await resolved({ proof: {} })).types).toMatchObject([[[typeIds.compatible, typeIds.incompatible], { require: "version" }]]);
    expect((await resolved({ proof: { require: "alive" } })).types).toEqual([]);
  });

  test("beyond 1.17 a rule that changes concerns what starts later", async () => {
    const frozen = await frozenOf({ proof: {} });
    const now = () => resolveSafety(fixture.create.db.pool, { tenantId: 1, setId, frozen });
    await setRules(typeIds.compatible, "1");
    const before = await now();
    await setRules(typeIds.compatible, "2");
    expect(await now()).not.toEqual(before);
  });

  test("targets without evidence are counted where that is refused", async () => {
    const refuse = { proof: { fallback: "refuse" as const } };
    await setRules(typeIds.compatible, "1");
    await expect(plan(refuse)).rejects.toMatchObject({ code: "constraintViolation", message: expect.stringContaining("3 targets") });
    expect(await plan(refuse, { filter: "name==typed*" })).toMatchObject(refuse);
    await setDefault("1");
    expect(await plan(refuse)).toMatchObject(refuse);
  });
});

test("without a policy nothing is read", async () => {
  expect(await resolveSafety({} as never, { tenantId: 1, setId, frozen: null })).toEqual({ safetyOfTypes: [] });
});
