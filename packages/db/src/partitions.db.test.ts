import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { freshDatabase } from "../../../tests/setup/fresh-database.ts";
import { createDatabase, type Database } from "./database.ts";
import { ensurePartitions, type PartitionedTable } from "./partitions.ts";

let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let db: Database;

beforeAll(async () => {
  fresh = await freshDatabase();
  db = createDatabase({ url: fresh.url, applicationName: "db-test" });
  await db.pool.query("create schema controller");
});
afterAll(async () => {
  await db.close();
  await fresh.drop();
});
beforeEach(async () => {
  await db.pool.query(
    `drop table if exists controller.outbox;
     create table controller.outbox (id bigint generated always as identity, word text not null default 'w', at timestamptz not null default now(), primary key (id, at))
       partition by range (at);
     create index on controller.outbox (word);
     create table controller.outbox_default partition of controller.outbox default`,
  );
});

const ensure = (table: Partial<PartitionedTable> = {}) =>
  ensurePartitions({ pool: db.pool, schema: "controller", tables: [{ name: "outbox", every: "day", ahead: 2, ...table }] });

async function partitions(): Promise<string[]> {
  const { rows } = await db.pool.query<{ name: string }>(
    "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'controller.outbox'::regclass order by 1",
  );
  return rows.map(({ name }) => name.replace("controller.", ""));
}

const day = (offset: number) => {
  const date = new Date();
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() + offset)).toISOString().slice(0, 10);
};
const partitionOf = (offset: number) => `outbox_p${day(offset).replaceAll("-", "")}`;

test("partitions of today and the coming days are created once, even by several replicas at the same time", async () => {
  await Promise.all([ensure(), ensure(), ensure()]);
  expect(await partitions()).toEqual(["outbox_default", partitionOf(0), partitionOf(1), partitionOf(2)]);
  await db.pool.query("insert into controller.outbox (word) values ('now')");
  const { rows } = await db.pool.query("select tableoid::regclass::text as place, id from controller.outbox");
  expect(rows).toEqual([{ place: `controller.${partitionOf(0)}`, id: 1 }]);
});

test("rows that were written before their partition existed are moved into it", async () => {
  await db.pool.query("insert into controller.outbox (word) select 'early' from generate_series(1, 100)");
  await db.pool.query(`insert into controller.outbox (word, at) values ('long ago', '2001-01-01')`);
  await ensure();
  const { rows } = await db.pool.query(
    "select tableoid::regclass::text as place, count(*) as n from controller.outbox group by 1 order by 1",
  );
  expect(rows).toEqual([
    { place: "controller.outbox_default", n: 1 },
    { place: `controller.${partitionOf(0)}`, n: 100 },
  ]);
  await db.pool.query("insert into controller.outbox (word) values ('next')");
  expect((await db.pool.query("select max(id) as id from controller.outbox")).rows).toEqual([{ id: 102 }]);
});

test("monthly partitions work across the end of a year", async () => {
  await ensure({ every: "month", ahead: 13 });
  const names = await partitions();
  expect(names).toHaveLength(15);
  expect(names.every((name) => /^outbox_(default|p\d{6})$/.test(name))).toBe(true);
});

test("old partitions are dropped after the retention, unless something in them is still needed", async () => {
  await ensure();
  for (const offset of [-5, -4, -3]) {
    await db.pool.query(
      `create table controller.${partitionOf(offset)} partition of controller.outbox for values from ('${day(offset)} 00:00+00') to ('${day(offset + 1)} 00:00+00')`,
    );
  }
  const requested: string[] = [];
  await ensure({
    keep: 3,
    mayDrop: async ({ name, until }) => {
      requested.push(`${name} ${until.toISOString().slice(0, 10)}`);
      return name !== partitionOf(-4);
    },
  });
  expect(requested).toEqual([`${partitionOf(-5)} ${day(-4)}`, `${partitionOf(-4)} ${day(-3)}`]);
  expect((await partitions()).toSorted()).toEqual(["outbox_default", ...[-4, -3, 0, 1, 2].map(partitionOf)].toSorted());
});

test("a drop that would wait for a reader is postponed, and readers of the table go on meanwhile", async () => {
  await db.pool.query(
    `create table controller.${partitionOf(-9)} partition of controller.outbox for values from ('${day(-9)} 00:00+00') to ('${day(-8)} 00:00+00')`,
  );
  const reader = await db.pool.connect();
  await reader.query("begin");
  await reader.query("select count(*) from controller.outbox");
  await ensure({ keep: 1, ahead: -1 });
  expect(await partitions()).toContain(partitionOf(-9));
  await reader.query("commit");
  reader.release();
  await ensure({ keep: 1, ahead: -1 });
  expect(await partitions()).not.toContain(partitionOf(-9));
});
