import type { TotalMode } from "@harrier/contracts";
import { type CompiledQuery, compile, createQueryBuilder } from "@harrier/db";
import { type Columns, selectList } from "./columns.ts";
import { behind, type Position, positionColumn } from "./keyset.ts";

/** One page of a list, as data. Every text comes from our source; what a caller sends is in `values` only. */
export interface PageSource {
  /** The relation that is filtered, counted and sorted, e.g. `controller.targets_v1`; its alias is `t`. */
  from: string;
  /** The columns of the answer over `t` and `joins`, computed only for the rows of the page. */
  columns: Columns;
  joins?: string;
  /** The predicate over `t`; `$1` is the tenant. */
  where: string;
  values: readonly unknown[];
  /** It is true if `from` joins a whole fleet from several tables: its rows have an id, and a page finds the ids first. */
  large?: boolean;
  /** The number of all rows of the source, if it is kept: then they are not counted. It holds as long as `where` is the source's own. */
  count?: string;
  /** A boolean that is read with the page, e.g. whether the owner of the list exists at all. */
  known?: string;
}

export interface PageWindow {
  orderBy: string;
  offset: number;
  limit: number;
  /** How the matches are counted; all of them by default. */
  total?: TotalMode;
  /** The page begins behind this position; the total is that of all matches nevertheless. */
  after?: Position | undefined;
  /** The columns of the order that may be null. */
  nullable?: readonly string[] | undefined;
  /** It is true if each row shall have its `position`. */
  positions?: boolean;
}

/** One row of the result; `ordinal` is null in the single row of an empty page. */
export type PageRow<Row> = Row & { total: number | null; known: boolean; ordinal: number | null };

const builder = createQueryBuilder();

/** Escapes question marks, which are operators here: a source numbers its placeholders itself, because it may use a value twice. */
const plain = (sql: string) => sql.replaceAll("?", "\\?");
const text = (sql: string) => builder.raw(plain(sql));
const rowsOf = ({ from, where }: PageSource) => builder.from(text(`${from} t`)).whereRaw(text(where));
const countOf = (source: PageSource) => rowsOf(source).select(text("count(*)"));

type Rows = ReturnType<typeof countOf>;

/** Limits the rows. The limits are numbers of ours and part of the text, so that only the values of a source are bound. */
const cut = (rows: Rows, { orderBy, limit, offset }: PageWindow) =>
  rows.orderByRaw(text(orderBy)).limit(limit, { skipBinding: true }).offset(offset, { skipBinding: true });

const bound = <Row>(rows: Rows, values: readonly unknown[]): CompiledQuery<Row> => ({ ...compile<Row>(rows), bindings: values });

/** Makes the number of matches, read no further than the caller wants to know it; null if it is not wanted. */
function totalOf(source: PageSource, total: TotalMode) {
  if (total === "none") return text("null::int");
  if (source.count !== undefined) return text(`(${source.count})::int`);
  if (total === "exact") return builder.raw("?::int", [countOf(source)]);
  const some = rowsOf(source)
    .select(text("1"))
    .limit(total.atMost + 1, { skipBinding: true });
  return builder.raw("?::int", [builder.from(some.as("s")).select(text("count(*)"))]);
}

/** A source with the condition that its rows are behind a position, whose values follow those of the source. */
function sourceBehind(source: PageSource, { orderBy, after, nullable }: PageWindow): PageSource {
  if (after === undefined) return source;
  const { sql, values } = behind(orderBy, after, { nullable, firstParam: source.values.length + 1 });
  return { ...source, where: `${source.where} and ${sql}`, values: [...source.values, ...values] };
}

/** The columns of the answer, and the position of the row where it is wanted. */
const columnsOf = ({ columns }: PageSource, { orderBy, positions }: PageWindow): string =>
  selectList(positions === true ? { ...columns, position: positionColumn(orderBy) } : columns);

/**
 * Reads the rows of a page and the number of all matches in one statement. The page is cut before anything is joined or computed, and its rows are
 * numbered so that their order survives the joins.
 */
export function pageStatement<Row>(source: PageSource, window: PageWindow): CompiledQuery<PageRow<Row>> {
  return bound(source.large ? largePage(source, window) : smallPage(source, window), sourceBehind(source, window).values);
}

