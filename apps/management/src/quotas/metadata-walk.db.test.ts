import { runOne } from "@harrier/db";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type HttpFixture, httpFixture } from "../testing/http.fixture.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";
import { walkTargetMetadata } from "./metadata-walk.sql.ts";

let fixture: Fixture;
let http: HttpFixture;
beforeAll(async () => {
  fixture = await managementFixture();
  http = await httpFixture(fixture);
  for (const name of ["a", "b", "c", "d"]) await fixture.addTarget(name);
});
afterAll(async () => {
  await http.close();
  await fixture.close();
});
beforeEach(async () => {
  await fixture.asController("delete from target_metadata");
  await fixture.rows("delete from target_metadata_usage");
});

const used = async () => (await http.call("GET", "/rest/v1/system/quotas/METADATA_PER_TARGET_MAX_COUNT")).body.used;
const walk = async (max = 1_000) => (await runOne(fixture.db.pool, walkTargetMetadata, [max]))?.scanned;
const due = () => fixture.rows("update target_metadata_usage set due_at = now()");
const entries = (controllerId: string, n: number) =>
  fixture.asController(
    "insert into target_metadata (tenant_id, target_id, key, value) select 1, t.id, 'k' || i, 'v' from targets t, generate_series(1, $2::int) i where t.controller_id = $1",
    [controllerId, n],
  );

test("the highest number of any target is found in steps that split targets, and falls when that target is deleted", async () => {
  for (const [id, n] of [
    ["a", 3],
    ["b", 7],
    ["c", 2],
    ["d", 4],
  ] as const)
    await entries(id, n);
  expect(await used()).toBe(0);
  // The first step reads a and some of b, which is then counted whole; the second reads c and some of d; then nothing is left.
  for (const scanned of [5, 5, 0]) {
    expect(await walk(5)).toBe(scanned);
    expect(await used()).toBe(7);
  }
  await fixture.asController("delete from target_metadata m using targets t where t.id = m.target_id and t.controller_id = 'b'");
  expect(await walk()).toBe(0);
  await due();
  expect(await walk()).toBe(9);
  expect(await used()).toBe(4);
});

test("a step that exceeds the last scan counts at once, and without metadata the usage is 0", async () => {
  await entries("a", 2);
  await walk();
  await fixture.asController(
    "insert into target_metadata select 1, id, 'x' || i, 'v' from targets, generate_series(1, 6) i where controller_id = 'a'",
  );
  await due();
  expect(await walk(3)).toBe(3);
  expect(await used()).toBe(8);
  await fixture.asController("delete from target_metadata");
  for (let n = 0; n < 2; n += 1) {
    await due();
    await walk();
  }
  expect(await used()).toBe(0);
});

test("only one of several replicas scans, and a tenant that is being deleted is left alone", async () => {
  await entries("a", 1);
  const scanned = await Promise.all([walk(), walk(), walk()]);
  expect(scanned.filter((n) => n === 1)).toHaveLength(1);
  await fixture.rows("insert into tenants (tenant_id, name, default_set_type_id, status) values (7, 'GOING', 1, 'deleting')");
  await walk();
  expect(await fixture.rows("select tenant_id from target_metadata_usage")).toEqual([{ tenant_id: 1 }]);
});
