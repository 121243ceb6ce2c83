import { type CompiledQuery, statement } from "@harrier/db";
import { type PageSource, selectList } from "@harrier/query";
import { type OperationKind, type OperationRow, operationColumns } from "./background.sql.ts";

/** This is the number of targets that controller changes in one transaction: it takes some 100 ms, so that no request waits long for their locks. */
const chunkSize = 500;

interface Begin {
  readonly kind: OperationKind;
  readonly subject: string;
  readonly payload: object;
  readonly actor: string;
  /** The operation begins if so many targets match, or whatever their number is. */
  readonly confirm: number | null;
  /** Up to so many targets begin no operation: their ids are answered. */
  readonly directly: number;
}

/**
 * This says how many targets a source selects now; where the number is the expected one, it also has either their ids or the operation that works on
 * them.
 */
export type Begun = { matched: number; targetIds: number[] | null } & ({ id: null } | OperationRow);

/**
 * Counts and stores the targets in one statement, hence in one snapshot: what is worked on is what was counted, not what matches later. If the count
 * differs from the expected one, nothing is stored.
 */
export function beginChunks({ from, where, values }: PageSource, begin: Begin): CompiledQuery<Begun> {
  const [confirm, kind, subject, payload, actor, directly] = [1, 2, 3, 4, 5, 6].map((n) => `$${values.length + n}`);
  const sql = `with matched as materialized (select t.id from ${from} t where ${where}),
     n as (select count(*)::int as n from matched),
     begun as (
       insert into background_operations as t (tenant_id, kind, subject, payload, total, created_by)
       select $1, ${kind}::text, left(${subject}::text, 512), ${payload}::jsonb, n.n, ${actor}::text
         from n where (${confirm}::int is null or n.n = ${confirm}::int) and n.n > ${directly}::int returning ${selectList(operationColumns)}),
     kept as (
       insert into operation_chunks (tenant_id, operation_id, chunk, target_ids)
       select $1, b.id, m.chunk, array_agg(m.id order by m.id)
         from begun b cross join (select id, (row_number() over (order by id) - 1) / ${chunkSize} as chunk from matched) m
        group by b.id, m.chunk)
select n.n as matched, (select array_agg(m.id order by m.id) from matched m where n.n <= ${directly}::int) as "targetIds", b.*
  from n left join begun b on true`;
  const { confirm: expected, kind: name, subject: about, payload: more, actor: by, directly: few } = begin;
  return { sql, bindings: [...values, expected, name, about, JSON.stringify(more), by, few] };
}

/** This is an operation on targets that has not ended. */
export interface ChunkedOperation {
  tenantId: number;
  tenant: string;
  id: number;
  payload: unknown;
  createdBy: string;
}

/** Claims the operation that has been due longest. Its due time moves ahead at once: this is a lease, which ends by itself when the replica dies. */
export const takeDueChunked = statement<[kind: OperationKind, leaseSeconds: number], ChunkedOperation>(
  "management.take_due_chunked_operation",
  `update background_operations o
      set due_at = now() + make_interval(secs => $2), status = 'running', started_at = coalesce(o.started_at, now())
     from (select b.tenant_id, b.id, t.name from background_operations b join tenants t on t.tenant_id = b.tenant_id
            where b.kind = $1 and b.ended_at is null and b.due_at <= now()
            order by b.due_at limit 1 for update of b skip locked) d
    where o.tenant_id = d.tenant_id and o.id = d.id
   returning o.tenant_id as "tenantId", d.name as tenant, o.id, o.payload, o.created_by as "createdBy"`,
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

/** Extends the lease of an operation, for a chunk that needs many calls. */
export const extendLease = statement<[tenantId: number, id: number, leaseSeconds: number], never>(
  "management.extend_operation_lease",
  "update background_operations set due_at = now() + make_interval(secs => $3) where tenant_id = $1 and id = $2 and ended_at is null",
);

/** What an operation could not do: how many targets, and the first of them. */
export const maxFailures = 100;

/**
 * Records a finished chunk with what failed in it, and extends the lease. A replica that repeated the chunk counts nothing. `failures` is a JSON
 * array.
 */
export const endChunk = statement<
  [tenantId: number, id: number, chunk: number, leaseSeconds: number, failed: number, failures: string],
  never
>(
  "management.end_operation_chunk",
  `with gone as (
     delete from operation_chunks where tenant_id = $1 and operation_id = $2 and chunk = $3 returning cardinality(target_ids) as n)
   update background_operations o
      set done = o.done + gone.n, due_at = now() + make_interval(secs => $4), attempts = 0, last_error = null,
          payload = case when $5::int = 0 then o.payload else o.payload || jsonb_build_object(
            'failed', coalesce((o.payload ->> 'failed')::int, 0) + $5::int,
            'failures', jsonb_path_query_array(coalesce(o.payload -> 'failures', '[]') || $6::jsonb, '$[0 to ${maxFailures - 1}]')) end
     from gone where o.tenant_id = $1 and o.id = $2 and o.ended_at is null`,
);
