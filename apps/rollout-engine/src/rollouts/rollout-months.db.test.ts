import { databaseBefore, type OlderDatabase } from "@harrier/testkit";
import { afterEach, expect, test } from "vitest";

let older: OlderDatabase | undefined;
afterEach(() => older?.drop());

const addRollout = `insert into rollouts (tenant_id, id, name, status, deleted, target_filter, set_id, set_name, set_version, set_type_id, migration_step,
    force_type, created_by, created_at, last_modified_by)
  values ($1, $2::bigint, 'r' || $2::bigint, 'finished', $3, 'name==*', 1, 's', '1', 1, false, 1, 'x', $4, 'x')`;

test("management 10.6 rollouts of the time before they were counted by month are found once, deleted ones that are still there among them", async () => {
  older = await databaseBefore("rollout-engine", "0002_insights.sql");
  const { db, catchUp } = older;
  for (const values of [
    [1, 1, false, "2026-04-30T23:59:59Z"],
    [1, 2, true, "2026-05-01T00:00:00Z"],
    [1, 3, false, "2026-05-31T23:59:59Z"],
    [2, 1, false, "2026-05-15T00:00:00Z"],
  ])
    await db.pool.query(addRollout, values);
  const before = Date.now();
  await catchUp();
  const { rows } = await db.pool.query(
    "select tenant_id, to_char(month, 'YYYY-MM') as month, created::int from rollout_months order by 1, 2",
  );
  expect(rows).toEqual([
    { tenant_id: 1, month: "2026-04", created: 1 },
    { tenant_id: 1, month: "2026-05", created: 2 },
    { tenant_id: 2, month: "2026-05", created: 1 },
  ]);
  // the counting begins with the migration: a start after it finds nothing more
  const start = await db.pool.query<{ began_at: Date }>("select began_at from rollout_months_start");
  expect(start.rows[0]?.began_at.getTime()).toBeGreaterThan(before - 60_000);
  await catchUp();
  expect((await db.pool.query("select sum(created)::int as n from rollout_months")).rows).toEqual([{ n: 4 }]);
});
