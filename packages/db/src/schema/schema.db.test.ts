import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { freshDatabase } from "../../../../tests/setup/fresh-database.ts";
import { createDatabase, type Database } from "../database.ts";
import { applyFunctions, applyViews, checkNeeds, migrate, migrateDatabase, prepareSchema } from "./index.ts";
import type { SqlFolder } from "./sql-files.ts";

let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let db: Database;
let folder: string;
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
  folder = mkdtempSync(join(tmpdir(), "harrier-migrate-"));
  schemas += 1;
  schema = `s${schemas}`;
  await db.pool.query(`create schema ${schema}`);
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Writes a file of the service whose folder is `at`. */
function write(kind: SqlFolder, name: string, text: string, at = folder): void {
  mkdirSync(join(at, kind), { recursive: true });
  writeFileSync(join(at, kind, name), text);
}
const migration = (name: string, text: string) => write("migrations", name, text);
const view = (name: string, text: string) => write("views", name, text);
const remove = (name: string) => rmSync(join(folder, "migrations", name));
const service = () => ({ pool: db.pool, schema, folder });
const apply = () => migrate(service());
const views = () => applyViews(service());
const functions = () => applyFunctions(service());

test("files are applied once, in order, in the schema; a missing folder counts as empty", async () => {
  migration("0002_more.sql", "-- expand\nalter table a add column y int;\n");
  migration("0001_first.sql", "-- expand\ncreate table a (x int);\n");
  expect(await apply()).toEqual(["0001_first.sql", "0002_more.sql"]);
  expect(await apply()).toEqual([]);
  migration("0003_third.sql", "-- contract\nalter table a drop column x;\n");
  expect(await apply()).toEqual(["0003_third.sql"]);
  const { rows } = await db.pool.query("select column_name from information_schema.columns where table_schema = $1 and table_name = 'a'", [
    schema,
  ]);
  expect(rows).toEqual([{ column_name: "y" }]);
  expect(await migrate({ ...service(), folder: join(folder, "none") })).toEqual([]);
});

test("replicas that start together apply each file once", async () => {
  migration("0001_first.sql", "-- expand\ncreate table a (x int);\nselect pg_sleep(0.2);\n");
  migration("0002_second.sql", "-- expand\ninsert into a values (1);\n");
  const applied = await Promise.all([apply(), apply(), apply(), apply()]);
  expect(applied.flat().toSorted()).toEqual(["0001_first.sql", "0002_second.sql"]);
  expect((await db.pool.query(`select x from ${schema}.a`)).rowCount).toBe(1);
});

test("a failing file is rolled back completely and named in the error", async () => {
  migration("0001_good.sql", "-- expand\ncreate table a (x int);\n");
  migration("0002_bad.sql", "-- expand\ncreate table b (x int);\nselect 1/0;\n");
  await expect(apply()).rejects.toThrow(`migration ${schema}/0002_bad.sql: division by zero`);
  const { rows } = await db.pool.query("select to_regclass($1) as a, to_regclass($2) as b", [`${schema}.a`, `${schema}.b`]);
  expect(rows).toEqual([{ a: `${schema}.a`, b: null }]);
});

test("an edited file, a bad first line, a bad name and a duplicate number are refused", async () => {
  migration("0001_first.sql", "-- expand\ncreate table a (x int);\n");
  await apply();
  migration("0001_first.sql", "-- expand\ncreate table a (x bigint);\n");
  await expect(apply()).rejects.toThrow("0001_first.sql was edited after it had been applied");
  migration("0001_first.sql", "create table a (x int);\n");
  await expect(apply()).rejects.toThrow('line 1 must be "-- expand" or "-- contract"');
  remove("0001_first.sql");
  migration("0002_a.sql", "-- expand\n");
  migration("0002_b.sql", "-- expand\n");
  await expect(apply()).rejects.toThrow("the number 0002 is used twice");
  remove("0002_b.sql");
  migration("2_c.sql", "-- expand\n");
  await expect(apply()).rejects.toThrow("NNNN_lower_case.sql");
});

test("an older image without some applied files starts", async () => {
  migration("0001_first.sql", "-- expand\ncreate table a (x int);\n");
  migration("0002_newer.sql", "-- expand\nalter table a add column y int;\n");
  await apply();
  remove("0002_newer.sql");
  expect(await apply()).toEqual([]);
});

test("views follow their files; unchanged ones are left alone, and a missing one is created again", async () => {
  await db.pool.query(`create table ${schema}.a (x int, y int)`);
  view("a.sql", "create or replace view a_v1 as select x from a;\n");
  expect(await views()).toEqual(["a.sql"]);
  expect(await views()).toEqual([]);
  view("a.sql", "create or replace view a_v1 as select x, y from a;\n");
  expect(await views()).toEqual(["a.sql"]);
  await db.pool.query(`drop view ${schema}.a_v1`);
  expect(await views()).toEqual(["a.sql"]);
});

