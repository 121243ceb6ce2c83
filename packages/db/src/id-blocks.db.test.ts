import { afterAll, beforeAll, expect, test } from "vitest";
import { freshDatabase } from "../../../tests/setup/fresh-database.ts";
import { createDatabase, type Database } from "./database.ts";
import { IdBlocks } from "./id-blocks.ts";

let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let db: Database;

beforeAll(async () => {
  fresh = await freshDatabase();
  db = createDatabase({ url: fresh.url, applicationName: "db-test" });
  await db.pool.query(
    "create table id_counters (tenant_id int, kind text, next_id bigint not null default 11, primary key (tenant_id, kind))",
  );
});
afterAll(async () => {
  await db.close();
  await fresh.drop();
});

test("ids start at 11, per tenant and kind", async () => {
  const ids = new IdBlocks(db.pool);
  expect(await ids.next(1, "action")).toBe(11);
  expect(await ids.next(1, "action")).toBe(12);
  expect(await ids.next(1, "set")).toBe(11);
  expect(await ids.next(2, "action")).toBe(11);
});

test("replicas and concurrent callers never get the same id", async () => {
  const replicas = [new IdBlocks(db.pool, 7), new IdBlocks(db.pool, 7), new IdBlocks(db.pool)];
  const singles = await Promise.all(Array.from({ length: 300 }, (_, n) => (replicas[n % 3] as IdBlocks).next(9, "action")));
  const firsts = await Promise.all([1, 2, 3].map(() => (replicas[0] as IdBlocks).take(9, "action", 100)));
  const all = [...singles, ...firsts.flatMap((first) => Array.from({ length: 100 }, (_, n) => first + n))];
  expect(new Set(all).size).toBe(600);
});

test("a failed refill fails those who waited for it, and the next call retries", async () => {
  const ids = new IdBlocks(db.pool);
  await db.pool.query("alter table id_counters rename to elsewhere");
  const waiting = await Promise.allSettled([ids.next(5, "x"), ids.next(5, "x")]);
  await db.pool.query("alter table elsewhere rename to id_counters");
  expect(waiting.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await ids.next(5, "x")).toBe(11);
});

test("ids beyond 2^31 are refused as a quota that is used up", async () => {
  await db.pool.query("insert into id_counters values (3, 'action', 2147483640)");
  const message = "The tenant has used up its ids of kind action.";
  await expect(new IdBlocks(db.pool).take(3, "action", 100)).rejects.toMatchObject({ code: "quotaTooManyEntries", message });
  await expect(new IdBlocks(db.pool).next(3, "action")).rejects.toMatchObject({ code: "quotaTooManyEntries" });
});
