import { statement } from "@harrier/db";
import type { FieldMap, SortMap } from "@harrier/fiql";
import { type Columns, epochMs, type PageSource, selectList } from "@harrier/query";

export type OperationKind = "delete-tenant" | "invalidate-set" | "delete-targets" | "change-targets";

/** This is an operation as the interface shows it. */
export interface OperationRow {
  id: number;
  kind: OperationKind;
  subject: string;
  status: "waiting" | "running" | "finished";
  done: number;
  /** The number is null while it is unknown. It is not called `total`, because that is how many rows a list has. */
  outOf: number | null;
  lastError: string | null;
  /** How many targets a change has not reached, and the first of them. */
  failed: number | null;
  failures: { controllerId: string; reason: string }[] | null;
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
  failed: "(t.payload ->> 'failed')::int",
  failures: "t.payload -> 'failures'",
  createdBy: "t.created_by",
  createdAt: epochMs("t.created_at"),
  startedAt: epochMs("t.started_at"),
  endedAt: epochMs("t.ended_at"),
};

/** This condition selects the operations that a user sees: all of the kinds that the user may begin, and of the other kinds the user's own. */
export interface Viewer {
  kinds: readonly OperationKind[];
  ownKinds: readonly OperationKind[];
  subject: string;
}

const visible = "(t.kind = any($2::text[]) or (t.kind = any($3::text[]) and t.created_by = $4))";

/** Lists the operations of a tenant that the caller sees. */
export const operationList = (tenantId: number, { kinds, ownKinds, subject }: Viewer): PageSource => ({
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

/** Returns the deletion of this tenant that has not ended. */
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
  /** The time counts from the request for the deletion. */
  ageMs: number;
}

/** Claims the deletion that has been due longest. Its due time moves ahead at once: this is a lease, which ends by itself when the replica dies. */
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

/** Stores how many rows are to be erased in all; it is counted once. */
export const recordTotal = statement<[tenantId: number, id: number, total: number], never>(
  "management.record_operation_total",
  "update background_operations set total = $3 where tenant_id = $1 and id = $2 and total is null",
);

/** Records how many more rows are erased, and extends the lease. Rows that came after the count are not in the total. */
export const recordProgress = statement<[tenantId: number, id: number, more: number, leaseSeconds: number], never>(
  "management.record_operation_progress",
  `update background_operations
      set done = least(done + $3, coalesce(total, done + $3)), due_at = now() + make_interval(secs => $4), attempts = 0, last_error = null
    where tenant_id = $1 and id = $2 and ended_at is null`,
);

/** Makes the operation due again after a while. */
export const postponeOperation = statement<[tenantId: number, id: number, afterMs: number], never>(
  "management.postpone_operation",
  `update background_operations set due_at = now() + $3 * interval '1 millisecond' where tenant_id = $1 and id = $2 and ended_at is null`,
);

/** Records a failure; it is retried after 1, 2, 4 … seconds, at most after half a minute. */
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

/** Deletes operations of all tenants that ended long ago. Outcomes are kept for a month. */
export const pruneEnded = statement<[], never>(
  "management.prune_ended_operations",
  "delete from background_operations where ended_at < now() - interval '30 days'",
);
