import { createDatabase, type Database, inTransaction, run, statement } from "@harrier/db";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type RoundTripCounter, startRoundTripCounter } from "./round-trips.ts";
import { type TestDatabase, testDatabase } from "./test-database.ts";

const one = statement<[n: number], { n: number }>("test.one", "select $1::int as n");

let database: TestDatabase;
let counter: RoundTripCounter;
let db: Database;

beforeAll(async () => {
  database = await testDatabase({ schemas: [] });
  counter = await startRoundTripCounter(database.adminUrl);
  db = createDatabase({ url: counter.through(database.urlOf("controller")), applicationName: "test", max: 2 });
});
afterAll(async () => {
  await db.close();
  await counter.close();
  await database.drop();
});
beforeEach(() => counter.reset());

test("a named statement is one round trip, even the first time", async () => {
  expect(await run(db.pool, one, [7])).toEqual([{ n: 7 }]);
  expect(counter.count()).toBe(1);
  await run(db.pool, one, [8]);
  await run(db.pool, one, [9]);
  expect(counter.count()).toBe(3);
});

test("BEGIN and COMMIT count, and so does a failed statement with its ROLLBACK", async () => {
  await inTransaction(db.pool, (tx) => run(tx, one, [1]));
  expect(counter.count()).toBe(3);
  counter.reset();
  await expect(inTransaction(db.pool, (tx) => tx.query("select 1/0"))).rejects.toThrow("division by zero");
  expect(counter.count()).toBe(3);
});

test("a simple query is one round trip, however many statements it holds", async () => {
  await db.pool.query("select 1; select 2; select 3");
  expect(counter.count()).toBe(1);
});

test("connections are counted separately, and large messages that are cut over many packets are counted correctly", async () => {
  const big = "x".repeat(3_000_000);
  const echo = statement<[text: string], { n: number }>("test.length", "select length($1) as n");
  const [a, b] = await Promise.all([db.pool.connect(), db.pool.connect()]);
  counter.reset();
  expect(await run(a, echo, [big])).toEqual([{ n: 3_000_000 }]);
  await run(b, one, [1]);
  await run(b, one, [2]);
  a.release();
  b.release();
  expect(counter.count()).toBe(3);
  expect(counter.perConnection().toSorted()).toEqual([1, 2]);
});

test("a client that asks for TLS first is refused and may go on in plain text", async () => {
  const url = counter.through(database.urlOf("controller"));
  await expect(new pg.Client({ connectionString: url, ssl: { rejectUnauthorized: false } }).connect()).rejects.toThrow(
    "The server does not support SSL connections",
  );
});

test("during() counts the round trips of one piece of work", async () => {
  expect(await counter.during(() => Promise.all([run(db.pool, one, [1]), run(db.pool, one, [2])]))).toBe(2);
});

test("connections that are called so do not count", async () => {
  const some = await startRoundTripCounter(database.adminUrl, { without: /\/background$/ });
  const through = createDatabase({ url: some.through(database.urlOf("controller")), applicationName: "test" });
  try {
    await run(through.background, one, [1]);
    expect(some.count()).toBe(0);
    await run(through.pool, one, [1]);
    expect(some.count()).toBe(1);
  } finally {
    await through.close();
    await some.close();
  }
});