test("a published view that would lose or change a column is refused, with the remedy", async () => {
  await db.pool.query(`create table ${schema}.a (x int, y int)`);
  view("a.sql", "create or replace view a_v1 as select x, y from a;\n");
  await views();
  for (const change of ["select x from a", "select y, x from a", "select x::text, y from a"]) {
    view("a.sql", `create or replace view a_v1 as ${change};\n`);
    await expect(views()).rejects.toThrow(/views s\d+\/a\.sql: .*a published view only grows.*_v2/);
  }
  view("b.sql", "create or replace view b_v1 as select nothing from a;\n");
  view("a.sql", "create or replace view a_v1 as select x, y from a;\n");
  await expect(views()).rejects.toThrow(/views s\d+\/b\.sql: column "nothing" does not exist/);
});

test("a database that does not fold case is refused before anything is made in it, also by a service that was started alone", async () => {
  const name = `unsuitable_${process.pid}`;
  await db.pool.query(`create database ${name} template template0 encoding 'UTF8' lc_collate 'C' lc_ctype 'C'`);
  const url = new URL(fresh.url);
  url.pathname = `/${name}`;
  try {
    migration("0001_first.sql", "-- expand\ncreate table a (x int);\n");
    await expect(migrateDatabase(url.href, { schema: "public", folder })).rejects.toThrow("ctype C does not fold the case");
    const other = createDatabase({ url: url.href, applicationName: "db-test" });
    expect((await other.pool.query("select from pg_class where relnamespace = 'public'::regnamespace")).rows).toEqual([]);
    await other.close();
  } finally {
    await db.pool.query(`drop database ${name}`);
  }
});

test("missing views of other services are named", async () => {
  await db.pool.query(`create view ${schema}.a_v1 as select 1 as x`);
  const needs = [
    { schema, view: "a_v1" },
    { schema, view: "b_v1" },
    { schema: "nowhere", view: "c_v1" },
  ];
  expect(await checkNeeds(db.pool, needs)).toEqual(["nowhere.c_v1", `${schema}.b_v1`]);
  expect(await checkNeeds(db.pool, [])).toEqual([]);
});

test("an image that is older than the schema leaves its functions and views alone", async () => {
  const [older, newer] = [join(folder, "older"), join(folder, "newer")];
  const start = (image: string) => prepareSchema({ ...service(), folder: image });
  for (const image of [older, newer]) write("migrations", "0001_first.sql", "-- expand\ncreate table a (x int);\n", image);
  const one = (n: number) => `create or replace function one() returns int language sql as 'select ${n}';\n`;
  write("views", "a.sql", "create or replace view a_v1 as select x from a;\n", older);
  write("functions", "one.sql", one(1), older);
  write("migrations", "0002_more.sql", "-- expand\nalter table a add column y int;\n", newer);
  write("views", "a.sql", "create or replace view a_v1 as select x, y from a;\n", newer);
  write("functions", "one.sql", one(2), newer);
  for (const image of [older, newer, older]) await start(image);
  await db.pool.query(`select y from ${schema}.a_v1`);
  expect((await db.pool.query(`select ${schema}.one() as n`)).rows).toEqual([{ n: 2 }]);
});

test("functions follow their files in any order; a missing one is created again, and a changed type of the answer is refused", async () => {
  await apply();
  const twice = (n: number, type = "int") =>
    `-- Calls a function of a later file.\ncreate or replace function twice() returns ${type} language sql as 'select ${n} * one()';\n`;
  write("functions", "a.sql", twice(2));
  write("functions", "b.sql", "create or replace function one() returns int language sql as 'select 1';\n");
  expect(await functions()).toEqual(["a.sql", "b.sql"]);
  expect(await functions()).toEqual([]);
  const answer = async () =>
    (await db.pool.query(`set search_path = ${schema}; select twice() as n`)) as unknown as { rows: { n: number }[] }[];
  expect((await answer())[1]?.rows).toEqual([{ n: 2 }]);
  write("functions", "a.sql", twice(3));
  expect(await functions()).toEqual(["a.sql"]);
  expect((await answer())[1]?.rows).toEqual([{ n: 3 }]);
  await db.pool.query(`drop function ${schema}.one()`);
  expect(await functions()).toEqual(["b.sql"]);
  write("functions", "a.sql", twice(3, "bigint"));
  await expect(functions()).rejects.toThrow(/functions s\d+\/a\.sql: .*make a new one \(_v2\) beside it/);
});

test("triggers are created with their functions, and the file may be applied again", async () => {
  migration("0001_first.sql", "-- expand\ncreate table a (x int);\ncreate table log (n int);\n");
  await apply();
  const file = (n: number) =>
    `create or replace function note() returns trigger language plpgsql as $$ begin insert into ${schema}.log values (${n}); return null; end $$;\n` +
    "do $$ begin if not exists (select from pg_trigger where tgname = 'a_noted' and tgrelid = 'a'::regclass) then " +
    "create trigger a_noted after insert on a for each statement execute function note(); end if; end $$;\n";
  for (const n of [1, 2]) {
    write("functions", "a.sql", file(n));
    await functions();
    await db.pool.query(`insert into ${schema}.a values (1)`);
  }
  expect((await db.pool.query(`select n from ${schema}.log order by n`)).rows).toEqual([{ n: 1 }, { n: 2 }]);
});

