import type { AuditEntryView } from "@harrier/contracts";
import { optional } from "@harrier/query";
import type { EntryRow } from "./audit.sql.ts";

/** Renders an entry as the interface shows it (contract extensions.md, Audit). */
export function auditEntryJson(row: EntryRow): AuditEntryView {
  return {
    id: row.id,
    time: row.time,
    actorType: row.actorType,
    actor: row.actor,
    action: row.action,
    entity: row.entity,
    entityIds: row.entityIds,
    sourceIp: row.sourceIp,
    requestId: row.requestId,
    result: row.result,
    ...optional("status", row.status),
    ...optional("errorCode", row.errorCode),
    times: row.times,
    details: JSON.parse(row.details) as Record<string, unknown>,
    service: row.service,
    sealed: row.sealed,
  };
}
