import type { CompiledQuery } from "@harrier/db";

/** A list as SQL. All texts come from our source; what a caller sends is in `values` alone. */
export interface PageSource {
  /** Filtered, counted and sorted; its alias is `t`. */
  from: string;
  where: string;
  values: readonly unknown[];
  /** Computed for the rows of the page alone, over `t` and `joins`. */
  columns: string;
  joins?: string;
  /** Tells whether what the list belongs to exists at all. */
  known?: string;
}

export interface PageWindow {
  orderBy: string;
  limit: number;
  offset: number;
}

/** `ordinal` is null in the one row that a page without rows has. */
export type PageRow<Row> = Row & { total: number; known: boolean; ordinal: number | null };

/** The rows of a page and the number of all matches in one statement: the page is cut before anything else is computed for its rows. */
export function pageQuery<Row>(source: PageSource, window: PageWindow): CompiledQuery<PageRow<Row>> {
  const { from, where, values, columns, joins = "", known = "true" } = source;
  const sql = `select c.total, c.known, t.ordinal, ${columns}
    from (select (select count(*) from ${from} t where ${where})::int as total, (${known}) as known) c
    left join (select row_number() over () as ordinal, p.*
                 from (select t.* from ${from} t where ${where} order by ${window.orderBy}
                        limit $${values.length + 1} offset $${values.length + 2}) p) t on true
    ${joins}
   order by t.ordinal`;
  return { sql, bindings: [...values, window.limit, window.offset] };
}