test("a set-up that migrates before the services start leaves nothing for them to do", async () => {
  migration("0001_first.sql", "-- expand\ncreate table a (x int);\n");
  view("a.sql", "create or replace view a_v1 as select x from a;\n");
  await migrateDatabase(fresh.url, { schema, folder });
  expect([await apply(), await functions(), await views()]).toEqual([[], [], []]);
  await db.pool.query(`select x from ${schema}.a_v1`);
});

test("a schema of a version before the first release is refused with what to do, and left as it is", async () => {
  await db.pool.query(`create table ${schema}.schema_migrations (name text)`);
  migration("0001_first.sql", "-- expand\ncreate table a (x int);\n");
  await expect(apply()).rejects.toThrow("start with an empty database");
  expect((await db.pool.query("select to_regclass($1) as a", [`${schema}.a`])).rows).toEqual([{ a: null }]);
});

test("a schema of another baseline is refused with what to do, and left as it is", async () => {
  migration("0001_baseline.sql", "-- expand\ncreate table a (x int);\n");
  migration("0002_more.sql", "-- expand\ncreate table b (x int);\n");
  await apply();
  remove("0002_more.sql");
  migration("0001_baseline.sql", "-- expand\ncreate table a (x int);\ncreate table b (x int);\n");
  migration("0002_newer.sql", "-- expand\ncreate table c (x int);\n");
  await expect(apply()).rejects.toThrow(`the schema ${schema} was made before the first release and cannot be brought up to date`);
  expect((await db.pool.query("select to_regclass($1) as c", [`${schema}.c`])).rows).toEqual([{ c: null }]);
});

test("a migration needs one connection, and none is held beside it: behind a pooler it would be missing", async () => {
  migration("0001_slow.sql", "-- expand\ncreate table a (x int);\nselect pg_sleep(1.5);\n");
  migration("0002_more.sql", "-- expand\nalter table a add column y int;\n");
  const one = apply();
  const open = `select state from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
                  and backend_type = 'client backend'`;
  const asleep = `${open} and query like '%pg_sleep(1.5)%'`;
  await expect.poll(async () => (await db.pool.query(asleep)).rowCount).toBe(1);
  expect((await db.pool.query(open)).rows).toEqual([{ state: "active" }]);
  const other = apply(); // waits for knex's row, and finds the first one done
  expect([...(await one), ...(await other)].sort()).toEqual(["0001_slow.sql", "0002_more.sql"]);
});

test("an older checkout that tried to start leaves a healthy schema healthy", async () => {
  migration("0001_first.sql", "-- expand\ncreate table a (x int);\n");
  await apply();
  await db.pool.query(`create table ${schema}.schema_migrations (name text)`);
  expect(await apply()).toEqual([]);
});

test("a migration that is killed on its way leaves no lock behind", async () => {
  migration("0001_slow.sql", "-- expand\ncreate table a (x int);\nselect pg_sleep(30);\n");
  const first = apply().catch((error: Error) => error);
  const asleep = "select pid from pg_stat_activity where query like '%pg_sleep(30)%' and state = 'active' and pid <> pg_backend_pid()";
  await expect.poll(async () => (await db.pool.query(asleep)).rowCount).toBe(1);
  await db.pool.query(`select pg_terminate_backend(pid) from (${asleep}) x`);
  expect(await first).toBeInstanceOf(Error);
  migration("0001_slow.sql", "-- expand\ncreate table a (x int);\n");
  expect(await apply()).toEqual(["0001_slow.sql"]);
});

test("a migration or view whose table is in use lets others pass meanwhile, and is applied once the table is free", async () => {
  migration("0001_first.sql", "-- expand\ncreate table a (x int);\n");
  view("a.sql", "create or replace view a_v1 as select x from a;\n");
  await prepareSchema(service());
  const reader = await db.session.connect();
  try {
    await reader.query(`begin; select * from ${schema}.a_v1`);
    migration("0002_more.sql", "-- expand\nalter table a add column y int;\n");
    view("a.sql", "create or replace view a_v1 as select x, y from a;\n");
    const prepared = prepareSchema(service());
    const waits = "select from pg_stat_activity where wait_event_type = 'Lock' and query like '%alter table a add column y%'";
    await expect.poll(async () => (await db.pool.query(waits)).rowCount).toBe(1);
    // behind a migration that waited without a limit this would wait as long as the reader does
    await db.pool.query(`select * from ${schema}.a`);
    await reader.query("commit");
    await prepared;
  } finally {
    reader.release(true);
  }
  await db.pool.query(`select y from ${schema}.a_v1`);
});
