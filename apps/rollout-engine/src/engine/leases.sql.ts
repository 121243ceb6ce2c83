import { statement } from "@harrier/db";
import { claimText } from "../work/leases.sql.ts";

export interface Claim {
  tenantId: number;
  rolloutId: number;
  /** The count of notifications at the claim. The release compares it, so that a later notification is not lost. */
  notifications: number;
  attempts: number;
}

/** Claims up to `limit` rollouts that are due and free, for `seconds`, round-robin over tenants (work/leases.sql.ts). */
export const claimDue = statement<[owner: string, seconds: number, limit: number, perTenant: number], Claim>(
  "rollout_engine.claim_due_rollouts",
  claimText({ table: "leases", key: "rollout_id" }, { set: "", returning: 'l.rollout_id as "rolloutId", l.notifications, l.attempts' }),
);

/**
 * Renews all claims of one engine. A claim that is missing in the answer belongs to another engine by now. All statements lock leases in the same
 * order.
 */
export const renewClaims = statement<[owner: string, seconds: number], { tenantId: number; rolloutId: number }>(
  "rollout_engine.renew_claims",
  `update leases l set until = now() + make_interval(secs => $2)
     from (select tenant_id, rollout_id from leases where owner = $1 order by tenant_id, rollout_id for no key update) mine
    where l.tenant_id = mine.tenant_id and l.rollout_id = mine.rollout_id
    returning l.tenant_id as "tenantId", l.rollout_id as "rolloutId"`,
);

/**
 * Releases a claim. It is due again at `dueAt` (epoch ms; a time in the past puts it behind what is due already; null waits for the next
 * notification), or at once if a notification came meanwhile. After a failure it waits for `cooldownMs` whatever the notifications. With `attempts`
 * null an older failure stays stored.
 */
export const releaseClaim = statement<
  [
    tenantId: number,
    rolloutId: number,
    owner: string,
    notifications: number,
    dueAt: number | null,
    cooldownMs: number,
    attempts: number | null,
    lastError: string | null,
  ],
  never
>(
  "rollout_engine.release_claim",
  `update leases
      set owner = null, until = null, attempts = coalesce($7, attempts),
          last_error = case when $7::int is null then last_error else $8 end,
          failed_at = case when $7::int is null then failed_at when $8::text is not null then now() end,
          cooldown_until = now() + make_interval(secs => $6::float8 / 1000),
          due_at = case when notifications <> $4 or $6 > 0 then now() + make_interval(secs => $6::float8 / 1000)
                        when $5::bigint is null then 'infinity'
                        else greatest(now(), to_timestamp($5::bigint / 1000.0)) end
    where tenant_id = $1 and rollout_id = $2 and owner = $3`,
);

/**
 * Notifies every rollout whose actions have changed since the last poll, and moves the shared cursors. Visible rows notify at once, because one
 * long transaction anywhere must not delay all rollouts. Rows that commit late, behind the cursor, notify when no older transaction runs any more;
 * so none is missed, and some notify twice.
 */
export const notifyForProgress = statement<[limit: number], { notifications: number }>(
  "rollout_engine.notify_for_progress",
  `with c as materialized ( -- one engine at a time is enough
     select * from progress_cursor where pg_try_advisory_xact_lock(hashtextextended('harrier rollout progress', 0))
   ), late as materialized (
     select g.tenant_id, g.rollout_id, g.txid, g.id from controller.group_changes_v1 g
      where (g.txid, g.id) > ((select txid from c), (select id from c)) and g.txid < pg_snapshot_xmin(pg_current_snapshot())
      order by g.txid, g.id limit $1
   ), early as materialized (
     select g.tenant_id, g.rollout_id, g.txid, g.id from controller.group_changes_v1 g
      where (g.txid, g.id) > ((select seen_txid from c), (select seen_id from c))
      order by g.txid, g.id limit $1
   ), newest as (
     select coalesce(l.txid, c.txid) as txid, coalesce(l.id, c.id) as id,
            coalesce(e.txid, c.seen_txid) as seen_txid, coalesce(e.id, c.seen_id) as seen_id
       from c
       left join (select txid, id from late order by txid desc, id desc limit 1) l on true
       left join (select txid, id from early order by txid desc, id desc limit 1) e on true
      where l.id is not null or e.id is not null
   ), moved as (
     update progress_cursor p set txid = n.txid, id = n.id, seen_txid = n.seen_txid, seen_id = n.seen_id
       from newest n where (p.txid, p.id) <= (n.txid, n.id) and (p.seen_txid, p.seen_id) <= (n.seen_txid, n.seen_id)
   ), notifications as (
     update leases l set due_at = least(l.due_at, greatest(now(), l.cooldown_until)), notifications = l.notifications + 1
       from (select b.tenant_id, b.rollout_id from leases b
              where (b.tenant_id, b.rollout_id) in (select tenant_id, rollout_id from late union select tenant_id, rollout_id from early)
              order by b.tenant_id, b.rollout_id for no key update) o
      where l.tenant_id = o.tenant_id and l.rollout_id = o.rollout_id
      returning 1
   )
   select count(*)::int as notifications from notifications`,
);
