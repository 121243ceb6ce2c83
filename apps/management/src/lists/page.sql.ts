import type { CompiledQuery } from "@harrier/db";
import { type Columns, selectList } from "../rows/columns.ts";

/** One page of a list, as data. Every text comes from our source; what a caller sends is in `values` only. */
export interface PageSource {
  /** The relation that is filtered, counted and sorted, e.g. `controller.targets_v1`; its alias is `t`. */
  from: string;
  /** Columns of the answer over `t` and `joins`, computed for the rows of the page alone. */
  columns: Columns;
  joins?: string;
  /** Predicate over `t`; `$1` is the tenant. */
  where: string;
  values: readonly unknown[];
  /** Set where `from` is a fleet joined together from several tables: its rows have an id, and a page finds those first. */
  large?: boolean;
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
  return source.large ? largePage(source, window) : smallPage(source, window);
}

function smallPage<Row>(source: PageSource, window: PageWindow): CompiledQuery<PageRow<Row>> {
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

/** Up to here it is cheaper to have all matches and sort them than to walk the order of the whole fleet until a page is full. */
const fewest = 5_000;

/**
 * The same over a fleet. Ids first: what the page shows is joined for its rows alone, so that a deep offset only walks an index. And the
 * matches first, up to a number: were they sought along the order of the page, few of them would mean reading everything.
 */
function largePage<Row>(source: PageSource, window: PageWindow): CompiledQuery<PageRow<Row>> {
  const { from, columns, joins = "", where, values, known = "true" } = source;
  const page = `order by ${window.orderBy} limit $${values.length + 1} offset $${values.length + 2}`;
  const needed = new Set(["t.id", ...(window.orderBy.match(/\bt\.\w+/g) ?? [])]);
  const sql = `with few as materialized (select ${[...needed].join(", ")} from ${from} t where ${where} limit ${fewest + 1}),
       n as materialized (select count(*)::int as n from few)
select c.total, c.known, p.ordinal, ${selectList(columns)}
  from (select case when n.n <= ${fewest} then n.n else (select count(*) from ${from} t where ${where})::int end as total,
               (${known}) as known from n) c
  left join (select row_number() over () as ordinal, k.id
               from ((select t.id from few t where (select n.n from n) <= ${fewest} ${page})
                     union all
                     (select t.id from ${from} t where ${where} and (select n.n from n) > ${fewest} ${page})) k) p on true
  left join ${from} t on t.tenant_id = $1 and t.id = p.id
  ${joins}
 order by p.ordinal`;
  return { sql, bindings: [...values, window.limit, window.offset] };
}

/**
 * The rows behind `after` in the order of `by`, a unique column of `t`. Read on until none is left, these are all rows that were there all
 * the time, however many there are, and no transaction stays open meanwhile.
 */
export function nextStatement<Row>(
  source: PageSource,
  by: string,
  window: { after: string | undefined; limit: number },
): CompiledQuery<Row> {
  const { from, columns, joins = "", where, values } = source;
  const { after, limit } = window;
  const n = values.length;
  const behind = after === undefined ? "" : `and ${by} > $${n + 2}`;
  const sql = `select ${selectList(columns)}
  from (select t.* from ${from} t where ${where} ${behind} order by ${by} limit $${n + 1}) t
  ${joins}
 order by ${by}`;
  return { sql, bindings: [...values, limit, ...(after === undefined ? [] : [after])] };
}

/** The page out of the rows of `pageStatement`. */
export function toPage<Row>(rows: readonly PageRow<Row>[]): Page<Row> {
  const first = rows[0];
  return { total: first?.total ?? 0, known: first?.known ?? false, rows: rows.filter((row) => row.ordinal !== null) };
}
