import { statement } from "@harrier/db";
import { epochMs, reachesOnly, type Scope } from "@harrier/query";

/** A month with what is known of it; times in epoch ms. */
interface MonthRow {
  month: string;
  tenantSince: number;
  /** Since when everything is counted. */
  beganAt: number;
}

export interface FigureRow extends MonthRow {
  /** Null if there is nothing of this month. */
  value: number | null;
}

type MonthValues = readonly [tenantId: number, first: string, last: string];

/** Reads a row for each month from $2 to $3, whether or not there is something of it. Months are kept by their first day (UTC). */
const ofMonths = (columns: string, began: string, joins = ""): string => `
  select to_char(m.month, 'YYYY-MM') as month, ${epochMs("t.created_at")} as "tenantSince", ${began} as "beganAt", ${columns}
    from tenants t
   cross join (select g::date as month from generate_series($2::date, $3::date, interval '1 month') g) m
    ${joins}
   where t.tenant_id = $1
   order by m.month`;

/** Since a table of months was made; what is counted since the tenant was created has the tenant's own beginning. */
const startOf = (view: string): string => `(select ${epochMs("s.began_at")} from ${view} s)`;
const withTenant = epochMs("t.created_at");

export const readTraffic = statement<MonthValues, FigureRow>(
  "management.insights_traffic",
  ofMonths(
    "d.bytes as value",
    withTenant,
    `left join artifact_store.data_traffic_v1 d on d.tenant_id = t.tenant_id and d.month = m.month
      and d.tenant_id = $1 and d.month between $2::date and $3::date`,
  ),
);

/** A month without a row ended as the one before it. The first row is of the month in which the recording began. */
export const readStorage = statement<MonthValues, FigureRow>(
  "management.insights_storage",
  ofMonths(
    `(select s.bytes from artifact_storage_months s where s.tenant_id = t.tenant_id and s.month <= m.month
       order by s.month desc limit 1) as value`,
    `(select coalesce(min(${epochMs("s.month")}), ${withTenant}) from artifact_storage_months s where s.tenant_id = t.tenant_id)`,
  ),
);

export const readRolloutMonths = statement<MonthValues, FigureRow>(
  "management.insights_rollouts",
  ofMonths(
    "r.created as value",
    startOf("rollout_engine.rollout_months_start_v1"),
    "left join rollout_engine.rollout_months_v1 r on r.tenant_id = $1 and r.month = m.month and r.month between $2::date and $3::date",
  ),
);

export interface ActionMonthRow extends MonthRow {
  created: number | null;
  finished: number | null;
  error: number | null;
  canceled: number | null;
}

export const readActionMonths = statement<MonthValues, ActionMonthRow>(
  "management.insights_actions",
  ofMonths(
    `c.actions_created as created, c.actions_finished as finished, c.actions_error as error, c.actions_canceled as canceled`,
    startOf("controller.monthly_counts_start_v1"),
    `left join controller.monthly_counts_v1 c on c.tenant_id = $1 and c.month = m.month and c.month between $2::date and $3::date
      and c.actions_created + c.actions_finished + c.actions_error + c.actions_canceled > 0`,
  ),
);

export interface TargetMonthRow extends MonthRow {
  /** The number now without what has happened since the month. */
  count: number;
}

export const readTargetMonths = statement<MonthValues, TargetMonthRow>(
  "management.insights_targets",
  ofMonths(
    `(coalesce((select n.n from controller.target_counts_v1 n where n.tenant_id = $1), 0) - coalesce(
       (select sum(c.targets_created - c.targets_deleted) from controller.monthly_counts_v1 c
         where c.tenant_id = $1 and c.month > m.month), 0))::bigint as count`,
    startOf("controller.monthly_counts_start_v1"),
  ),
);

/** What the counts of a fleet are by (controller.fleet_counts_v1). */
export const fleetKind = { updateStatus: 0, installedSet: 1, assignedSet: 2, overdue: 3 } as const;

const visible = (scope: string): string => `(${scope}::bigint[] is null or c.type_id = any(${scope}::bigint[]))`;

export interface FleetRow {
  kind: number | null;
  key: number | null;
  n: number;
  countedAt: number | null;
}

/** Reads the fleet by update status, and how many of it are overdue; a fleet without targets, or one that is not counted yet, has one row of nulls. */
export const readFleet = statement<[tenantId: number, scope: Scope], FleetRow>(
  "management.insights_fleet",
  `select c.kind, c.key, coalesce(c.n, 0)::bigint as n, (select ${epochMs("w.counted_at")} from controller.fleet_walks_v1 w where w.tenant_id = $1) as "countedAt"
     from (select 1) one
     left join (select c.kind, c.key, sum(c.n) as n from controller.fleet_counts_v1 c
                 where c.tenant_id = $1 and c.kind in (${fleetKind.updateStatus}, ${fleetKind.overdue}) and ${visible("$2")}
                 group by 1, 2) c on true`,
);

export interface SetRow {
  id: number;
  name: string;
  version: string;
  count: number;
}

/**
 * Reads the sets that most targets of the fleet have; of equal numbers the newest set comes first. A set that a target has had is never removed, so the
 * names are looked up for the first ones alone.
 */
export const readTopSets = statement<[tenantId: number, kind: number, scope: Scope, top: number], SetRow>(
  "management.insights_top_sets",
  `with counted as materialized (
     select c.key, sum(c.n)::bigint as n from controller.fleet_counts_v1 c
      where c.tenant_id = $1 and c.kind = $2 and ${visible("$3")}
      group by c.key order by n desc, c.key desc limit $4
   )
   select s.id, s.name, s.version, c.n as count from counted c join distribution_sets s on s.tenant_id = $1 and s.id = c.key
    order by c.n desc, s.id desc`,
);

/** Counts the rollouts that are there by status; for a user restricted to target types those that reach no other targets. */
export const countRollouts = statement<[tenantId: number, scope: Scope], { status: string; n: number }>(
  "management.insights_count_rollouts",
  `select r.status, count(*)::int as n from rollout_engine.rollouts_v1 r
    where r.tenant_id = $1 and not r.deleted and r.status <> 'deleted'
      and ${reachesOnly("r.reached_types", "$2")}
    group by r.status`,
);
