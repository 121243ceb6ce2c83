import { HarrierError } from "@harrier/errors";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freshDatabase } from "../../../tests/setup/fresh-database.ts";
import { createDatabase, type Database } from "./database.ts";
import { countRoundTrips } from "./request-scope.ts";
import { compile, createQueryBuilder, inTransaction, run, runCount, runOne, statement } from "./statement.ts";

let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let db: Database;

beforeAll(async () => {
  fresh = await freshDatabase();
  db = createDatabase({ url: fresh.url, applicationName: "db-test", max: 3 });
  await db.pool.query("create table things (id bigint primary key, name text not null, ids bigint[] not null default '{}')");
});
afterAll(async () => {
  await db.close();
  await fresh.drop();
});

const insertThing = statement<[id: number, name: string], { id: number }>(
  "insert_thing",
  "insert into things (id, name) values ($1, $2) returning id",
);
const findThing = statement<[id: number], { id: number; name: string }>("find_thing", "select id, name from things where id = $1");

test("bigint and bigint[] arrive as numbers, other types as usual", async () => {
  const { rows } = await db.pool.query(
    "select 9007199254740991::bigint as a, '{1,2}'::bigint[] as b, 5::int as c, now() as d, 1.5::numeric as e",
  );
  expect(rows[0]).toMatchObject({ a: 9007199254740991, b: [1, 2], c: 5, d: expect.any(Date), e: "1.5" });
});

test("a statement is prepared under its name, and its rows are typed", async () => {
  expect(await run(db.pool, insertThing, [1, "one"])).toEqual([{ id: 1 }]);
  expect(await runOne(db.pool, findThing, [1])).toEqual({ id: 1, name: "one" });
  expect(await runOne(db.pool, findThing, [999])).toBeUndefined();
  const client = await db.pool.connect();
  await run(client, findThing, [1]);
  const { rows } = await client.query("select name from pg_prepared_statements where name = 'find_thing'");
  client.release();
  expect(rows).toEqual([{ name: "find_thing" }]);
});

test("a name that PostgreSQL would truncate is refused", () => {
  expect(() => statement("x".repeat(64), "select 1")).toThrow("over 63 bytes");
});

test("a list built with knex runs with bindings", async () => {
  await run(db.pool, insertThing, [2, "two?"]);
  const things = createQueryBuilder();
  const query = things("things").select("id", "name").where("name", "two?").whereIn("id", [1, 2]).orderBy("id").limit(5);
  expect(await run(db.pool, compile<{ id: number; name: string }>(query))).toEqual([{ id: 2, name: "two?" }]);
});

test("runCount returns how many rows changed", async () => {
  const rename = statement<[ids: number[]], never>("rename_things", "update things set name = name || '!' where id = any($1)");
  expect(await runCount(db.pool, rename, [[1, 2, 3]])).toBe(2);
});

test("an error rolls back and returns a usable connection", async () => {
  const failed = inTransaction(db.pool, async (tx) => {
    await run(tx, insertThing, [50, "fifty"]);
    await run(tx, insertThing, [50, "again"]);
  });
  await expect(failed).rejects.toMatchObject({ code: "23505" });
  expect(await runOne(db.pool, findThing, [50])).toBeUndefined();
  // there are more rounds than connections, so a lost connection would be noticed
  for (let round = 0; round < 10; round += 1)
    await expect(inTransaction(db.pool, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await inTransaction(db.pool, (tx) => run(tx, insertThing, [51, "x"]))).toEqual([{ id: 51 }]);
});

test("the round trips of one request are counted apart from others", async () => {
  const a = { roundTrips: 0 };
  const b = { roundTrips: 0 };
  await Promise.all([
    countRoundTrips(a, () => inTransaction(db.pool, (tx) => run(tx, findThing, [1]))),
    countRoundTrips(b, () => run(db.pool, findThing, [1])),
  ]);
  expect([a.roundTrips, b.roundTrips]).toEqual([3, 1]);
});

test("a connection that the server closes does not end the process, and the caller gets `unavailable`", async () => {
  const work = inTransaction(db.pool, async (tx) => {
    const { rows } = await tx.query<{ pid: number }>("select pg_backend_pid() as pid");
    await db.pool.query("select pg_terminate_backend($1)", [rows[0]?.pid]);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await run(tx, findThing, [1]);
  });
  await expect(work).rejects.toMatchObject({ code: expect.stringMatching(/unavailable|57P01/) });
  expect(await runOne(db.pool, findThing, [1])).toBeDefined();
});

test("a missing database is `unavailable`, with the driver's error as its cause", async () => {
  const nowhere = createDatabase({ url: "postgres://a:b@127.0.0.1:1/x", applicationName: "db-test" });
  const error = await run(nowhere.pool, findThing, [1]).catch((e: unknown) => e);
  await nowhere.close();
  expect(error).toBeInstanceOf(HarrierError);
  expect(error).toMatchObject({ code: "unavailable", cause: { code: "ECONNREFUSED" } });
});
