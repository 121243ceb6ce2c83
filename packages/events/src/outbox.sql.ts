import { type Database, type Queryable, run, runOne, statement } from "@harrier/db";
import type { OutboxRow } from "./expand.ts";

/** Text of a pg_snapshot: everything that was visible in it has been sent. */
export type Sent = string;

const cursor = statement<[], { sent: Sent }>("events.outbox_cursor", "select sent::text from outbox_cursor");

export async function readCursor(db: Database): Promise<Sent> {
  return (await runOne(db.pool, cursor, []))?.sent ?? "1:1:";
}

type StoredRow = Omit<OutboxRow, "at"> & { at: Date };
type PageRow = { snapshot: Sent } & { [K in keyof StoredRow]: StoredRow[K] | null };

const page = statement<[sent: Sent, afterId: string, limit: number], PageRow>(
  "events.outbox_page",
  `select pg_current_snapshot()::text as snapshot, o.*
     from (values (1)) as always(one)
     left join lateral (
       select id::text, txid::text, topic, type, common, items, traceparent, at from outbox
        where txid >= pg_snapshot_xmin($1::pg_snapshot) and not pg_visible_in_snapshot(txid, $1::pg_snapshot) and id > $2::bigint
        order by outbox.id limit $3) o on true`,
);

export interface OutboxPage {
  /** What this page was read from; the rows that it leaves out for want of room are visible in it too. */
  snapshot: Sent;
  rows: OutboxRow[];
}

/**
 * Rows that are visible now and were not visible in `sent`, by id. A row that commits late, whatever its id and transaction id, is in
 * the next page that is read after its commit. Rows about one target or rollout get their ids, and become visible, in the order of the
 * changes, for their writers hold its lock until they commit: so within one snapshot the order of ids is right, and between snapshots
 * nothing can come later that belongs before. One round trip.
 */
export async function readPage(db: Queryable, sent: Sent, afterId: string, limit: number): Promise<OutboxPage> {
  const found = await run(db, page, [sent, afterId, limit]);
  const rows = found.filter((row): row is { snapshot: Sent } & StoredRow => row.id !== null);
  return { snapshot: found[0]?.snapshot ?? sent, rows: rows.map(({ snapshot: _, ...row }) => ({ ...row, at: row.at.getTime() })) };
}

const move = statement<[sent: Sent], never>(
  "events.outbox_move",
  `update outbox_cursor set sent = $1::pg_snapshot where pg_snapshot_xmax(sent) <= pg_snapshot_xmax($1::pg_snapshot)`,
);

/** Only ever forward: a deposed leader that is late must not make its successor send again. One round trip. */
export async function moveCursor(db: Database, to: Sent): Promise<void> {
  await run(db.pool, move, [to]);
}

const skip = statement<[retention: string], never>(
  "events.outbox_skip",
  `with old as (
     select max(txid) as txid from outbox where at < now() - $1::interval and txid < pg_snapshot_xmin(pg_current_snapshot()))
   update outbox_cursor c set sent = next.sent
     from (select format('%1$s:%1$s:', old.txid::text::numeric + 1)::pg_snapshot as sent from old where old.txid is not null) next
    where pg_snapshot_xmax(c.sent) < pg_snapshot_xmax(next.sent)`,
);

/** Without Kafka nobody waits for the rows: the cursor passes what is older than the retention. One round trip. */
export async function skipOlderThan(db: Database, retention: string): Promise<void> {
  await run(db.pool, skip, [retention]);
}
