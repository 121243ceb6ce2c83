import { databaseBefore, type OlderDatabase } from "@harrier/testkit";
import { afterEach, expect, test } from "vitest";
import { monthlyStorage } from "./insights.ts";

let older: OlderDatabase | undefined;
afterEach(() => older?.drop());

const now = Date.UTC(2026, 10, 26);

/** A tenant of an older release, with modules 1 and 2, of which 2 is deleted. */
const arrange = `
  insert into tenants (tenant_id, name, default_set_type_id, created_at) values (1, 'OLD', 1, '2026-03-10'), (2, 'OTHER', 1, '2026-03-10');
  insert into software_module_types (tenant_id, id, key, name, max_assignments, created_by, last_modified_by)
    select t, 1, 'os', 'OS', 1, 'x', 'x' from generate_series(1, 2) t;
  insert into software_modules (tenant_id, id, type_id, name, version, deleted, created_by, last_modified_by)
    select t, id, 1, 'm' || id, '1', id = 2, 'x', 'x' from generate_series(1, 2) t, generate_series(1, 2) id;`;

const addArtifact = `insert into artifacts (tenant_id, id, module_id, filename, size, sha1, md5, sha256, created_by, last_modified_by, created_at)
  values ($1, $2::bigint, $3, 'f' || $2::bigint, $4, '', '', '', 'x', 'x', $5)`;

test("management 10.6 of the months before storage was recorded, the artifacts that are still there are known", async () => {
  older = await databaseBefore("management", "0011_artifact_storage_past.sql");
  const { db, catchUp } = older;
  await db.pool.query(arrange);
  await db.pool.query("delete from artifact_storage_months");
  // it was recorded since September, and grew in October
  const record = "insert into artifact_storage_months (tenant_id, month, bytes) values ($1, $2, $3)";
  for (const values of [
    [1, "2026-09-01", 1111],
    [1, "2026-10-01", 2222],
    [2, "2026-09-01", 0],
  ])
    await db.pool.query(record, values);
  for (const values of [
    [1, 1, 1, 10, "2026-04-30T23:59:59Z"],
    [1, 2, 1, 100, "2026-05-01T00:00:00Z"],
    [1, 3, 1, 1000, "2026-07-31T23:59:59Z"],
    [1, 4, 2, 50_000, "2026-05-02T00:00:00Z"], // of a module that is deleted: it counts no longer
    [1, 5, 1, 70_000, "2026-09-01T00:00:00Z"], // of a month that was recorded
  ])
    await db.pool.query(addArtifact, values);
  await catchUp();
  const figures = await monthlyStorage({ db, now: () => now }, 1, { startMonth: "2026-02" });
  expect(figures).toEqual([
    { month: "2026-02", coverage: "none" },
    { month: "2026-03", coverage: "none" },
    { month: "2026-04", coverage: "partial", value: 10 },
    { month: "2026-05", coverage: "partial", value: 110 },
    { month: "2026-06", coverage: "partial", value: 110 },
    { month: "2026-07", coverage: "partial", value: 1110 },
    { month: "2026-08", coverage: "partial", value: 1110 },
    { month: "2026-09", coverage: "full", value: 1111 },
    { month: "2026-10", coverage: "full", value: 2222 },
    { month: "2026-11", coverage: "full", value: 2222 },
  ]);
  const others = await monthlyStorage({ db, now: () => now }, 2, { startMonth: "2026-08" });
  expect(others.map(({ coverage, value }) => [coverage, value])).toEqual([
    ["none", undefined],
    ["full", 0],
    ["full", 0],
    ["full", 0],
  ]);
});
