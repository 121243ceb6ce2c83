import { afterAll, beforeAll, beforeEach } from "vitest";
import { query, resetSwitches, type System, startSystem } from "../domain/system.fixture.ts";

export let system: System;

/** Queries as controller's role. */
export const sql = <Row extends object>(text: string, values: unknown[] = []) => query<Row>(system, text, values);
export const deps = () => ({ background: { pool: system.fixture.db.pool }, now: Date.now });

/** Gives a file of tests a database of its own; before each test nothing is folded or found, and the counting began at a moment. */
export function useInsights(): void {
  beforeAll(async () => {
    system = await startSystem();
  });
  afterAll(() => system.fixture.close());
  beforeEach(async () => {
    await resetSwitches(system);
    for (const table of ["actions", "outbox", "monthly_counts", "fleet_counts", "fleet_walks", "fleet_days", "fleet_day_walks"])
      await sql(`truncate ${table}`);
    await sql("delete from targets");
    await sql("truncate outbox");
    await sql(`update monthly_counts_folded set txid = '0', id = 0, began_at = '2025-01-01Z', found_all = true, found_target_tenant = -1,
                      found_target_id = -1, found_action_tenant = -1, found_action_id = -1`);
  });
}

/** Reads the fleet as it was counted. */
export const fleet = () =>
  sql("select kind, key::int, type_id::int, n::int from fleet_counts where tenant_id = 1 and n > 0 order by 1, 2, 3");

/** Counts the same from the targets themselves. */
export const fleetByHand = () =>
  sql(`select k.kind::int, k.key::int, coalesce(t.target_type_id, 0)::int as type_id, count(*)::int as n
         from target_state s join targets t on t.tenant_id = s.tenant_id and t.id = s.target_id
         left join target_polls p on p.tenant_id = s.tenant_id and p.target_id = s.target_id
        cross join lateral (values (0, s.update_status::bigint), (1, s.installed_set_id), (2, s.assigned_set_id),
                                   (3, case when p.last_poll_at < now() - interval '10 minutes' then 0 end)) k (kind, key)
        where s.tenant_id = 1 and k.key is not null group by 1, 2, 3 order by 1, 2, 3`);

/** Makes the count of every fleet due. */
export const due = () => sql("update fleet_walks set due_at = now()");
