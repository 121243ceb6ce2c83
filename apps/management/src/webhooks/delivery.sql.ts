import { statement } from "@harrier/db";

export interface WebhookClaim {
  readonly tenantId: number;
  readonly tenant: string;
  readonly webhookId: number;
  /** It names this lease alone, so that whoever lost it is not mistaken for the one who took the webhook afterwards. */
  readonly owner: string;
  readonly url: string;
  readonly types: readonly string[] | null;
  readonly secret: Buffer;
  readonly position: string;
  readonly delivered: readonly string[];
  readonly failed: Readonly<Record<string, number>>;
  readonly attempts: number;
  readonly notifications: number;
}

/**
 * Takes webhooks that are due under a lease, and no more of a tenant than `perTenant` at a time, whoever delivers them; processes that ask at the same
 * moment may take some more together, but each webhook goes to one. `underWay` has the tenant of each delivery of this process: one that has lost its lease
 * still takes a place until it ends. Webhooks of suspended tenants are left out first: they are due for ever, and would take the places of others.
 */
export const claimWebhooks = statement<[leaseSeconds: number, free: number, perTenant: number, underWay: readonly number[]], WebhookClaim>(
  "management.claim_webhooks",
  `with due as (
     select w.tenant_id, w.id, w.due_at, t.name from webhooks w join tenants t on t.tenant_id = w.tenant_id and t.status = 'active'
      where w.enabled and w.due_at <= now() and (w.leased_until is null or w.leased_until < now())
      order by w.due_at limit 500
   ), fair as (
     select d.tenant_id, d.id, d.name
       from (select d.*, row_number() over (partition by d.tenant_id order by d.due_at) as n from due d) d
      where d.n <= $3 - greatest((select count(*) from webhooks o where o.tenant_id = d.tenant_id and o.leased_until >= now()),
                                 (select count(*) from unnest($4::int[]) u (tenant_id) where u.tenant_id = d.tenant_id))
      order by d.due_at limit $2
   ), taken as (
     select w.tenant_id, w.id, f.name from webhooks w join fair f on f.tenant_id = w.tenant_id and f.id = w.id
      where w.leased_until is null or w.leased_until < now() for update of w skip locked
   )
   update webhooks w set owner = gen_random_uuid(), leased_until = now() + $1 * interval '1 second'
     from taken k
    where w.tenant_id = k.tenant_id and w.id = k.id
   returning w.tenant_id as "tenantId", k.name as tenant, w.id as "webhookId", w.owner, w.url, w.types, w.secret, w.position, w.delivered, w.failed, w.attempts,
             w.notifications`,
);

/** Which of these leases are lost: the webhook was changed, switched off or deleted, or somebody else has taken it. */
export const lostLeases = statement<[tenantIds: readonly number[], ids: readonly number[], owners: readonly string[]], { owner: string }>(
  "management.lost_webhook_leases",
  `select l.owner from unnest($1::int[], $2::bigint[], $3::uuid[]) l (tenant_id, id, owner)
    where not exists (select from webhooks w where w.tenant_id = l.tenant_id and w.id = l.id and w.owner = l.owner and w.enabled)`,
);

/** Tells that there may be events for tenants: at most one change for each of their webhooks that rests. */
export const notifyWebhooks = statement<[tenantIds: readonly number[]], unknown>(
  "management.notify_webhooks",
  `update webhooks w set notifications = w.notifications + 1, due_at = case when w.attempts = 0 then now() else w.due_at end
    where w.tenant_id = any($1::int[]) and w.enabled and (w.attempts = 0 and w.due_at > now() or w.leased_until >= now())`,
);

/** The tenants that have webhooks to deliver. */
export const listeningTenants = statement<[], { tenantId: number }>(
  "management.listening_tenants",
  `select distinct w.tenant_id as "tenantId" from webhooks w join tenants t on t.tenant_id = w.tenant_id and t.status = 'active' where w.enabled`,
);

/** What came of a page: a log entry for each attempt, and where the next one begins. */
export interface Outcome {
  readonly position: string;
  readonly delivered: readonly string[];
  /** How often each event was not accepted that still waits. */
  readonly failed: Readonly<Record<string, number>>;
  readonly log: readonly object[];
  /** The failure that ended the page; null where none did. */
  readonly error: string | null;
  /** Nothing was sent although there was something to send: whether the receiver fails is as it was before. */
  readonly untold: boolean;
  /** Deliveries go on after so many ms; null goes on at once and keeps the lease. */
  readonly restMs: number | null;
}

/**
 * Stores what came of a page, if the lease is still held; otherwise the log alone tells what was sent, and no row comes back. A webhook whose deliveries have failed for `disableAfter`, or that
 * is gone, is disabled with an event that says so.
 */
