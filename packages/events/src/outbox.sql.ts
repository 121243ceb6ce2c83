import { type Database, type Queryable, run, runOne, statement } from "@harrier/db";
import type { OutboxRow } from "./expand.ts";

/** The text of a pg_snapshot: everything that was visible in it has been sent. */
export type Sent = string;

const cursor = statement<[], { sent: Sent }>("events.outbox_cursor", "select sent::text from outbox_cursor");

export async function readCursor(db: Database): Promise<Sent> {
  return (await runOne(db.pool, cursor, []))?.sent ?? "1:1:";
}

type StoredRow = Omit<OutboxRow, "at"> & { at: Date };
type PageRow = { snapshot: Sent; found: number | null } & { [K in keyof StoredRow]: StoredRow[K] | null };

const page = statement<[sent: Sent, afterId: string, maxRows: number, maxItems: number], PageRow>(
  "events.outbox_page",
  `select pg_current_snapshot()::text as snapshot, o.*
     from (values (1)) as always(one)
     left join lateral (
       select p.id::text, p.txid::text, p.topic, p.type, p.common, p.items, p.traceparent, p.at, p.found
         from (select f.*, count(*) over () as found, row_number() over (order by f.id) as place,
                      sum(json_array_length(f.items)) over (order by f.id) as items_so_far
                 from (select id, txid, topic, type, common, items, traceparent, at from outbox
                        where txid >= pg_snapshot_xmin($1::pg_snapshot) and not pg_visible_in_snapshot(txid, $1::pg_snapshot)
                          and id > $2::bigint
                        order by id limit $3) f) p
        where p.place = 1 or p.items_so_far <= $4::bigint
        order by p.id) o on true`,
);

export interface PageLimits {
  rows: number;
  /** The maximum of items in all rows together; a row of a chunk carries up to 10,000. A first row with more is a page of its own. */
  items: number;
}

export interface OutboxPage {
  /** This page was read from this snapshot; rows that it leaves out for lack of room are visible in it too. */
  snapshot: Sent;
  rows: OutboxRow[];
  /** Whether rows may have been left out. */
  more: boolean;
}

/**
 * Reads the rows that are visible now and were not visible in `sent`, by id, in one round trip. A row that commits late, whatever its id and
 * transaction id, is in the next page that is read after its commit. Rows about one target or rollout get their ids, and become visible, in the
 * order of the changes, because their writers hold its lock until they commit: so within one snapshot the order of ids is right, and between
 * snapshots no later row belongs before an earlier one.
 */
export async function readPage(db: Queryable, sent: Sent, afterId: string, limits: PageLimits): Promise<OutboxPage> {
  const answer = await run(db, page, [sent, afterId, limits.rows, limits.items]);
  const rows = answer.filter((row): row is { snapshot: Sent; found: number } & StoredRow => row.id !== null);
  const found = rows[0]?.found ?? 0;
  return {
    snapshot: answer[0]?.snapshot ?? sent,
    rows: rows.map(({ snapshot: _, found: __, ...row }) => ({ ...row, at: row.at.getTime() })),
    more: found === limits.rows || rows.length < found,
  };
}

const wait = statement<[], never>(
  "events.outbox_wait",
  `select set_config('idle_in_transaction_session_timeout', '0', true), set_config('tcp_keepalives_idle', '30', true),
          set_config('tcp_keepalives_interval', '10', true), set_config('tcp_keepalives_count', '3', true)`,
);

/**
 * Lets the transaction be idle for as long as Kafka takes for a page, in one round trip: if the server ended it, the same page would be sent
 * forever. Instead the server itself notices within a minute that the host of the reader is gone, because until then vacuum is delayed.
 */
export async function waitForReader(tx: Queryable): Promise<void> {
  await run(tx, wait, []);
}

const waiting = statement<[], { at: Date }>(
  "events.outbox_waiting",
  `select o.at from outbox_cursor c cross join lateral (
     select at from outbox
      where txid >= pg_snapshot_xmin(c.sent) and not pg_visible_in_snapshot(txid, c.sent)
      order by txid, id limit 1) o`,
);

/** Answers since when the oldest row has waited to be sent, epoch ms; null if none waits. One round trip, by the index of the order. */
export async function readWaitingSince(db: Queryable): Promise<number | null> {
  return (await runOne(db, waiting, []))?.at.getTime() ?? null;
}

const move = statement<[sent: Sent], never>(
  "events.outbox_move",
  `update outbox_cursor set sent = $1::pg_snapshot where pg_snapshot_xmax(sent) <= pg_snapshot_xmax($1::pg_snapshot)`,
);

/** Moves the cursor, but only forward, in one round trip: a former leader that is late must not make its successor send again. */
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

/** Moves the cursor past rows older than the retention, in one round trip, because without Kafka nobody waits for them. */
export async function skipOlderThan(db: Database, retention: string): Promise<void> {
  await run(db.pool, skip, [retention]);
}
