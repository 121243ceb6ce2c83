import type pg from "pg";
import { checkedIdentifier } from "./identifier.ts";

interface Place {
  readonly table: string;
  readonly column: string;
  readonly type: "xid8" | "pg_snapshot";
}

/** Finds every column of the schema that stores a transaction id; partitions are read through their parents. */
async function findPlaces(pool: pg.Pool, schema: string): Promise<Place[]> {
  const { rows } = await pool.query<Place>(
    `select c.relname as table, a.attname as column, t.typname as type
       from pg_class c
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       join pg_type t on t.oid = a.atttypid and t.typname in ('xid8', 'pg_snapshot') and t.typnamespace = 'pg_catalog'::regnamespace
      where c.relnamespace = (select oid from pg_namespace where nspname = $1) and c.relkind in ('r', 'p') and not c.relispartition
      order by 1, 2`,
    [schema],
  );
  return rows;
}

/** Finds a stored transaction id that is newer than any that this cluster has assigned; undefined if there is none. */
async function findAhead(pool: pg.Pool, schema: string, places: readonly Place[]): Promise<{ stored: string; now: string } | undefined> {
  const each = places.map(({ table, column, type }) => {
    const name = checkedIdentifier(column);
    const id = type === "xid8" ? name : `pg_snapshot_xmax(${name})`;
    return `select max(${id}) as stored from ${checkedIdentifier(schema)}.${checkedIdentifier(table)}`;
  });
  const { rows } = await pool.query<{ stored: string; now: string }>(
    `select max(stored)::text as stored, now::text as now
       from (${each.join(" union all ")}) ids, pg_snapshot_xmax(pg_current_snapshot()) as now
      where stored > now group by now`,
  );
  return rows[0];
}

/**
 * Refuses a schema that comes from another, older cluster. Outboxes, progress and change logs store their cursor as a transaction id. In a cluster
 * whose ids are still lower (a dump that was restored into a new one) they would silently skip everything that is written from now on. It takes two
 * statements at the start; a physical restore or a promoted standby continues the ids and passes.
 */
export async function refuseYoungerCluster(options: { pool: pg.Pool; schema: string }): Promise<void> {
  const { pool, schema } = options;
  const places = await findPlaces(pool, schema);
  if (places.length === 0) return;
  const ahead = await findAhead(pool, schema, places);
  if (ahead === undefined) return;
  throw new Error(
    `the schema ${schema} was restored into a cluster that is younger than its rows: they know of transaction ${ahead.stored}, the cluster ` +
      `is at ${ahead.now}, and rollouts and events would stand still. Advance the cluster first: docs/operations.md, "A dump in a new cluster"`,
  );
}
