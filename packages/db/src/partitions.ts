import type pg from "pg";
import { checkedIdentifier } from "./identifier.ts";
import { lockSchema } from "./schema/lock.ts";
import { inTransaction } from "./statement.ts";

export interface PartitionedTable {
  /** A table that is partitioned by range of one timestamptz column, with a default partition `<name>_default`. */
  name: string;
  every: "day" | "month";
  /** So many periods after the current one are created ahead. */
  ahead: number;
  /** So many periods before the current one are kept; without it nothing is dropped. */
  keep?: number;
  /** It is asked before a partition is dropped, because an outbox must not lose what its relay has not sent. */
  mayDrop?: (partition: { name: string; until: Date }) => Promise<boolean>;
}

/**
 * Creates the partitions of the current and the coming periods (UTC) and drops those past retention. It runs at every start and then regularly.
 * Rows that were written before their partition existed (they are in the default partition) are moved into it.
 */
export async function ensurePartitions(options: { pool: pg.Pool; schema: string; tables: readonly PartitionedTable[] }): Promise<void> {
  const { pool, schema, tables } = options;
  for (const table of tables) {
    const { rows } = await pool.query<{ now: Date }>("select now() as now");
    const now = rows[0]?.now ?? new Date();
    for (let n = 0; n <= table.ahead; n += 1) await ensureOne(pool, schema, table, periodStart(now, table.every, n));
    if (table.keep !== undefined) await dropOld(pool, schema, table, periodStart(now, table.every, -table.keep));
  }
}

function periodStart(now: Date, every: "day" | "month", offset: number): Date {
  const year = now.getUTCFullYear();
  const month = now.getUTCMonth();
  return new Date(every === "day" ? Date.UTC(year, month, now.getUTCDate() + offset) : Date.UTC(year, month + offset, 1));
}

function partitionName(table: string, every: "day" | "month", start: Date): string {
  const digits = start.toISOString().slice(0, 10).replaceAll("-", "");
  return checkedIdentifier(`${table}_p${every === "day" ? digits : digits.slice(0, 6)}`);
}

async function exists(db: pg.Pool | pg.PoolClient, schema: string, name: string): Promise<boolean> {
  const { rowCount } = await db.query(
    "select from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relname = $2",
    [schema, name],
  );
  return rowCount !== 0;
}

async function ensureOne(pool: pg.Pool, schema: string, table: PartitionedTable, start: Date): Promise<void> {
  const parent = checkedIdentifier(table.name);
  const name = partitionName(parent, table.every, start);
  if (await exists(pool, schema, name)) return;
  const from = start.toISOString();
  const to = periodStart(start, table.every, 1).toISOString();
  await withoutWaiting(pool, async (tx) => {
    await lockSchema(tx, schema);
    if (await exists(tx, schema, name)) return;
    await tx.query(noWaiting);
    const { rows } = await tx.query<{ column: string }>(
      `select a.attname as column from pg_partitioned_table p join pg_attribute a on a.attrelid = p.partrelid and a.attnum = p.partattrs[0]
        where p.partrelid = $1::regclass`,
      [parent],
    );
    const column = checkedIdentifier(rows[0]?.column ?? "");
    // the partition is created first and then attached, not `partition of`, because attaching lets readers and writers of the table go on
    await tx.query(`create table ${name} (like ${parent} including defaults including constraints including storage)`);
    await tx.query(`lock table ${parent}_default in access exclusive mode`);
    await tx.query(
      `with moved as (delete from ${parent}_default where ${column} >= $1::timestamptz and ${column} < $2::timestamptz returning *)
       insert into ${name} select * from moved`,
      [from, to],
    );
    await tx.query(`alter table ${parent} attach partition ${name} for values from ('${from}') to ('${to}')`);
  });
}

async function dropOld(pool: pg.Pool, schema: string, table: PartitionedTable, oldest: Date): Promise<void> {
  const parent = checkedIdentifier(table.name);
  const first = partitionName(parent, table.every, oldest);
  const { rows } = await pool.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
       join pg_namespace n on n.oid = p.relnamespace
      where n.nspname = $1 and p.relname = $2 and c.relname ~ $3 and c.relname < $4 order by 1`,
    [schema, parent, `^${parent}_p[0-9]+$`, first],
  );
  for (const { name } of rows) {
    if (table.mayDrop !== undefined && !(await table.mayDrop({ name, until: endOf(name, table.every) }))) continue;
    await dropPartition(pool, schema, name);
  }
}

function endOf(name: string, every: "day" | "month"): Date {
  const digits = name.slice(name.lastIndexOf("_p") + 2);
  const start = new Date(
    Date.UTC(Number(digits.slice(0, 4)), Number(digits.slice(4, 6)) - 1, every === "day" ? Number(digits.slice(6, 8)) : 1),
  );
  return periodStart(start, every, 1);
}

async function dropPartition(pool: pg.Pool, schema: string, name: string): Promise<void> {
  await withoutWaiting(pool, async (tx) => {
    await lockSchema(tx, schema);
    await tx.query(noWaiting);
    await tx.query(`drop table if exists ${name}`);
  });
}

// Both ways lock the whole table, and everyone else waits behind whoever waits for that lock: behind a dump or a long report the device interface
// would stop. It is retried in an hour instead: two periods are created ahead, and the default partition takes rows that have none.
const noWaiting = "set local lock_timeout = '1s'";

async function withoutWaiting(pool: pg.Pool, work: (tx: pg.PoolClient) => Promise<void>): Promise<void> {
  await inTransaction(pool, work).catch((error: Error & { code?: string }) => {
    if (error.code !== "55P03") throw error;
  });
}
