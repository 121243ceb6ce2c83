import { type Queryable, run, runCount, statement } from "@harrier/db";
import type { AuditCall, AuditResult } from "./entry.ts";

const subject = "tenant_id, id, at, actor_kind, actor, action, entity, entity_ids, source_ip, request_id, details";

type Subject = [
  tenantId: number,
  id: string,
  at: Date,
  actorKind: string,
  actor: string,
  action: string,
  entity: string,
  entityIds: readonly string[],
  sourceIp: string,
  requestId: string,
  details: string,
];

const open = statement<Subject, unknown>(
  "audit.open",
  `insert into audit_pending (${subject}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
);

const subjectOf = (id: string, at: Date, call: AuditCall): Subject => [
  call.tenantId,
  id,
  at,
  call.actorKind,
  call.actor,
  call.action,
  call.entity,
  call.entityIds,
  call.sourceIp,
  call.requestId,
  call.details,
];

/** Records a call that is about to begin its work, in one round trip. */
export async function openEntry(db: Queryable, id: string, at: Date, call: AuditCall): Promise<void> {
  await run(db, open, subjectOf(id, at, call));
}

const write = statement<[...Subject, result: AuditResult, status: number, errorCode: string | null], unknown>(
  "audit.write",
  `insert into audit_pending (${subject}, ended_at, result, status, error_code)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, now(), $12, $13, $14)`,
);

interface Ended {
  result: AuditResult;
  status: number;
  errorCode: string | null;
}

/** Records a call that was refused before it could change anything, in one round trip. */
export async function writeEntry(db: Queryable, id: string, at: Date, { call, ended }: { call: AuditCall; ended: Ended }): Promise<void> {
  await run(db, write, [...subjectOf(id, at, call), ended.result, ended.status, ended.errorCode]);
}

const close = statement<
  [tenantId: number, id: string, result: AuditResult, status: number, errorCode: string | null, entityIds: readonly string[] | null],
  unknown
>(
  "audit.close",
  `update audit_pending set ended_at = now(), result = $3, status = $4, error_code = $5, entity_ids = coalesce($6, entity_ids)
    where tenant_id = $1 and id = $2 and result is null`,
);

/** Ends an entry, in one round trip; false if it was given up as cut off meanwhile, and stays so. */
export async function closeEntry(
  db: Queryable,
  key: { tenantId: number; id: string },
  ended: Ended & { entityIds: readonly string[] | null },
): Promise<boolean> {
  return (await runCount(db, close, [key.tenantId, key.id, ended.result, ended.status, ended.errorCode, ended.entityIds])) === 1;
}

const see = statement<[tenantIds: readonly number[], ids: readonly string[]], unknown>(
  "audit.see",
  `update audit_pending p set seen_at = now() from unnest($1::int[], $2::uuid[]) as x(tenant_id, id)
    where p.tenant_id = x.tenant_id and p.id = x.id and p.result is null`,
);

/** Records that these calls are still running, in one round trip. */
export async function seeEntries(db: Queryable, keys: readonly { tenantId: number; id: string }[]): Promise<void> {
  await run(db, see, [keys.map((key) => key.tenantId), keys.map((key) => key.id)]);
}
