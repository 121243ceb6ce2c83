import type pg from "pg";

export interface NeededView {
  readonly schema: string;
  readonly view: string;
}

/** Selects the views ($1: schemas, $2: names) that the role cannot read. The catalogue is read, because to_regclass fails without USAGE. */
export const unreadable = `
  select need.schema || '.' || need.view as name
    from unnest($1::text[], $2::text[]) as need(schema, view)
   where not exists (
     select from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = need.schema and c.relname = need.view
        and has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select'))
   order by 1`;

/**
 * Answers which of the views that a service needs it cannot read now, as `schema.view`. Whoever starts something that reads them asks this
 * (when-readable.ts); readiness asks the same in database-state.ts.
 */
export async function checkNeeds(pool: pg.Pool, needs: readonly NeededView[]): Promise<string[]> {
  if (needs.length === 0) return [];
  const { rows } = await pool.query<{ name: string }>(unreadable, [needs.map((need) => need.schema), needs.map((need) => need.view)]);
  return rows.map((row) => row.name);
}