export const storeOutcome = statement<
  [
    tenantId: number,
    id: number,
    owner: string,
    position: string,
    delivered: readonly string[],
    log: string,
    error: string | null,
    restMs: number | null,
    notifications: number,
    disableAfterSeconds: number,
    leaseSeconds: number,
    gone: boolean,
    failed: string,
    untold: boolean,
    at: Date,
  ],
  { enabled: boolean }
>(
  "management.store_webhook_outcome",
  `with webhook as (
     select w.tenant_id, w.id, w.name, w.revision, t.name as tenant, w.notifications, w.enabled and w.owner = $3::uuid as held,
            $7::text is not null and ($12 or coalesce(w.failing_since, $15::timestamptz) < $15::timestamptz - $10 * interval '1 second') as ends
       from webhooks w join tenants t on t.tenant_id = w.tenant_id
      where w.tenant_id = $1 and w.id = $2 for no key update of w
   ), held as (
     select * from webhook where held
   ), log as (
     insert into webhook_deliveries (tenant_id, webhook_id, event_id, type, subject, attempt, delivered, status, ms, error, at)
     select h.tenant_id, h.id, l."eventId", l.type, l.subject, l.attempt, l.delivered, l.status, l.ms, l.error, l.at
       from webhook h, jsonb_to_recordset($6::jsonb)
              as l("eventId" text, type text, subject text, attempt int, delivered boolean, status int, ms int, error text, at timestamptz)
   ), event as (
     insert into outbox (tenant_id, topic, type, common, items)
     select h.tenant_id, 'webhook-events', 'io.update.webhook.disabled.v1', json_build_object('tenant', h.tenant),
            json_build_array(json_build_object('subject', 'webhooks/' || h.id, 'sequence', h.revision + 1, 'data', json_build_object(
              'webhookId', h.id, 'name', h.name, 'reason', case when $12 then 'gone' else 'failures' end, 'lastError', $7::text)))
       from held h where h.ends
   )
   update webhooks w
      set position = $4, delivered = $5::text[], failed = $13::jsonb, last_error = case when $14 then w.last_error else $7 end, enabled = not h.ends,
          disabled_reason = case when h.ends then case when $12 then 'gone' else 'failures' end end,
          attempts = case when $14 then w.attempts when $7 is null then 0 else w.attempts + 1 end,
          failing_since = case when $14 then w.failing_since when $7 is not null then coalesce(w.failing_since, $15::timestamptz) end,
          last_delivered_at = case when exists (select from jsonb_array_elements($6::jsonb) l where (l ->> 'delivered')::boolean) then now()
                                   else w.last_delivered_at end,
          revision = w.revision + h.ends::int,
          owner = case when $8::float is null and not h.ends then w.owner end,
          leased_until = case when $8::float is null and not h.ends then now() + $11 * interval '1 second' end,
          due_at = now() + case when $7 is null and h.notifications <> $9 then 0 else coalesce($8::float, 0) end * interval '1 millisecond'
     from held h where w.tenant_id = h.tenant_id and w.id = h.id
   returning w.enabled`,
);

/**
 * Passes over events that are not kept any more, if the lease is still held; no row comes back otherwise. The log and an event say so. Whether the
 * receiver fails stays as it is.
 */
export const skipEvents = statement<
  [tenantId: number, id: number, owner: string, position: string, from: string, to: string],
  { id: number }
>(
  "management.skip_webhook_events",
  `with held as (
     select w.tenant_id, w.id, w.name, w.revision + 1 as revision, t.name as tenant from webhooks w join tenants t on t.tenant_id = w.tenant_id
      where w.tenant_id = $1 and w.id = $2 and w.owner = $3::uuid for no key update of w
   ), log as (
     insert into webhook_deliveries (tenant_id, webhook_id, event_id, type, subject, attempt, delivered, ms, error)
     select h.tenant_id, h.id, 'webhook-skip-' || h.id || '-' || h.revision, 'io.update.webhook.events_skipped.v1', 'webhooks/' || h.id, 1, false, 0,
            'Events from ' || $5::text || ' to ' || $6::text || ' were not accepted while they were kept, and are not sent.'
       from held h
   ), event as (
     insert into outbox (tenant_id, topic, type, common, items)
     select h.tenant_id, 'webhook-events', 'io.update.webhook.events_skipped.v1', json_build_object('tenant', h.tenant),
            json_build_array(json_build_object('subject', 'webhooks/' || h.id, 'sequence', h.revision, 'data', json_build_object(
              'webhookId', h.id, 'name', h.name, 'reason', 'expired', 'skippedFrom', round(extract(epoch from $5::timestamptz) * 1000),
              'skippedTo', round(extract(epoch from $6::timestamptz) * 1000))))
       from held h
   )
   update webhooks w set position = $4, delivered = '{}', failed = '{}', revision = h.revision
     from held h where w.tenant_id = h.tenant_id and w.id = h.id
   returning w.id`,
);
