import { type CompiledQuery, statement } from "@harrier/db";
import { type PageSource, type Scope, selectList } from "@harrier/query";
import { type OperationRow, operationColumns } from "../operations/background.sql.ts";

/** So many targets are deleted before the answer; more are deleted in the background. */
export const maxDirectly = 1_000;
/** This is the number of targets that controller deletes in one transaction: it takes some 100 ms, so that no request waits long for their locks. */
const chunkSize = 500;

interface Requested {
  /** This is the number of targets that the caller expects. */
  confirm: number;
  q: string;
  scope: Scope;
  actor: string;
}

/**
 * This says how many targets a query matches now; where the number is the expected one, it also has either their ids or the operation that
 * deletes them.
 */
export type BegunDeletion = { matched: number; targetIds: number[] | null } & ({ id: null } | OperationRow);

/**
 * Counts and stores the matching targets in one statement, hence in one snapshot: only counted targets are deleted, not those that match
 * later. If the count differs from the expected one, nothing is stored.
 */
export function beginTargetDeletion({ from, where, values }: PageSource, requested: Requested): CompiledQuery<BegunDeletion> {
  const [confirm, q, scope, actor] = [1, 2, 3, 4].map((n) => `$${values.length + n}`);
  const sql = `with matched as materialized (select t.id from ${from} t where ${where}),
     n as (select count(*)::int as n from matched),
     begun as (
       insert into background_operations as t (tenant_id, kind, subject, payload, total, created_by)
       select $1, 'delete-targets', left(${q}, 512), jsonb_build_object('scope', to_jsonb(${scope}::bigint[])), n.n, ${actor}
         from n where n.n = ${confirm}::int and n.n > ${maxDirectly} returning ${selectList(operationColumns)}),
     kept as (
       insert into operation_chunks (tenant_id, operation_id, chunk, target_ids)
       select $1, b.id, m.chunk, array_agg(m.id order by m.id)
         from begun b cross join (select id, (row_number() over (order by id) - 1) / ${chunkSize} as chunk from matched) m
        group by b.id, m.chunk)
select n.n as matched, (select array_agg(m.id order by m.id) from matched m where n.n <= ${maxDirectly}) as "targetIds", b.*
  from n left join begun b on true`;
  return { sql, bindings: [...values, requested.confirm, requested.q, requested.scope, requested.actor] };
}

/** This is a deletion that has not ended. */
export interface TargetDeletion {
  tenantId: number;
  tenant: string;
  id: number;
  /** The initiator was restricted to these target types. */
  scope: Scope;
  createdBy: string;
}

/** Claims the deletion that has been due longest. Its due time moves ahead at once: this is a lease, which ends by itself when the replica dies. */
export const takeDueTargetDeletion = statement<[leaseSeconds: number], TargetDeletion>(
  "management.take_due_target_deletion",
  `update background_operations o
      set due_at = now() + make_interval(secs => $1), status = 'running', started_at = coalesce(o.started_at, now())
     from (select b.tenant_id, b.id, t.name from background_operations b join tenants t on t.tenant_id = b.tenant_id
            where b.kind = 'delete-targets' and b.ended_at is null and b.due_at <= now()
            order by b.due_at limit 1 for update of b skip locked) d
    where o.tenant_id = d.tenant_id and o.id = d.id
   returning o.tenant_id as "tenantId", d.name as tenant, o.id, nullif(o.payload -> 'scope', 'null') as scope, o.created_by as "createdBy"`,
);

export interface Chunk {
  chunk: number;
  targetIds: number[];
}

/** Returns the next chunk; no row means that nothing is left. */
export const nextChunk = statement<[tenantId: number, id: number], Chunk>(
  "management.next_operation_chunk",
  `select chunk, target_ids as "targetIds" from operation_chunks where tenant_id = $1 and operation_id = $2 order by chunk limit 1`,
);

/** Records a finished chunk and extends the lease. A replica that repeated the chunk counts nothing. */
export const endChunk = statement<[tenantId: number, id: number, chunk: number, leaseSeconds: number], never>(
  "management.end_operation_chunk",
  `with gone as (
     delete from operation_chunks where tenant_id = $1 and operation_id = $2 and chunk = $3 returning cardinality(target_ids) as n)
   update background_operations o
      set done = o.done + gone.n, due_at = now() + make_interval(secs => $4), attempts = 0, last_error = null
     from gone where o.tenant_id = $1 and o.id = $2 and o.ended_at is null`,
);
