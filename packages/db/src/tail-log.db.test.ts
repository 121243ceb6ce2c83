import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { freshDatabase } from "../../../tests/setup/fresh-database.ts";
import { createDatabase, type Database } from "./database.ts";
import { endOfLog, type Position, startPosition, tailLog } from "./tail-log.ts";

let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let db: Database;

beforeAll(async () => {
  fresh = await freshDatabase();
  db = createDatabase({ url: fresh.url, applicationName: "db-test" });
  await db.pool.query(
    `create table log (id bigint generated always as identity primary key, txid xid8 not null default pg_current_xact_id(), word text);
     create index on log (txid, id)`,
  );
});
afterAll(async () => {
  await db.close();
  await fresh.drop();
});

beforeEach(() => db.pool.query("truncate public.log"));

const read = (after: Position, limit = 100) =>
  tailLog<{ word: string }>({ pool: db.pool, table: "public.log", columns: ["word"], after, limit });
const words = async (after: Position) => (await read(after)).map(({ word }) => word);

// Transaction ids belong to the whole server: a transaction of another test's database holds the log up, for as long as it runs.
const eventually = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 10_000, interval: 20 });

test("a row that commits late is not skipped, and no row comes twice", async () => {
  const early = await db.pool.connect();
  await early.query("begin");
  await early.query("insert into log (word) values ('begun first, committed last')");
  await db.pool.query("insert into log (word) values ('second')");
  // the first transaction still runs: reading on past it would lose its row for ever
  expect(await words(startPosition)).toEqual([]);
  await early.query("commit");
  early.release();
  await eventually(async () => expect(await words(startPosition)).toEqual(["begun first, committed last", "second"]));
  const rows = await read(startPosition);
  expect(await words(rows[1] as Position)).toEqual([]);
  expect(await words(rows[0] as Position)).toEqual(["second"]);
  expect(rows[0]).toEqual({ word: expect.any(String), txid: expect.stringMatching(/^\d+$/), id: expect.stringMatching(/^\d+$/) });
});

test("a row of a rolled-back transaction is never seen and holds nobody up", async () => {
  const end = await endOfLog(db.pool);
  const client = await db.pool.connect();
  await client.query("begin");
  await client.query("insert into log (word) values ('never')");
  await client.query("rollback");
  client.release();
  await db.pool.query("insert into log (word) values ('after')");
  await eventually(async () => expect(await words(end)).toEqual(["after"]));
});

test("endOfLog: what is committed lies before it, what is still running after it", async () => {
  const running = await db.pool.connect();
  await running.query("begin");
  await running.query("insert into log (word) values ('running')");
  const end = await endOfLog(db.pool);
  await running.query("commit");
  running.release();
  await eventually(async () => expect(await words(end)).toEqual(["running"]));
});

test("a limit cuts between rows of one transaction, and the next read goes on there", async () => {
  const end = await endOfLog(db.pool);
  await db.pool.query("insert into log (word) select n::text from generate_series(1, 5) n");
  await eventually(async () => expect(await words(end)).toHaveLength(5));
  const first = await read(end, 3);
  expect(first.map(({ word }) => word)).toEqual(["1", "2", "3"]);
  expect(await words(first[2] as Position)).toEqual(["4", "5"]);
});

test("the read walks the index of the log's order, also on a table that was just filled", async () => {
  await db.pool.query("insert into log (word) select 'x' from generate_series(1, 20000)");
  const { rows } = await db.pool.query<{ "QUERY PLAN": string }>(
    `explain select t.word, t.txid::text as txid, t.id::text as id from log t
      where (t.txid, t.id) > ('7'::xid8, 0) and t.txid < pg_snapshot_xmin(pg_current_snapshot()) order by t.txid, t.id limit 100`,
  );
  const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
  expect(plan).toContain("Index Scan using log_txid_id_idx");
  expect(plan).not.toContain("Sort");
});

test("names that are not plain identifiers never reach the text", async () => {
  await expect(tailLog({ pool: db.pool, table: "log; drop table log", columns: [], after: startPosition })).rejects.toThrow(
    "not a plain SQL identifier",
  );
});
