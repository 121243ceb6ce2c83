import { withClient } from "@harrier/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";
import { entriesInScope, suggest, suggestInScope } from "./target-suggestions.sql.ts";
import { suggestValues } from "./target-suggestions.ts";

let fixture: Fixture;
const targets = 30_000;

/** Types alternate; there are 3 values of HW, one of them only of the odd targets, and as many serial numbers as targets. */
beforeAll(async () => {
  fixture = await managementFixture();
  await withClient(fixture.database.adminUrl, async (admin) => {
    await admin.query("set search_path = controller");
    await admin.query(
      `insert into targets (tenant_id, id, controller_id, name, token_digest, token_cipher, target_type_id, target_group, created_by, last_modified_by)
       select 1, n, 'Dev-' || n, 'Name', '', '', 1 + n % 2, case when n % 3 = 0 then 'EU/' || n % 9 end, 'test', 'test' from generate_series(1, $1::int) n`,
      [targets],
    );
    await admin.query("insert into target_state (tenant_id, target_id) select 1, n from generate_series(1, $1::int) n", [targets]);
    await admin.query(
      `insert into target_attributes (tenant_id, target_id, key, value)
       select 1, n, k.key, k.value from generate_series(1, $1::int) n,
         lateral (values ('HW', case when n % 2 = 1 then 'Rev%B' when n % 4 = 0 then 'rev-a' else 'Rev-C' end), ('serial', 'S' || n)) k (key, value)`,
      [targets],
    );
    await admin.query(
      `insert into target_metadata (tenant_id, target_id, key, value)
       values (1, 1, 'Site', 'Kiel'), (1, 2, 'site', 'kiel'), (1, 3, 'note', repeat('x', 300)), (1, 4, 'note', 'x')`,
    );
    for (const table of ["targets", "target_attributes", "target_metadata"]) await admin.query(`analyze ${table}`);
  });
});
afterAll(() => fixture.close());

const reader = { tenantId: 1, permissions: ["READ_TARGET"] };
type Field = Parameters<typeof suggestValues>[2]["field"];
const ask = (field: Field, prefix = "", { limit = 20, caller = reader as Parameters<typeof suggestValues>[1] } = {}) =>
  suggestValues(fixture, caller, { field, prefix, limit });
const scoped = (...ids: number[]) => ({ caller: { ...reader, targetTypeScopes: { READ_TARGET: ids } } });

describe("suggestions", () => {
  test("each value is there once, whatever case it is written in, in one round trip", async () => {
    let found: Awaited<ReturnType<typeof ask>> | undefined;
    const roundTrips = await fixture.roundTrips.during(async () => {
      found = await ask("attribute.hw", "REV");
    });
    expect([roundTrips, found]).toEqual([1, { values: ["Rev%B", "rev-a", "Rev-C"], more: false }]);
    expect((await ask("metadata.SITE")).values).toEqual([expect.stringMatching(/^kiel$/i)]);
    expect(await ask("name", "n")).toEqual({ values: ["Name"], more: false });
    expect((await ask("group", "eu/")).values).toEqual(["EU/0", "EU/3", "EU/6"]);
  });

  test("keys are suggested as values are", async () => {
    expect(await ask("attribute")).toEqual({ values: ["HW", "serial"], more: false });
    expect((await ask("attribute", "h")).values).toEqual(["HW"]);
    expect((await ask("metadata", "N")).values).toEqual(["note"]);
    expect((await ask("metadata", "z")).values).toEqual([]);
  });

  test("more than the limit are announced and not answered", async () => {
    expect(await ask("controllerid", "dev-1999", { limit: 3 })).toEqual({ values: ["Dev-1999", "Dev-19990", "Dev-19991"], more: true });
    expect((await ask("controllerid", "dev-19999")).more).toBe(false);
    expect(await ask("attribute.HW", "", { limit: 3 })).toMatchObject({ more: false });
  });

  test("wildcards of patterns are characters like others; long metadata is no suggestion", async () => {
    for (const prefix of ["%", "rev_", "r%", "\\"]) expect((await ask("attribute.hw", prefix)).values, prefix).toEqual([]);
    expect((await ask("attribute.hw", "rev%")).values).toEqual(["Rev%B"]);
    expect((await ask("metadata.note", "x")).values).toEqual(["x"]);
  });

  test("a restriction to target types hides what only others have", async () => {
    expect((await ask("attribute.hw", "rev-", scoped(1))).values).toEqual(["rev-a", "Rev-C"]);
    expect((await ask("attribute.hw", "rev-", scoped(2))).values).toEqual([]);
    expect((await ask("group", "eu/0", scoped(1, 2))).values).toEqual(["EU/0"]);
    for (const field of ["controllerid", "attribute", "metadata", "attribute.hw"] as const)
      expect((await ask(field, "", scoped())).values, field).toEqual([]);
    expect((await ask("controllerid", "dev", { caller: { ...reader, tenantId: 2 } })).values).toEqual([]);
  });

  test("of a restricted user's range the first entries are looked at, and what is beyond is announced", async () => {
    expect(await ask("attribute.serial", "s1", scoped(3))).toEqual({ values: [], more: false });
    expect(targets).toBeGreaterThan(entriesInScope);
    expect(await ask("attribute.hw", "", scoped(1))).toEqual({ values: ["rev-a"], more: true });
    expect(await ask("attribute.serial", "s", scoped(3))).toEqual({ values: [], more: true });
  });
});

test("the indexes are read once per value, however many targets have it", async () => {
  for (const [kind, prefix, key] of [
    ["attributeValues", "", "hw"],
    ["attributeKeys", "", null],
    ["controllerid", "dev-1", null],
    ["group", "", null],
    ["metadataValues", "k", "site"],
  ] as const) {
    const rows = await fixture.rows(`explain (analyze, costs off, timing off, summary off) ${suggest[kind].text}`, [
      1,
      prefix,
      key,
      5,
      null,
    ]);
    const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
    expect(plan, kind).not.toContain("Seq Scan on targets");
    expect(plan, kind).not.toContain("Seq Scan on target_attributes");
    for (const [, read] of plan.matchAll(/Scan[^\n]* on target\w* [^\n]*\(actual rows=(\d+)/g)) expect(Number(read), plan).toBeLessThan(10);
  }
  const scopedPlan = (
    await fixture.rows(`explain (analyze, costs off, timing off, summary off) ${suggestInScope.attributeValues.text}`, [
      1,
      "",
      "serial",
      5,
      [1],
    ])
  ).map((row) => row["QUERY PLAN"]);
  expect(scopedPlan.join("\n")).toContain(`Limit (actual rows=${entriesInScope}`);
});
