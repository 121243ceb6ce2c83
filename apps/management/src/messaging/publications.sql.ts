import { statement } from "@harrier/db";

export interface PublicationClaim {
  readonly tenantId: number;
  readonly tenant: string;
  readonly vhost: string;
  /** Null: nothing has been published yet, and the stream begins now. */
  readonly position: string | null;
  readonly attempts: number;
  readonly notifications: number;
}

/** Takes tenants whose events are to be published, each under a lease, those first that have waited longest. */
export const claimPublications = statement<[owner: string, leaseSeconds: number, free: number], PublicationClaim>(
  "management.claim_publications",
  `with due as (
     select m.tenant_id, t.name from messaging m join tenants t on t.tenant_id = m.tenant_id and t.status = 'active'
      where m.sie and m.sie_due_at <= now() and (m.sie_leased_until is null or m.sie_leased_until < now())
      order by m.sie_due_at limit $3 for no key update of m skip locked
   )
   update messaging m set sie_owner = $1, sie_leased_until = now() + $2 * interval '1 second' from due d where m.tenant_id = d.tenant_id
   returning m.tenant_id as "tenantId", d.name as tenant, m.vhost, m.sie_position as position, m.sie_attempts as attempts,
             m.sie_notifications as notifications`,
);

/** Tells that there may be events for tenants: at most one change for each that rests. */
export const notifyPublications = statement<[tenantIds: readonly number[]], unknown>(
  "management.notify_publications",
  `update messaging m
      set sie_notifications = m.sie_notifications + 1, sie_due_at = case when m.sie_attempts = 0 then now() else m.sie_due_at end
    where m.tenant_id = any($1::int[]) and m.sie and (m.sie_attempts = 0 and m.sie_due_at > now() or m.sie_leased_until >= now())`,
);

/** The tenants whose events are published. */
export const publishingTenants = statement<[], { tenantId: number }>(
  "management.publishing_tenants",
  `select m.tenant_id as "tenantId" from messaging m join tenants t on t.tenant_id = m.tenant_id and t.status = 'active' where m.sie`,
);

/**
 * Stores how far events have been published, if the lease is still held; no row comes back otherwise. `restMs` null keeps the lease for the next page;
 * events that were noticed meanwhile end a rest at once, but not that after a failure.
 */
export const storePublication = statement<
  [
    tenantId: number,
    owner: string,
    position: string | null,
    failed: boolean,
    restMs: number | null,
    notifications: number,
    leaseSeconds: number,
  ],
  { tenantId: number }
>(
  "management.store_publication",
  `update messaging m
      set sie_position = coalesce($3, m.sie_position),
          sie_attempts = case when $4 then m.sie_attempts + 1 else 0 end,
          sie_failing_since = case when $4 then coalesce(m.sie_failing_since, now()) end,
          sie_owner = case when $5::float is null then m.sie_owner end,
          sie_leased_until = case when $5::float is null then now() + $7 * interval '1 second' end,
          sie_due_at = now() + case when not $4 and m.sie_notifications <> $6 then 0 else coalesce($5::float, 0) end * interval '1 millisecond'
    where m.tenant_id = $1 and m.sie_owner = $2::uuid
   returning m.tenant_id as "tenantId"`,
);
