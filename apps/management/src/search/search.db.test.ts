import { withClient } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";
import { findEntities } from "./search.sql.ts";
import { searchEntities } from "./search.ts";

let fixture: Fixture;
const targets = 20_000;

beforeAll(async () => {
  fixture = await managementFixture();
  await withClient(fixture.database.adminUrl, async (admin) => {
    await admin.query(
      `insert into controller.targets (tenant_id, id, controller_id, name, token_digest, token_cipher, target_type_id, created_by, last_modified_by)
       select 1, n, 'Dev-' || n, 'Name of ' || n, '', '', 1 + n % 2, 'test', 'test' from generate_series(1, $1::int) n`,
      [targets],
    );
    await admin.query(
      `insert into management.distribution_set_tags (tenant_id, id, name, created_by, last_modified_by)
       select 1, n, 'tag%' || n, 'test', 'test' from generate_series(1, 500) n`,
    );
    for (const table of ["controller.targets", "management.distribution_set_tags"]) await admin.query(`analyze ${table}`);
  });
});
afterAll(() => fixture.close());

const reader = { tenantId: 1, permissions: ["READ_TARGET", "READ_REPOSITORY", "READ_ROLLOUT"] };
const find = (text: string, limit = 5, caller: Parameters<typeof searchEntities>[1] = reader) =>
  searchEntities(fixture, caller, { text, limit });

test("a search finds the beginnings of names and controllerIds in any case, in one round trip", async () => {
  let found: Awaited<ReturnType<typeof find>> = {};
  const roundTrips = await fixture.roundTrips.during(async () => {
    found = await find("dEV-1999");
  });
  expect(roundTrips).toBe(1);
  expect(found.targets?.map(({ controllerId }) => controllerId)).toEqual(["Dev-1999", "Dev-19990", "Dev-19991", "Dev-19992", "Dev-19993"]);
  expect((await find("name of 20000")).targets).toEqual([{ controllerId: "Dev-20000", name: "Name of 20000" }]);
  expect((await find("ame of")).targets).toEqual([]);
});

test("wildcards of patterns are characters like others", async () => {
  expect((await find("tag%50")).distributionSetTags?.map(({ name }) => name)).toEqual(["tag%50", "tag%500"]);
  for (const text of ["%", "tag_", "t%", "\\"]) expect((await find(text)).distributionSetTags, text).toEqual([]);
});

test("kinds that the caller may not read are absent, and a restriction to target types counts", async () => {
  expect(await find("dev", 5, { tenantId: 1, permissions: ["API_KEY"] })).toEqual({});
  expect(Object.keys(await find("dev", 5, { tenantId: 1, permissions: ["READ_ROLLOUT"] }))).toEqual(["rollouts"]);
  const scoped = (ids: number[]) => find("dev-1", 20, { ...reader, targetTypeScopes: { READ_TARGET: ids } });
  const odd = (await scoped([2])).targets?.map(({ controllerId }) => Number(controllerId.slice(4)) % 2);
  expect(odd).toEqual(Array.from({ length: 20 }, () => 1));
  expect((await scoped([])).targets).toEqual([]);
  expect((await find("dev", 5, { ...reader, tenantId: 2 })).targets).toEqual([]);
});

test("each kind is read by its index, and no further than the limit", async () => {
  const kinds = ["targets", "distributionSets", "softwareModules", "rollouts", "targetFilters", "targetTags", "distributionSetTags"];
  const rows = await fixture.rows(`explain (analyze, costs off, timing off) ${findEntities.text}`, [1, "dev", kinds, 5, null]);
  const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
  expect(plan).toMatch(/Index Scan using targets_controller_id_folded on targets \S+ \(actual rows=5\b/);
  expect(plan).toContain("Index Scan using targets_name on targets");
  expect(plan).not.toContain("Seq Scan on targets");
  expect(plan).not.toContain("Seq Scan on distribution_set_tags");
});
