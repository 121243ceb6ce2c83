import { statement } from "@harrier/db";
import type { FieldMap, SortMap } from "@harrier/fiql";
import type { PageSource } from "../lists/page.sql.ts";
import { type Columns, epochMs, selectList } from "../rows/columns.ts";

export type OperationKind = "delete-tenant" | "invalidate-set" | "delete-targets";

/** An operation as the interface shows it. */
export interface OperationRow {
  id: number;
  kind: OperationKind;
  subject: string;
  status: "waiting" | "running" | "finished";
  done: number;
  /** Null while it is unknown. Not `total`: that is how many rows a list has. */
  outOf: number | null;
  lastError: string | null;
  createdBy: string;
  createdAt: number;
  startedAt: number | null;
  endedAt: number | null;
}

export const operationColumns: Columns = {
  id: "t.id",
  kind: "t.kind",
  subject: "t.subject",
  status: "t.status",
  done: "t.done",
  outOf: "t.total",
  lastError: "t.last_error",
  createdBy: "t.created_by",
  createdAt: epochMs("t.created_at"),
  startedAt: epochMs("t.started_at"),
  endedAt: epochMs("t.ended_at"),
};

/** Whose operations somebody sees: those of kinds that he might have begun, of others those that he has begun. */
export interface Seer {
  kinds: readonly OperationKind[];
  ownKinds: readonly OperationKind[];
  subject: string;
}

const visible = "(t.kind = any($2::text[]) or (t.kind = any($3::text[]) and t.created_by = $4))";

/** Operations of a tenant that the caller sees. */
export const operationList = (tenantId: number, { kinds, ownKinds, subject }: Seer): PageSource => ({
  from: "background_operations",
  columns: operationColumns,
  where: `t.tenant_id = $1 and ${visible}`,
  values: [tenantId, kinds, ownKinds, subject],
});

export const operationQuery: { fields: FieldMap; sort: SortMap } = {
  fields: {
    id: { kind: "number", column: "t.id" },
    kind: { kind: "text", column: "t.kind" },
    subject: { kind: "text", column: "t.subject" },
    status: { kind: "text", column: "t.status" },
    createdat: { kind: "timestamp", column: "t.created_at" },
  },
  sort: { fields: { id: "t.id", createdat: "t.created_at" }, initial: "t.id desc", last: "t.id asc" },
};

export const findOperation = statement<
  [tenantId: number, kinds: readonly OperationKind[], ownKinds: readonly OperationKind[], subject: string, id: number],
  OperationRow
>(
  "management.find_operation",
  `select ${selectList(operationColumns)} from background_operations t where t.tenant_id = $1 and ${visible} and t.id = $5`,
);

/** The deletion of this tenant that has not ended. */
export const findDeletion = statement<[tenantId: number, ofTenantId: number], OperationRow>(
  "management.find_tenant_deletion",
  `select ${selectList(operationColumns)} from background_operations t
    where t.tenant_id = $1 and t.kind = 'delete-tenant' and t.payload ->> 'tenantId' = $2::int::text and t.ended_at is null`,
);

export const beginDeletion = statement<[tenantId: number, ofTenantId: number, name: string, actor: string], OperationRow>(
  "management.begin_tenant_deletion",
  `insert into background_operations as t (tenant_id, kind, subject, payload, created_by)
   values ($1, 'delete-tenant', $3, jsonb_build_object('tenantId', $2::int), $4) returning ${selectList(operationColumns)}`,
);

export interface DueOperation {
  tenantId: number;
  id: number;
  subject: string;
  ofTenantId: number;
  total: number | null;
  attempts: number;
  /** Since it was asked for. */
  ageMs: number;
}

/** Takes the deletion that is due longest. The due time moves ahead at once: a lease, which ends by itself when the taker dies. */
export const takeDueDeletion = statement<[leaseSeconds: number], DueOperation>(
  "management.take_due_tenant_deletion",
  `update background_operations o
      set due_at = now() + make_interval(secs => $1), status = 'running', started_at = coalesce(o.started_at, now())
     from (select tenant_id, id from background_operations
            where kind = 'delete-tenant' and ended_at is null and due_at <= now() order by due_at limit 1 for update skip locked) d
    where o.tenant_id = d.tenant_id and o.id = d.id
   returning o.tenant_id as "tenantId", o.id, o.subject, (o.payload ->> 'tenantId')::int as "ofTenantId", o.total, o.attempts,
             (extract(epoch from now() - o.created_at) * 1000)::bigint as "ageMs"`,
);

/** So many are to be done in all; known once. */
export const noteTotal = statement<[tenantId: number, id: number, total: number], never>(
  "management.note_operation_total",
  "update background_operations set total = $3 where tenant_id = $1 and id = $2 and total is null",
);

/** So many more are done, and the lease lasts on. What came after the count was taken is not in the total. */
export const noteProgress = statement<[tenantId: number, id: number, more: number, leaseSeconds: number], never>(
  "management.note_operation_progress",
  `update background_operations
      set done = least(done + $3, coalesce(total, done + $3)), due_at = now() + make_interval(secs => $4), attempts = 0, last_error = null
    where tenant_id = $1 and id = $2 and ended_at is null`,
);

/** Goes on in a while. */
export const restOperation = statement<[tenantId: number, id: number, afterMs: number], never>(
  "management.rest_operation",
  `update background_operations set due_at = now() + $3 * interval '1 millisecond' where tenant_id = $1 and id = $2 and ended_at is null`,
);

/** Try again later: 1, 2, 4 … seconds, half a minute at most. */
export const postponeBackground = statement<[tenantId: number, id: number, error: string], never>(
  "management.postpone_background_operation",
  `update background_operations
      set attempts = attempts + 1, due_at = now() + make_interval(secs => least(30, power(2, least(attempts, 6)))), last_error = left($3, 500)
    where tenant_id = $1 and id = $2 and ended_at is null`,
);

export const finishBackground = statement<[tenantId: number, id: number], never>(
  "management.finish_background_operation",
  `update background_operations
      set status = 'finished', ended_at = now(), done = coalesce(total, done), total = coalesce(total, done), last_error = null
    where tenant_id = $1 and id = $2 and ended_at is null`,
);

/** Of all tenants. A month is time enough to look at the outcome. */
export const pruneEnded = statement<[], never>(
  "management.prune_ended_operations",
  "delete from background_operations where ended_at < now() - interval '30 days'",
);
