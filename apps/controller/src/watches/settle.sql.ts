import { statement } from "@harrier/db";

/** The tenants that have something due, and how many ids their retries among it will need. */
export const dueByTenant = statement<[limit: number], { tenantId: number; ids: number }>(
  "controller.due_watches_by_tenant",
  'select d.tenant_id as "tenantId", d.ids from due_by_tenant($1) d',
);

export interface WindowedRow {
  tenantId: number;
  actionId: number;
  schedule: string;
  duration: string;
  timezone: string;
  sinceMs: number;
  limitMs: number;
}

/** Installations with a maintenance window whose clock seems to be over. Others are settled by time alone. */
export const dueWindows = statement<[limit: number], WindowedRow>(
  "controller.due_windows",
  `select d.tenant_id as "tenantId", d.action_id as "actionId", a.maintenance_schedule as schedule, a.maintenance_duration as duration,
          a.maintenance_timezone as timezone, (extract(epoch from d.since) * 1000)::float8 as "sinceMs",
          (p.body #>> '{limits,installingSeconds}')::float8 * 1000 as "limitMs"
     from due_watches($1) d
     join actions a on a.tenant_id = d.tenant_id and a.id = d.action_id and a.maintenance_schedule is not null
     join action_policies p on p.tenant_id = d.tenant_id and p.id = d.policy_id and p.body #> '{limits,installingSeconds}' is not null
    where d.stage = 3 and not d.silent`,
);

/** Settles watches that are due and returns how many. */
export const settleWatches = statement<
  [
    limit: number,
    idTenants: number[],
    firstIds: number[],
    idCounts: number[],
    maxActions: number[],
    windowTenants: number[],
    windowActions: number[],
    windowEnds: Date[],
  ],
  { settled: number }
>(
  "controller.settle_watches",
  "select settle_watches($1, $2::int[], $3::bigint[], $4::int[], $5::int[], $6::int[], $7::bigint[], $8::timestamptz[]) as settled",
);

export type ProveOutcome = "ok" | "targetNotFound" | "actionNotFound" | "foreign" | "notProving";

export const proveAction = statement<
  [
    tenantId: number,
    tenant: string,
    controllerId: string,
    actionId: number,
    proven: boolean,
    remark: string,
    scope: number[] | null,
    by: string,
    traceparent: string | null,
  ],
  { outcome: ProveOutcome }
>("controller.prove_action", "select prove_action($1, $2, $3, $4, $5, $6, $7::bigint[], $8, $9) as outcome");

/** `ready` answers a call without an id: the action can be tried again, and nothing has changed. */
export type RetryOutcome =
  | ("ok" | "ready" | "targetNotFound" | "actionNotFound" | "foreign")
  | ("notRetryable" | "tooManyActions" | "stopped" | "set" | "other");

export const retryAction = statement<
  [
    tenantId: number,
    tenant: string,
    controllerId: string,
    actionId: number,
    newId: number | null,
    maxActions: number,
    scope: number[] | null,
    by: string,
    traceparent: string | null,
  ],
  { outcome: RetryOutcome }
>("controller.retry_action", "select retry_action($1, $2, $3, $4, $5, $6, $7::bigint[], $8, $9) as outcome");
