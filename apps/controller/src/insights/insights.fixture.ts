import { runOne } from "@harrier/db";
import { afterAll, beforeAll, beforeEach, vi } from "vitest";
import { query, resetSwitches, type System, startSystem } from "../domain/system.fixture.ts";
import { foldMonthlyCounts } from "./insights.sql.ts";

export let system: System;

/** Queries as controller's role. */
export const sql = <Row extends object>(text: string, values: unknown[] = []) => query<Row>(system, text, values);
export const deps = () => ({ background: { pool: system.fixture.db.pool }, now: Date.now });

/** Gives a file of tests a database of its own; before each test nothing is folded, and the counting began at a moment. */
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
    await sql("update monthly_counts_folded set txid = '0', id = 0, began_at = '2025-01-01Z'");
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

export const unfolded = async (): Promise<number> =>
  (await sql("select from outbox o, monthly_counts_folded f where (o.txid, o.id) > (f.txid, f.id)")).length;

/** Folds until nothing is left: other databases of this server may have older transactions open for a moment. */
export async function foldAll(limit = 2_000): Promise<void> {
  const step = async () => {
    await runOne(system.fixture.db.pool, foldMonthlyCounts, [limit]);
    return (await unfolded()) === 0;
  };
  await vi.waitUntil(step, { timeout: 20_000, interval: 1 });
}

/** What a month has counted; targets that came and went, and actions that were created and ended. */
interface Month {
  month: string;
  created: number;
  finished: number;
  error: number;
  canceled: number;
  targets: number;
  gone: number;
}
type End = "finished" | "error" | "canceled";

/** Reads the months of the tenant in which something is counted. */
export const months = (): Promise<Month[]> =>
  sql<Month>(`select to_char(month, 'YYYY-MM') as month, actions_created::int as created, actions_finished::int as finished,
                     actions_error::int as error, actions_canceled::int as canceled, targets_created::int as targets, targets_deleted::int as gone
                from monthly_counts
               where tenant_id = 1 and (actions_created, actions_finished, actions_error, actions_canceled, targets_created, targets_deleted)
                                       <> (0, 0, 0, 0, 0, 0)
               order by month`);

/** Counts the same from every event there is, one by one: an action ends in the month of its last end, and in no other. */
export async function monthsByHand(): Promise<Month[]> {
  const events = await sql<{ month: string; type: string; items: unknown[][] }>(
    "select to_char(at at time zone 'UTC', 'YYYY-MM') as month, type, items from outbox order by txid, id",
  );
  const found = new Map<string, Month>();
  const of = (month: string): Month => {
    const counts = found.get(month) ?? { month, created: 0, finished: 0, error: 0, canceled: 0, targets: 0, gone: 0 };
    found.set(month, counts);
    return counts;
  };
  const endOf = (status: number, force: number): End | undefined =>
    status === 0 || (status === 10 && force === 3) ? "finished" : status === 1 ? "error" : status === 4 ? "canceled" : undefined;
  const ends = new Map<number, { month: string; as: End }>();
  for (const { month, type, items } of events) {
    const [, subject, what] = type.replace(/^io\.update/, "").split(".");
    if (subject === "target" && what === "created") of(month).targets += items.length;
    if (subject === "target" && what === "deleted") of(month).gone += items.length;
    if (subject !== "action") continue;
    if (what === "created") of(month).created += items.length;
    for (const item of items) {
      const [id, , , , status, , force] = item as [number, string, number, number | null, number, boolean, number];
      const as = endOf(status, force);
      if (as !== undefined && ends.get(id)?.as !== as) ends.set(id, { month, as });
    }
  }
  for (const { month, as } of ends.values()) of(month)[as] += 1;
  const something = ({ month: _month, ...counts }: Month) => Object.values(counts).some((n) => n > 0);
  return [...found.values()].filter(something).sort((a, b) => (a.month < b.month ? -1 : 1));
}
