import { withClient } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HttpFixture, httpFixture } from "../testing/http.fixture.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";

// A year of any insight is answered within 20 ms, however large the fleet: what is read are counts, and these are as many as a fleet of a million has.

const budgetMs = 20;
let fixture: Fixture;
let http: HttpFixture;
beforeAll(async () => {
  fixture = await managementFixture();
  http = await httpFixture(fixture);
  const { tenantId } = fixture;
  await fixture.rows("update tenants set created_at = now() - interval '9 years' where tenant_id = $1", [tenantId]);
  await fixture.rows(
    `insert into distribution_sets (tenant_id, id, name, version, type_id, created_by, last_modified_by)
     select $1, 100000 + n, 'set ' || n, '1', t.id, 'x', 'x'
       from generate_series(1, 500) n, (select min(id) as id from distribution_set_types where tenant_id = $1) t`,
    [tenantId],
  );
  await fixture.asController(
    `insert into fleet_counts (tenant_id, kind, key, type_id, n)
     select $1, k, case k when 0 then s % 5 when 3 then 0 else 100000 + s end, t, s + t
       from generate_series(0, 3) k, generate_series(1, 500) s, generate_series(0, 9) t on conflict do nothing`,
    [tenantId],
  );
  const month = "date_trunc('month', now() - n * interval '1 month')::date";
  await fixture.asController(
    `insert into monthly_counts (tenant_id, month, targets_created, actions_created)
     select $1::int + t, ${month}, 9000, 90000 from generate_series(0, 119) n, generate_series(0, 50) t on conflict do nothing`,
    [tenantId],
  );
  await fixture.asRolloutEngine(
    `insert into rollout_months (tenant_id, month, created) select $1, ${month}, 20 from generate_series(0, 119) n on conflict do nothing`,
    [tenantId],
  );
  await fixture.asRolloutEngine(
    `insert into rollouts (tenant_id, id, name, status, target_filter, set_id, set_name, set_version, set_type_id, migration_step, force_type,
                           created_by, last_modified_by)
     select $1, 1000 + n, 'r' || n, 'finished', 'name==*', 1, 's', '1', 1, false, 1, 'x', 'x' from generate_series(1, 2400) n`,
    [tenantId],
  );
  await fixture.database.db("artifact-store").pool.query(
    `insert into data_traffic (tenant_id, month, slot, bytes)
     select $1, ${month}, s, 5 from generate_series(0, 119) n, generate_series(0, 7) s`,
    [tenantId],
  );
  // Statistics as autovacuum leaves them.
  await withClient(fixture.database.adminUrl, (admin) =>
    admin.query(
      `analyze controller.fleet_counts, controller.monthly_counts, rollout_engine.rollouts, rollout_engine.rollout_months,
               artifact_store.data_traffic, management.distribution_sets`,
    ),
  );
}, 120_000);
afterAll(async () => {
  await http?.close();
  await fixture?.close();
});

test.each([
  "data-traffic",
  "artifact-storage",
  "targets/current",
  "targets/monthly",
  "rollouts/current",
  "rollouts/monthly",
  "actions/monthly",
  "distributionsets/top-installed?top=500",
  "distributionsets/top-assigned",
])("management 10.6 %s", async (path) => {
  const times: number[] = [];
  for (let i = 0; i < 21; i++) {
    const began = performance.now();
    expect((await http.call("GET", `/rest/v1/insights/${path}`)).status).toBe(200);
    times.push(performance.now() - began);
  }
  const median = times.sort((a, b) => a - b)[10] as number;
  console.info(`${path}: ${median.toFixed(1)} ms`);
  expect(median).toBeLessThan(budgetMs);
});
