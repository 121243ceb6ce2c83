import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { freshDatabase } from "../../../tests/setup/fresh-database.ts";
import { createDatabase, type Database } from "./database.ts";
import { migrate } from "./migrate.ts";
import { applyViews, checkNeeds } from "./views.ts";

let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let db: Database;
let dir: string;
let schema: string;
let schemas = 0;

beforeAll(async () => {
  fresh = await freshDatabase();
  db = createDatabase({ url: fresh.url, applicationName: "db-test" });
});
afterAll(async () => {
  await db.close();
  await fresh.drop();
});
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "harrier-migrate-"));
  schemas += 1;
  schema = `s${schemas}`;
  await db.pool.query(`create schema ${schema}`);
});
afterEach(() => rmSync(dir, { recursive: true }));

const write = (name: string, text: string) => writeFileSync(join(dir, name), text);
const apply = () => migrate({ pool: db.pool, schema, dir });
/** An image without migrations, whose views are the files of `dir`. */
const views = async () => {
  const migrations = join(dir, "none");
  await migrate({ pool: db.pool, schema, dir: migrations });
  return applyViews({ pool: db.pool, schema, dir, migrations });
};

test("files are applied in order, once, in the schema; a folder that is not there holds none", async () => {
  write("0002_more.sql", "-- expand\nalter table a add column y int;\n");
  write("0001_first.sql", "-- expand\ncreate table a (x int);\n");
  expect(await apply()).toEqual(["0001_first.sql", "0002_more.sql"]);
  expect(await apply()).toEqual([]);
  write("0003_third.sql", "-- contract\nalter table a drop column x;\n");
  expect(await apply()).toEqual(["0003_third.sql"]);
  const { rows } = await db.pool.query("select column_name from information_schema.columns where table_schema = $1 and table_name = 'a'", [
    schema,
  ]);
  expect(rows).toEqual([{ column_name: "y" }]);
  expect(await migrate({ pool: db.pool, schema, dir: join(dir, "none") })).toEqual([]);
});

test("replicas that start at once apply each file once", async () => {
  write("0001_first.sql", "-- expand\ncreate table a (x int);\nselect pg_sleep(0.2);\n");
  write("0002_second.sql", "-- expand\ninsert into a values (1);\n");
  const applied = await Promise.all([apply(), apply(), apply(), apply()]);
  expect(applied.flat().toSorted()).toEqual(["0001_first.sql", "0002_second.sql"]);
  expect((await db.pool.query(`select x from ${schema}.a`)).rowCount).toBe(1);
});

test("a failing file leaves nothing of itself and names itself", async () => {
  write("0001_good.sql", "-- expand\ncreate table a (x int);\n");
  write("0002_bad.sql", "-- expand\ncreate table b (x int);\nselect 1/0;\n");
  await expect(apply()).rejects.toThrow(`migration ${schema}/0002_bad.sql: division by zero`);
  const { rows } = await db.pool.query("select to_regclass($1) as a, to_regclass($2) as b", [`${schema}.a`, `${schema}.b`]);
  expect(rows).toEqual([{ a: `${schema}.a`, b: null }]);
});

test("an edited file, a bad first line, a bad name and a doubled number are refused", async () => {
  write("0001_first.sql", "-- expand\ncreate table a (x int);\n");
  await apply();
  write("0001_first.sql", "-- expand\ncreate table a (x bigint);\n");
  await expect(apply()).rejects.toThrow("0001_first.sql was edited after it had been applied");
  write("0001_first.sql", "create table a (x int);\n");
  await expect(apply()).rejects.toThrow('line 1 must be "-- expand" or "-- contract"');
  rmSync(join(dir, "0001_first.sql"));
  write("0002_a.sql", "-- expand\n");
  write("0002_b.sql", "-- expand\n");
  await expect(apply()).rejects.toThrow("the number 0002 is used twice");
  rmSync(join(dir, "0002_b.sql"));
  write("2_c.sql", "-- expand\n");
  await expect(apply()).rejects.toThrow("NNNN_lower_case.sql");
});

test("an older image, which lacks files that were applied, starts", async () => {
  write("0001_first.sql", "-- expand\ncreate table a (x int);\n");
  write("0002_newer.sql", "-- expand\nalter table a add column y int;\n");
  await apply();
  rmSync(join(dir, "0002_newer.sql"));
  expect(await apply()).toEqual([]);
});

test("views follow their files; unchanged ones are left alone, and one that is gone comes back", async () => {
  await db.pool.query(`create table ${schema}.a (x int, y int)`);
  write("a.sql", "create or replace view a_v1 as select x from a;\n");
  expect(await views()).toEqual(["a.sql"]);
  expect(await views()).toEqual([]);
  write("a.sql", "create or replace view a_v1 as select x, y from a;\n");
  expect(await views()).toEqual(["a.sql"]);
  await db.pool.query(`drop view ${schema}.a_v1`);
  expect(await views()).toEqual(["a.sql"]);
});

test("a published view that would lose or change a column is refused with the remedy", async () => {
  await db.pool.query(`create table ${schema}.a (x int, y int)`);
  write("a.sql", "create or replace view a_v1 as select x, y from a;\n");
  await views();
  for (const change of ["select x from a", "select y, x from a", "select x::text, y from a"]) {
    write("a.sql", `create or replace view a_v1 as ${change};\n`);
    await expect(views()).rejects.toThrow(/view s\d+\/a\.sql: .*a published view only grows.*_v2/);
  }
  write("b.sql", "create or replace view b_v1 as select nothing from a;\n");
  write("a.sql", "create or replace view a_v1 as select x, y from a;\n");
  await expect(views()).rejects.toThrow(/view s\d+\/b\.sql: column "nothing" does not exist/);
});

test("needs that are missing are named", async () => {
  await db.pool.query(`create view ${schema}.a_v1 as select 1 as x`);
  const needs = [
    { schema, view: "a_v1" },
    { schema, view: "b_v1" },
    { schema: "nowhere", view: "c_v1" },
  ];
  expect(await checkNeeds(db.pool, needs)).toEqual(["nowhere.c_v1", `${schema}.b_v1`]);
  expect(await checkNeeds(db.pool, [])).toEqual([]);
});

test("an image that is older than the schema leaves its views alone", async () => {
  const image = (name: string) => ({ migrations: join(dir, name, "migrations"), views: join(dir, name, "views") });
  const start = async ({ migrations, views: own }: ReturnType<typeof image>) => {
    await migrate({ pool: db.pool, schema, dir: migrations });
    return applyViews({ pool: db.pool, schema, dir: own, migrations });
  };
  const [older, newer] = [image("older"), image("newer")];
  for (const folder of [older.migrations, older.views, newer.migrations, newer.views]) mkdirSync(folder, { recursive: true });
  for (const { migrations } of [older, newer]) {
    writeFileSync(join(migrations, "0001_first.sql"), "-- expand\ncreate table a (x int);\n");
  }
  writeFileSync(join(older.views, "a.sql"), "create or replace view a_v1 as select x from a;\n");
  writeFileSync(join(newer.migrations, "0002_more.sql"), "-- expand\nalter table a add column y int;\n");
  writeFileSync(join(newer.views, "a.sql"), "create or replace view a_v1 as select x, y from a;\n");
  expect(await start(older)).toEqual(["a.sql"]);
  expect(await start(newer)).toEqual(["a.sql"]);
  expect(await start(older)).toEqual([]);
  await db.pool.query(`select y from ${schema}.a_v1`);
});
