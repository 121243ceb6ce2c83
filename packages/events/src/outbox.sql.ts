import { type Database, type Position, run, statement, tailLog } from "@harrier/db";
import type { OutboxRow } from "./expand.ts";

type StoredRow = Omit<OutboxRow, "at" | "id" | "txid"> & { at: Date };

/** The next rows in (transaction, id) order, all of them below every transaction that still runs. One round trip. */
export async function readOutbox(db: Database, after: Position, limit: number): Promise<OutboxRow[]> {
  const columns = ["topic", "type", "common", "items", "traceparent", "at"];
  const rows = await tailLog<StoredRow>({ pool: db.pool, table: "outbox", columns, after, limit });
  return rows.map((row) => ({ ...row, at: row.at.getTime() }));
}

const cursor = statement<[], Position>("events.outbox_cursor", "select txid::text, id::text from outbox_cursor");

export async function readCursor(db: Database): Promise<Position> {
  return (await run(db.pool, cursor, []))[0] ?? { txid: "0", id: "0" };
}

const move = statement<[string, string], never>(
  "events.outbox_move",
  "update outbox_cursor set txid = $1::xid8, id = $2::bigint where (txid, id) < ($1::xid8, $2::bigint)",
);

/** Only ever forward: a deposed leader that is late must not make its successor send again. One round trip. */
export async function moveCursor(db: Database, to: Position): Promise<void> {
  await run(db.pool, move, [to.txid, to.id]);
}

const skip = statement<[string], Position>(
  "events.outbox_skip",
  `with old as (
     select txid, id from outbox
     where at < now() - $1::interval and txid < pg_snapshot_xmin(pg_current_snapshot())
     order by txid desc, id desc limit 1)
   update outbox_cursor c set txid = old.txid, id = old.id from old where (c.txid, c.id) < (old.txid, old.id)
   returning c.txid::text, c.id::text`,
);

/** Without Kafka nobody waits for the rows: the cursor passes what is older than the retention. One round trip. */
export async function skipOlderThan(db: Database, retention: string): Promise<void> {
  await run(db.pool, skip, [retention]);
}
