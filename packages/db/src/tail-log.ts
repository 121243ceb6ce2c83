import { createHash } from "node:crypto";
import { checkedIdentifier } from "./identifier.ts";
import { type Queryable, run, statement } from "./statement.ts";

/** A place in an append-only table: the writing transaction, then the row. Both as decimal text, for both may pass 2^53. */
export interface Position {
  readonly txid: string;
  readonly id: string;
}

export const startPosition: Position = { txid: "0", id: "0" };

export interface TailOptions {
  pool: Queryable;
  /** Own table or a published view (`management.credential_changes_v1`) with columns txid xid8 and id bigint, and an index on (txid, id). */
  table: string;
  columns: readonly string[];
  after: Position;
  limit?: number;
}

/**
 * The rows after a position in (txid, id) order, and only those of transactions older than every running one. A row that commits late
 * (its transaction began before others that have committed) is thus never skipped: nobody reads past it before it is there.
 */
export async function tailLog<Row extends object>(options: TailOptions): Promise<(Row & Position)[]> {
  const { pool, after, limit = 1000 } = options;
  const table = options.table.split(".").map(checkedIdentifier).join(".");
  const columns = options.columns.map(checkedIdentifier).filter((column) => column !== "id" && column !== "txid");
  const text = `select ${columns.map((column) => `t.${column}, `).join("")}t.txid::text as txid, t.id::text as id
    from ${table} t
   where (t.txid, t.id) > ($1::xid8, $2::bigint) and t.txid < pg_snapshot_xmin(pg_current_snapshot())
   order by t.txid, t.id limit $3`;
  const name = `tail_${createHash("sha256").update(text).digest("hex").slice(0, 16)}`;
  return run(pool, statement<[string, string, number], Row & Position>(name, text), [after.txid, after.id, limit]);
}

/** Where the log ends now: every row that becomes visible to `tailLog` later lies after it. For readers that need no past. */
export async function endOfLog(pool: Queryable): Promise<Position> {
  const end = statement<[], Position>(
    "tail_end",
    "select (pg_snapshot_xmin(pg_current_snapshot())::text::numeric - 1)::text as txid, '9223372036854775807' as id",
  );
  return (await run(pool, end, []))[0] ?? startPosition;
}
