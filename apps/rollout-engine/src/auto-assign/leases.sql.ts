import { statement } from "@harrier/db";
import { claimText } from "../work/leases.sql.ts";

export interface FilterClaim {
  tenantId: number;
  filterId: number;
  /** The count of notifications at the claim. The release compares it, so that a later notification is not lost. */
  notifications: number;
  pass: number;
  /** The id of the last target that an unfinished pass has done; -1 stands for a new pass. */
  progress: number;
  /** So many passes in a row have found no target. */
  idle: number;
  attempts: number;
}

/** Claims up to `limit` filters that are due and free, for `seconds`, round-robin over tenants (work/leases.sql.ts). */
export const claimFilters = statement<[owner: string, seconds: number, limit: number, perTenant: number], FilterClaim>(
  "rollout_engine.claim_auto_assignment",
  claimText(
    { table: "auto_assign_leases", key: "filter_id" },
    {
      set: ", passes = l.passes + 1",
      returning: 'l.filter_id as "filterId", l.notifications, l.passes as pass, l.progress, l.idle, l.attempts',
    },
  ),
);

/** Releases a claim. The filter is due again after `cooldownMs`, or after `debounceMs` if it was notified, even while it was claimed. */
export const releaseFilter = statement<
  [
    tenantId: number,
    filterId: number,
    owner: string,
    notifications: number,
    progress: number,
    cooldownMs: number | null,
    debounceMs: number,
    idle: number,
    attempts: number,
    lastError: string | null,
  ],
  never
>(
  "rollout_engine.release_auto_assignment",
  `update auto_assign_leases
      set owner = null, until = null, idle = $8, attempts = $9, last_error = $10, failed_at = case when $10::text is not null then now() end,
          progress = case when notifications = $4 then $5 else -1 end,
          cooldown_until = now() + make_interval(secs => $7::float8 / 1000),
          due_at = case when notifications <> $4 then now() + make_interval(secs => $7::float8 / 1000)
                        when $6::float8 is null then 'infinity'
                        else now() + make_interval(secs => $6::float8 / 1000) end
    where tenant_id = $1 and filter_id = $2 and owner = $3`,
);

/** Makes a filter due at once and lets its pass begin anew, because its query or set has changed. Runs in the transaction of that change. */
export const notifyFilter = statement<[tenantId: number, filterId: number], never>(
  "rollout_engine.notify_filter",
  `insert into auto_assign_leases as l (tenant_id, filter_id) values ($1, $2)
   on conflict (tenant_id, filter_id) do update
     set due_at = now(), cooldown_until = now(), notifications = l.notifications + 1, progress = -1, idle = 0`,
);

/**
 * Notifies every filter and every running dynamic rollout of a tenant whose targets or actions have changed since the last poll, and moves the
 * shared cursor. If only last polls have changed, it notifies those whose queries use last polls. A row that commits late, behind the cursor, is
 * found by the filter's next regular pass: correctness does not depend on notifications.
 */
export const notifyForFleet = statement<[limit: number], { notifications: number }>(
  "rollout_engine.notify_filters_for_fleet",
  `with c as materialized ( -- one engine at a time is enough
     select * from fleet_cursor where pg_try_advisory_xact_lock(hashtextextended('harrier fleet changes', 0))
   ), fresh as materialized (
     select f.tenant_id, f.txid, f.id, f.polled from controller.fleet_changes_v1 f
      where (f.txid, f.id) > ((select txid from c), (select id from c))
      order by f.txid, f.id limit $1
   ), moved as (
     update fleet_cursor p set txid = n.txid, id = n.id
       from (select txid, id from fresh order by txid desc, id desc limit 1) n
      where (p.txid, p.id) <= (n.txid, n.id)
   ), notifications as (
     update auto_assign_leases l set due_at = least(l.due_at, greatest(now(), l.cooldown_until)), notifications = l.notifications + 1
       from (select b.tenant_id, b.filter_id from auto_assign_leases b
               join target_filters_v1 f on f.tenant_id = b.tenant_id and f.id = b.filter_id
              where b.due_at <> 'infinity'
                and b.tenant_id in (select h.tenant_id from fresh h where not h.polled or f.asks_polls)
              order by b.tenant_id, b.filter_id for no key update of b) o
      where l.tenant_id = o.tenant_id and l.filter_id = o.filter_id
      returning 1
   ), notified_dynamic as (
     update dynamic_leases l set due_at = least(l.due_at, greatest(now(), l.cooldown_until)), notifications = l.notifications + 1
       from (select b.tenant_id, b.rollout_id from dynamic_leases b
               join rollouts r on r.tenant_id = b.tenant_id and r.id = b.rollout_id and r.dynamic and r.status = 'running'
              where b.tenant_id in (select h.tenant_id from fresh h where not h.polled or r.target_filter ~* 'lastcontrollerrequestat')
              order by b.tenant_id, b.rollout_id for no key update of b) o
      where l.tenant_id = o.tenant_id and l.rollout_id = o.rollout_id
   )
   select count(*)::int as notifications from notifications`,
);

/** Deletes the candidates of a filter, in the transaction that deletes the filter. */
export const dropCandidates = statement<[tenantId: number, filterId: number], never>(
  "rollout_engine.drop_auto_assign_candidates",
  "delete from auto_assign_candidates where tenant_id = $1 and filter_id = $2",
);
