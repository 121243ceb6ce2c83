import { type Queryable, run, runOne } from "@harrier/db";
import type { AuditSchema } from "./anchor.sql.ts";
import { micros, momentOf, storedBatch, storedEntry } from "./columns.ts";
import type { BatchHead, StoredEntry } from "./entry.ts";

export interface ClaimedBatch extends BatchHead {
  entries: number;
  hash: Buffer;
}

export interface SealedEntry extends StoredEntry {
  position: number;
  digest: Buffer;
  sealedAt: string;
}

export interface Outline {
  number: number;
  position: number;
  hash: Buffer;
  sealedAt: string | null;
  /** The first existing batch; null if there is none. */
  firstNumber: number | null;
  firstSealedAt: string | null;
  /** An entry that is outside of every batch. */
  stray: number | null;
}

/** Reads where the chain begins and ends, and an entry outside of it if there is one, as of one moment, in one round trip. */
export async function readOutline(db: Queryable, schema: AuditSchema): Promise<Outline | undefined> {
  return runOne<Outline>(db, {
    sql: `select c.number, c.position, c.hash, ${micros("c.sealed_at")} as "sealedAt", b.number as "firstNumber",
                 ${micros("b.sealed_at")} as "firstSealedAt",
                 (select min(position) from (
                    (select position from ${schema}_audit.audit_v1 where position > c.position order by position limit 1)
                    union all
                    (select position from ${schema}_audit.audit_v1 where position < coalesce(b.first_position, 0) order by position limit 1)) s) as stray
            from ${schema}_audit.audit_chain_v1 c
            left join lateral (select number, first_position, sealed_at from ${schema}_audit.audit_batches_v1 order by number limit 1) b on true`,
    bindings: [],
  });
}

/** Reads the next batches in their order, in one round trip. */
export async function readBatches(db: Queryable, schema: AuditSchema, range: { from: number; to: number }): Promise<ClaimedBatch[]> {
  return run<ClaimedBatch>(db, {
    sql: `select ${storedBatch} from ${schema}_audit.audit_batches_v1 where number between $1 and $2 order by number, sealed_at`,
    bindings: [range.from, range.to],
  });
}

/** Reads all entries of these positions, even illegal ones, in one round trip; one more than possible reveals those. */
export async function readEntries(db: Queryable, schema: AuditSchema, range: { from: number; to: number }): Promise<SealedEntry[]> {
  return run<SealedEntry>(db, {
    sql: `select ${storedEntry}, position, digest, ${micros("sealed_at")} as "sealedAt"
            from ${schema}_audit.audit_v1 where position between $1 and $2 order by position limit $3`,
    bindings: [range.from, range.to, range.to - range.from + 2],
  });
}

/** Reads the months (`YYYYMM`, UTC) since a given one for which the trail has no partition, from the catalogue, in one round trip. */
export async function readMissingMonths(db: Queryable, schema: AuditSchema, sinceMicros: string): Promise<string[]> {
  const rows = await run<{ month: string }>(db, {
    sql: `select to_char(month, 'YYYYMM') as month
            from generate_series(date_trunc('month', ${momentOf("$1")} at time zone 'UTC'), date_trunc('month', now() at time zone 'UTC'), '1 month') month
           where not exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace
                              where n.nspname = '${schema}_audit' and c.relname = 'audit_entries_p' || to_char(month, 'YYYYMM') and c.relispartition)
           order by 1`,
    bindings: [sinceMicros],
  });
  return rows.map(({ month }) => month);
}
