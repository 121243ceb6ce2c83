import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { freshDatabase } from "../../../tests/setup/fresh-database.ts";
import { createDatabase, type Database } from "./database.ts";
import { startWhenReadable } from "./when-readable.ts";

let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let db: Database;
const needs = [
  { schema: "public", view: "one_v1" },
  { schema: "public", view: "other_v1" },
];

beforeAll(async () => {
  fresh = await freshDatabase();
  db = createDatabase({ url: fresh.url, applicationName: "db-test" });
});
afterAll(async () => {
  await db.close();
  await fresh.drop();
});
beforeEach(async () => {
  await db.pool.query("drop view if exists one_v1, other_v1");
});

const make = (view: string) => db.pool.query(`create view ${view} as select 1 as x`);

test("starts once all views exist, and not before", async () => {
  await make("one_v1");
  let starts = 0;
  const count = (): void => {
    starts += 1;
  };
  const waiting = await startWhenReadable({ pool: db.pool, needs, start: count, everyMs: 10 });
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(starts).toBe(0);
  await make("other_v1");
  await waiting.started;
  expect(starts).toBe(1);
  await waiting.stop();
});

test("has started when it resolves, if they exist already", async () => {
  await Promise.all([make("one_v1"), make("other_v1")]);
  let ended = false;
  await startWhenReadable({
    pool: db.pool,
    needs,
    start: async () => {
      await db.pool.query("select x from one_v1");
      ended = true;
    },
  });
  expect(ended).toBe(true);
});

test("keeps checking while the database does not answer, and never starts after a stop", async () => {
  let requested = 0;
  const pool = {
    query: () => {
      requested += 1;
      return Promise.reject(new Error("no database"));
    },
  };
  let starts = 0;
  const count = (): void => {
    starts += 1;
  };
  const waiting = await startWhenReadable({ pool: pool as never, needs, start: count, everyMs: 10 });
  await expect.poll(() => requested).toBeGreaterThan(2);
  await waiting.stop();
  await waiting.started;
  expect(starts).toBe(0);
});