function smallPage(source: PageSource, window: PageWindow): Rows {
  const { joins = "", known = "true" } = source;
  const counted = builder.select(builder.raw("? as total", [totalOf(source, window.total ?? "exact")]), text(`(${known}) as known`));
  const page = cut(rowsOf(sourceBehind(source, window)).select(text("t.*")), window);
  const numbered = builder.select(text("row_number() over () as ordinal, p.*")).from(page.as("p"));
  return builder
    .select(text(`c.total, c.known, t.ordinal, ${columnsOf(source, window)}`))
    .from(counted.as("c"))
    .leftJoin(numbered.as("t"), text("true"))
    .joinRaw(plain(joins))
    .orderByRaw("t.ordinal");
}

/** Up to so many matches it is cheaper to sort all of them than to walk the order of the whole fleet until a page is full. */
const fewest = 5_000;

/**
 * Does the same over a fleet. It finds the ids first and joins only for the rows of the page, so that a deep offset only walks an index.
 */
function largePage(source: PageSource, window: PageWindow): Rows {
  const { from, joins = "", known = "true" } = source;
  // a source that is counted is the whole fleet: nothing has to be searched along its order
  const { page, total, few } = source.count === undefined ? searchedPage(source, window) : wholePage(source, window);
  const numbered = builder.select(text("row_number() over () as ordinal, k.id")).from(page.as("k"));
  const counted = builder.select(builder.raw("? as total", [total]), text(`(${known}) as known`));
  const base = few === undefined ? builder : builder.withMaterialized("few", few).withMaterialized("n", sizeOfFew());
  return base
    .select(text(`c.total, c.known, p.ordinal, ${columnsOf(source, window)}`))
    .from((few === undefined ? counted : counted.from("n")).as("c"))
    .leftJoin(numbered.as("p"), text("true"))
    .joinRaw(plain(`left join ${from} t on t.tenant_id = $1 and t.id = p.id ${joins}`))
    .orderByRaw("p.ordinal");
}

const sizeOfFew = () => builder.select(text("count(*)::int as n")).from("few");
const idsOf = (rows: Rows, window: PageWindow) => cut(rows.select("t.id"), window);

function wholePage(source: PageSource, window: PageWindow): { page: Rows; total: ReturnType<typeof totalOf>; few?: Rows } {
  return { page: idsOf(rowsOf(sourceBehind(source, window)), window), total: totalOf(source, window.total ?? "exact") };
}

/** Collects the matches first, up to a number: if few of them were searched along the order of the page, everything would be read. */
function searchedPage(source: PageSource, window: PageWindow): { page: Rows; total: ReturnType<typeof totalOf>; few?: Rows } {
  const searched = sourceBehind(source, window);
  const needed = new Set(["t.id", ...(window.orderBy.match(/\bt\.\w+/g) ?? [])]);
  const few = rowsOf(searched)
    .select(text([...needed].join(", ")))
    .limit(fewest + 1, { skipBinding: true });
  const ids = (rows: Rows, which: string) => idsOf(rows.whereRaw(`(select n.n from n) ${which} ${fewest}`), window);
  const page = builder.unionAll([ids(builder.from("few as t"), "<="), ids(rowsOf(searched), ">")], true);
  const all = totalOf(source, window.total ?? "exact");
  // behind a position only the matches behind it are collected, which says nothing about all of them
  const known = window.after === undefined && window.total !== "none";
  return { page, few, total: known ? builder.raw(`case when n.n <= ${fewest} then n.n else ? end`, [all]) : all };
}

/**
 * Reads the rows behind `after` in the order of `by`, a unique column of `t`. Repeated until none is left, it reads all rows that existed all the
 * time, however many there are, without a long transaction.
 */
export function nextStatement<Row>(
  source: PageSource,
  by: string,
  { after, limit }: { after: string | undefined; limit: number },
): CompiledQuery<Row> {
  const { columns, joins = "", values } = source;
  const page = cut(rowsOf(source).select(text("t.*")), { orderBy: by, limit, offset: 0 });
  if (after !== undefined) page.whereRaw(text(`${by} > $${values.length + 1}`));
  const rows = builder
    .select(text(selectList(columns)))
    .from(page.as("t"))
    .joinRaw(plain(joins))
    .orderByRaw(text(by));
  return bound(rows, after === undefined ? values : [...values, after]);
}
