import type pg from "pg";
import { checkedIdentifier } from "./identifier.ts";
import { type CompiledQuery, run } from "./statement.ts";

export interface TenantRows {
  pool: pg.Pool;
  /** The schema of the service itself. */
  schema: string;
  tenantId: number;
  /** These tables are left alone, with their partitions: the caller empties them itself, or they are dropped by age. */
  except?: readonly string[];
}

/** The chunk is small enough that nobody waits for the locks of one statement: about 50 ms if rows have several indexes. */
const chunk = 2_000;

/** No chain of references is deeper than this; a cycle would have no end. */
const deepest = 12;

/**
 * Finds every table of the schema with a column `tenant_id`, partitions one by one, referring tables before those they refer to. It reads the
 * catalogue, so that a table that is added later is included. The audit trail is excluded: it must stay readable for those who are accountable, and
 * its chain covers all tenants and would break.
 */
const tenantTables = (schema: string): CompiledQuery<{ name: string; root: string }> => ({
  sql: `with recursive tables as (
          select c.oid, c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
           where n.nspname = $1 and c.relkind = 'r' and c.relname !~ '^audit_'
             and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped)
        ), height as (
          select oid, 0 as above from tables
          union
          select f.confrelid, h.above + 1 from height h join pg_constraint f on f.conrelid = h.oid and f.contype = 'f'
           where f.confrelid <> f.conrelid and h.above < ${deepest})
        select t.relname as name, coalesce(max(r.relname::text), t.relname) as root
          from tables t join height h on h.oid = t.oid left join pg_class r on r.oid = pg_partition_root(t.oid)
         group by t.relname order by max(h.above), t.relname`,
  bindings: [schema],
});

async function tablesOf({ pool, schema, except = [] }: TenantRows): Promise<string[]> {
  const rows = await run(pool, tenantTables(schema));
  return rows.filter(({ root }) => !except.includes(root)).map(({ name }) => `${checkedIdentifier(schema)}.${checkedIdentifier(name)}`);
}

/** Counts a tenant's rows in a schema: one statement over all its tables, along their keys. */
export async function countTenantRows(rows: TenantRows): Promise<number> {
  const counts = (await tablesOf(rows)).map((table) => `(select count(*) from ${table} where tenant_id = $1)`);
  const [found] = await run<{ n: number }>(rows.pool, {
    sql: `select (${["0", ...counts].join(" + ")})::bigint as n`,
    bindings: [rows.tenantId],
  });
  return found?.n ?? 0;
}

/**
 * Deletes a tenant's rows chunk by chunk until about `untilMs` (epoch). Deleted rows stay deleted, so the next call continues after a crash. `done`
 * means that nothing was left.
 */
export async function deleteTenantRows(rows: TenantRows & { untilMs: number }): Promise<{ deleted: number; done: boolean }> {
  const tables = await tablesOf(rows);
  let deleted = 0;
  // it repeats until a whole round finds nothing, because a trigger of one table may write to another one that was empty already
  for (let found = -1; found !== 0; ) {
    found = 0;
    for (const table of tables) {
      for (let n = chunk; n === chunk; ) {
        if (Date.now() >= rows.untilMs) return { deleted, done: false };
        n = await deleteChunk(rows, table);
        found += n;
        deleted += n;
      }
    }
  }
  return { deleted, done: true };
}

/** Deletes by row location and not by key: tables have different keys, and a location needs no look-up. */
async function deleteChunk({ pool, tenantId }: TenantRows, table: string): Promise<number> {
  const [gone] = await run<{ n: number }>(pool, {
    sql: `with gone as (
            delete from ${table} where tenant_id = $1 and ctid = any (array(select ctid from ${table} where tenant_id = $1 limit ${chunk}))
            returning 1)
          select count(*) as n from gone`,
    bindings: [tenantId],
  });
  return gone?.n ?? 0;
}
