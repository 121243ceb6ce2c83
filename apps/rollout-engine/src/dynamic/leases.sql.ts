import { statement } from "@harrier/db";
import { claimText } from "../work/leases.sql.ts";

export interface FillClaim {
  tenantId: number;
  rolloutId: number;
  /** The count of notifications at the claim. The release compares it, so that a later notification is not lost. */
  notifications: number;
  /** So many scans in a row have found no target. */
  idle: number;
  attempts: number;
}

/** Only running rollouts are walked, so the cost does not depend on how many have ended or wait. */
const running = `(
      select x.* from rollouts r join dynamic_leases x on x.tenant_id = r.tenant_id and x.rollout_id = r.id
       where r.dynamic and r.status = 'running')`;

/** Claims up to `limit` running dynamic rollouts that are due and free, for `seconds`, round-robin over tenants (work/leases.sql.ts). */
export const claimFills = statement<[owner: string, seconds: number, limit: number, perTenant: number], FillClaim>(
  "rollout_engine.claim_filling",
  claimText(
    { table: "dynamic_leases", key: "rollout_id", among: running },
    { set: "", returning: 'l.rollout_id as "rolloutId", l.notifications, l.idle, l.attempts' },
  ),
);

/** Releases a claim. The rollout is due again after `cooldownMs`, or after `debounceMs` if it was notified, even while it was claimed. */
export const releaseFill = statement<
  [
    tenantId: number,
    rolloutId: number,
    owner: string,
    notifications: number,
    cooldownMs: number,
    debounceMs: number,
    idle: number,
    attempts: number,
    lastError: string | null,
  ],
  never
>(
  "rollout_engine.release_filling",
  `update dynamic_leases
      set owner = null, until = null, idle = $7, attempts = $8, last_error = $9, failed_at = case when $9::text is not null then now() end,
          cooldown_until = now() + make_interval(secs => $6::float8 / 1000),
          due_at = now() + make_interval(secs => (case when notifications <> $4 then $6::float8 else $5::float8 end) / 1000)
    where tenant_id = $1 and rollout_id = $2 and owner = $3`,
);
