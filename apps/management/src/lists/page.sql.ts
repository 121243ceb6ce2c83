import type { CompiledQuery } from "@harrier/db";
import { type Columns, selectList } from "../rows/columns.ts";

/** One page of a list, as data. Every text comes from our source; what a caller sends is in `values` only. */
export interface PageSource {
  /** The relation that is filtered, counted and sorted, e.g. `controller.targets_v1`; its alias is `t`. */
  from: string;
  /** Columns of the answer over `t` and `joins`, computed for the rows of the page alone. */
  columns: Columns;
  joins?: string;
  /** Predicate over `t`. */
  where: string;
  values: readonly unknown[];
  /** A boolean that comes with the page, e.g. whether the owner of the list exists at all. */
  known?: string;
}

export interface PageWindow {
  orderBy: string;
  offset: number;
  limit: number;
}

export interface Page<Row> {
  total: number;
  known: boolean;
  rows: Row[];
}

/** What comes back per row; `ordinal` is null in the one row that a page without rows has. */
export type PageRow<Row> = Row & { total: number; known: boolean; ordinal: number | null };

/**
 * The rows of a page and the number of all matches in one statement. The page is cut before anything is joined or computed, and it
 * is numbered on the way so that its order survives the joins.
 */
export function pageStatement<Row>(source: PageSource, window: PageWindow): CompiledQuery<PageRow<Row>> {
  const { from, columns, joins = "", where, values, known = "true" } = source;
  const limit = `$${values.length + 1}`;
  const offset = `$${values.length + 2}`;
  const sql = `select c.total, c.known, t.ordinal, ${selectList(columns)}
  from (select (select count(*) from ${from} t where ${where})::int as total, (${known}) as known) c
  left join (select row_number() over () as ordinal, p.*
               from (select t.* from ${from} t where ${where} order by ${window.orderBy} limit ${limit} offset ${offset}) p) t on true
  ${joins}
 order by t.ordinal`;
  return { sql, bindings: [...values, window.limit, window.offset] };
}

/** The page out of the rows of `pageStatement`. */
export function toPage<Row>(rows: readonly PageRow<Row>[]): Page<Row> {
  const first = rows[0];
  return { total: first?.total ?? 0, known: first?.known ?? false, rows: rows.filter((row) => row.ordinal !== null) };
}
