import type { WebhookDeliveryView, WebhookView } from "@harrier/contracts";
import { auditOf, optional, type View } from "@harrier/query";
import type { DeliveryRow, WebhookRow } from "./webhooks.sql.ts";

/** Renders a webhook without its secret; it is the same in both dialects. */
export function webhookJson({ base }: View, row: WebhookRow): WebhookView {
  return {
    ...auditOf(row),
    id: row.id,
    name: row.name,
    ...optional("description", row.description),
    url: row.url,
    ...optional("types", row.types),
    enabled: row.enabled,
    ...optional("disabledReason", row.disabledReason),
    ...optional("failingSince", row.failingSince),
    ...optional("lastError", row.lastError),
    ...optional("lastDeliveredAt", row.lastDeliveredAt),
    _links: { self: { href: `${base}/webhooks/${row.id}` } },
  };
}

/** Renders an attempt to deliver an event. */
export function deliveryJson({ status, error, ...row }: DeliveryRow): WebhookDeliveryView {
  return { ...row, ...optional("status", status), ...optional("error", error) };
}
