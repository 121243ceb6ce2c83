import { setTimeout as sleep } from "node:timers/promises";
import { createDatabase, type Database } from "@harrier/db";
import type { ProducerBatch } from "kafkajs";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { freshDatabase } from "../../../tests/setup/fresh-database.ts";
import { readCursor, readPage } from "./outbox.sql.ts";
import { sendBacklog } from "./relay.ts";

/* The tests send the backlog of an outbox on real PostgreSQL to a producer that only counts and is as slow as a test wants. */

const idleMs = 200;
let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let db: Database;

beforeAll(async () => {
  fresh = await freshDatabase();
  db = createDatabase({ url: fresh.url, applicationName: "events-test", idleInTransactionMs: idleMs });
  await db.pool.query(
    `create table outbox (id bigint generated always as identity primary key, txid xid8 not null default pg_current_xact_id(),
       topic text not null default 'target-events', type text not null default 't', common json not null default '{"tenant": "x"}',
       items json not null, traceparent text, at timestamptz not null default now());
     create table outbox_cursor (sent pg_snapshot not null)`,
  );
});
afterAll(async () => {
  await db.close();
  await fresh.drop();
});
beforeEach(async () => {
  await db.pool.query("truncate outbox restart identity; delete from outbox_cursor; insert into outbox_cursor values ('1:1:')");
});

/** Writes one row for each number, with so many items. */
const fill = (items: readonly number[]) =>
  db.pool.query(
    `insert into outbox (items)
     select (select coalesce(json_agg(json_build_object('subject', 'targets/' || r.place || '.' || i, 'sequence', 1) order by i), '[]')
               from generate_series(1, r.n) i)
       from unnest($1::int[]) with ordinality r (n, place) order by r.place`,
    [items],
  );

/** Makes a producer that counts committed messages and takes `delayMs` for each transaction. */
function slowProducer(delayMs: number, onCommit: () => void = () => undefined) {
  const seen = { transactions: 0, messages: 0 };
  const transaction = async () => {
    let messages = 0;
    return {
      async sendBatch({ topicMessages = [] }: ProducerBatch) {
        messages += topicMessages.reduce((sum, topic) => sum + topic.messages.length, 0);
      },
      async commit() {
        await sleep(delayMs);
        seen.transactions += 1;
        seen.messages += messages;
        onCommit();
      },
      abort: async () => undefined,
    };
  };
  return { producer: { transaction } as unknown as Parameters<typeof sendBacklog>[0]["producer"], seen };
}

const leader = (producer: Parameters<typeof sendBacklog>[0]["producer"], signal = new AbortController().signal) => ({
  options: { db, schema: "controller" },
  producer,
  signal,
});

test("a page may take longer than a transaction may be idle: all pages are sent exactly once", async () => {
  await fill(Array.from({ length: 450 }, () => 1));
  const { producer, seen } = slowProducer(idleMs + 100);
  const sent = await sendBacklog(leader(producer), await readCursor(db));
  expect(seen).toEqual({ transactions: 3, messages: 450 });
  expect(await readCursor(db)).toBe(sent);
  expect((await readPage(db.pool, sent, "0", { rows: 200, items: 20_000 })).rows).toEqual([]);
  // the limit is lifted for this transaction only
  const limits = await db.pool.query("show idle_in_transaction_session_timeout");
  expect(limits.rows).toEqual([{ idle_in_transaction_session_timeout: `${idleMs}ms` }]);
});

test("a page is also limited by its items, but has at least one row", async () => {
  await fill([9, 9, 9, 25, 0, 3]);
  const sent = await readCursor(db);
  const pages: string[][] = [];
  for (let after = "0", more = true; more; ) {
    const page = await readPage(db.pool, sent, after, { rows: 4, items: 20 });
    pages.push(page.rows.map((row) => row.id));
    after = page.rows.at(-1)?.id ?? after;
    more = page.more;
  }
  expect(pages).toEqual([["1", "2"], ["3"], ["4"], ["5", "6"]]);
});

test("a relay that loses the leadership stops within a page and leaves the cursor where it was", async () => {
  await fill([2_000, 2_000, 2_000]);
  const before = await readCursor(db);
  const lost = new AbortController();
  const { producer, seen } = slowProducer(0, () => lost.abort());
  expect(await sendBacklog(leader(producer, lost.signal), before)).toBe(before);
  expect(seen).toEqual({ transactions: 1, messages: 2_000 });
  expect(await readCursor(db)).toBe(before);
});
