import type { PollTimes } from "@harrier/contracts";
import { statement } from "@harrier/db";

/**
 * Adds the next rows of the outbox to the monthly counts (functions/insights.sql), at most `limit` of them; answers too whether a fleet was due before,
 * so that an idle round is one round trip.
 */
export const foldMonthlyCounts = statement<[limit: number], { folded: number; due: boolean }>(
  "controller.fold_monthly_counts",
  "select fold_monthly_counts($1) as folded, exists (select from fleet_walks w where w.due_at <= now()) as due",
);

export interface DueFleet extends PollTimes {
  tenantId: number;
}

/** Reads the tenants whose fleets are due to be counted, with what decides which targets are overdue. */
export const dueFleets = statement<[limit: number], DueFleet>(
  "controller.due_fleets",
  `select w.tenant_id as "tenantId",
          (select s.value #>> '{}' from management.tenant_settings_v1 s where s.tenant_id = w.tenant_id and s.key = 'pollingTime')
            as "pollingTime",
          (select s.value #>> '{}' from management.tenant_settings_v1 s where s.tenant_id = w.tenant_id and s.key = 'pollingOverdueTime')
            as "pollingOverdueTime"
     from fleet_walks w where w.due_at <= now() order by w.due_at, w.tenant_id limit $1`,
);

/** Counts the next targets of these tenants, at most `limit`; a target that has polled before its tenant's moment is overdue. */
export const countFleets = statement<[tenantIds: readonly number[], overdue: readonly Date[], limit: number], { counted: number }>(
  "controller.count_fleets",
  "select count_fleets($1, $2, $3) as counted",
);

/** Tells whether every event older than this is folded into the monthly counts. */
export const eventsFoldedUntil = statement<[until: Date], { folded: boolean }>(
  "controller.events_folded_until",
  `select not exists (select from outbox o, monthly_counts_folded f where o.at < $1 and (o.txid, o.id) > (f.txid, f.id)) as folded`,
);
