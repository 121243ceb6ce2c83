import { maxWebhooks } from "@harrier/contracts";
import { statement } from "@harrier/db";
import { type AuditRow, auditColumns, type Columns, epochMs, isRevision, selectList } from "@harrier/query";

export interface WebhookRow extends AuditRow {
  id: number;
  name: string;
  description: string | null;
  url: string;
  types: string[] | null;
  enabled: boolean;
  disabledReason: string | null;
  failingSince: number | null;
  lastError: string | null;
  lastDeliveredAt: number | null;
  revision: number;
}

const columns: Columns = {
  ...auditColumns("w"),
  id: "w.id",
  name: "w.name",
  description: "w.description",
  url: "w.url",
  types: "w.types",
  enabled: "w.enabled",
  disabledReason: "w.disabled_reason",
  failingSince: epochMs("w.failing_since"),
  lastError: "w.last_error",
  lastDeliveredAt: epochMs("w.last_delivered_at"),
  revision: "w.revision",
};

/** There are at most `maxWebhooks` of them. */
export const listWebhooks = statement<[tenantId: number], WebhookRow>(
  "management.list_webhooks",
  `select ${selectList(columns)} from webhooks w where w.tenant_id = $1 order by w.id`,
);

export const findWebhook = statement<[tenantId: number, id: number], WebhookRow & { secret: Buffer }>(
  "management.find_webhook",
  `select ${selectList(columns)}, w.secret from webhooks w where w.tenant_id = $1 and w.id = $2`,
);

/** The creations of webhooks of one tenant run one after the other, so that each sees all that count against the limit. */
export const lockTenantForWebhook = statement<[tenantId: number], unknown>(
  "management.lock_tenant_for_webhook",
  "select from tenants where tenant_id = $1 for no key update",
);

/** Inserts webhooks, all or none; no row comes back where there would be too many. `rows` is a JSON array, secrets are sealed and in hex. */
export const insertWebhooks = statement<[tenantId: number, rows: string, position: string, actor: string], WebhookRow>(
  "management.insert_webhooks",
  `with input as (
     select i.*, count(*) over () as n
       from jsonb_to_recordset($2::jsonb) as i(id bigint, name text, description text, url text, types text[], enabled boolean, secret text))
   insert into webhooks as w (tenant_id, id, name, description, url, types, enabled, secret, position, created_by, last_modified_by)
   select $1, i.id, i.name, i.description, i.url, i.types, coalesce(i.enabled, true), decode(i.secret, 'hex'), $3, $4, $4 from input i
    where (select count(*) from webhooks o where o.tenant_id = $1) + i.n <= ${maxWebhooks} order by i.id
   returning ${selectList(columns)}`,
);

/** What is sent, where and whether: a page of events that is under way is about what these were before. */
const deliveryChanges = `(coalesce($7, w.enabled) <> w.enabled or coalesce($5, w.url) <> w.url or $8::bytea is not null
                             or coalesce($6::text[], w.types) is distinct from w.types)`;

/**
 * Changes a webhook; null leaves a member as it is. Enabled again, it begins anew where it had ended; a changed one is tried at once. Who delivers at
 * the moment loses the lease if that changes what is sent, where or whether, so that what comes of the old page says nothing of the new webhook.
 */
export const updateWebhook = statement<
  [
    tenantId: number,
    id: number,
    name: string | null,
    description: string | null,
    url: string | null,
    types: readonly string[] | null,
    enabled: boolean | null,
    secret: Buffer | null,
    actor: string,
    ifMatch: readonly number[] | null,
  ],
  WebhookRow
>(
  "management.update_webhook",
  `update webhooks w
      set name = coalesce($3, w.name), description = coalesce($4, w.description), url = coalesce($5, w.url), types = coalesce($6::text[], w.types),
          enabled = coalesce($7, w.enabled), secret = coalesce($8, w.secret), disabled_reason = case when $7 is null then w.disabled_reason end,
          owner = case when not ${deliveryChanges} then w.owner end, leased_until = case when not ${deliveryChanges} then w.leased_until end,
          attempts = 0, failing_since = case when $7 or $5 is not null then null else w.failing_since end, due_at = now(),
          notifications = w.notifications + 1, last_modified_by = $9, last_modified_at = now(), revision = w.revision + 1
    where w.tenant_id = $1 and w.id = $2 and ${isRevision("w.revision", "$10")}
   returning ${selectList(columns)}`,
);

export const deleteWebhook = statement<[tenantId: number, id: number, ifMatch: readonly number[] | null], { id: number }>(
  "management.delete_webhook",
  `with gone as (delete from webhooks where tenant_id = $1 and id = $2 and ${isRevision("revision", "$3")} returning id),
     log as (delete from webhook_deliveries d using gone g where d.tenant_id = $1 and d.webhook_id = g.id)
   select id from gone`,
);

/** Sends again from a position on. Who delivers at the moment loses the lease, because the old position is over. */
export const replayWebhook = statement<[tenantId: number, id: number, position: string, actor: string], WebhookRow>(
  "management.replay_webhook",
  `update webhooks w
      set position = $3, delivered = '{}', failed = '{}', owner = null, leased_until = null, attempts = 0, due_at = now(), last_modified_by = $4,
          last_modified_at = now(), revision = w.revision + 1
    where w.tenant_id = $1 and w.id = $2
   returning ${selectList(columns)}`,
);

export interface DeliveryRow {
  eventId: string;
  type: string;
  subject: string;
  at: number;
  attempt: number;
  delivered: boolean;
  status: number | null;
  ms: number;
  error: string | null;
}

export const listDeliveries = statement<[tenantId: number, id: number, limit: number], DeliveryRow>(
  "management.list_webhook_deliveries",
  `select d.event_id as "eventId", d.type, d.subject, ${epochMs("d.at")} as at, d.attempt, d.delivered, d.status, d.ms, d.error
     from webhook_deliveries d where d.tenant_id = $1 and d.webhook_id = $2 order by d.id desc limit $3`,
);

/** Writes an attempt that a person has asked for into the log. */
export const logTest = statement<[tenantId: number, id: number, attempt: string], unknown>(
  "management.log_webhook_test",
  `insert into webhook_deliveries (tenant_id, webhook_id, event_id, type, subject, attempt, delivered, status, ms, error)
   select $1, w.id, l."eventId", l.type, l.subject, l.attempt, l.delivered, l.status, l.ms, l.error
     from webhooks w, jsonb_to_record($3::jsonb)
            as l("eventId" text, type text, subject text, attempt int, delivered boolean, status int, ms int, error text)
    where w.tenant_id = $1 and w.id = $2`,
);
