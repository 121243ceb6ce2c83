import { type CompiledQuery, compile, createQueryBuilder } from "@harrier/db";
import { type Columns, selectList } from "./columns.ts";

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
  /** A boolean that is read with the page, e.g. whether the owner of the list exists at all. */
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

/** One row of the result; `ordinal` is null in the single row of an empty page. */
export type PageRow<Row> = Row & { total: number; known: boolean; ordinal: number | null };

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

/**
 * Reads the rows of a page and the number of all matches in one statement. The page is cut before anything is joined or computed, and its rows are
 * numbered so that their order survives the joins.
 */
export function pageStatement<Row>(source: PageSource, window: PageWindow): CompiledQuery<PageRow<Row>> {
  return bound(source.large ? largePage(source, window) : smallPage(source, window), source.values);
}

function smallPage(source: PageSource, window: PageWindow): Rows {
  const { columns, joins = "", known = "true" } = source;
  const counted = builder.select(builder.raw("?::int as total", [countOf(source)]), text(`(${known}) as known`));
  const page = cut(rowsOf(source).select(text("t.*")), window);
  const numbered = builder.select(text("row_number() over () as ordinal, p.*")).from(page.as("p"));
  return builder
    .select(text(`c.total, c.known, t.ordinal, ${selectList(columns)}`))
    .from(counted.as("c"))
    .leftJoin(numbered.as("t"), text("true"))
    .joinRaw(plain(joins))
    .orderByRaw("t.ordinal");
}

/** Up to so many matches it is cheaper to sort all of them than to walk the order of the whole fleet until a page is full. */
const fewest = 5_000;

/**
 * Does the same over a fleet. It finds the ids first and joins only for the rows of the page, so that a deep offset only walks an index. It also
 * collects the matches first, up to a number: if few of them were searched along the order of the page, everything would be read.
 */
function largePage(source: PageSource, window: PageWindow): Rows {
  const { from, columns, joins = "", known = "true" } = source;
  const needed = new Set(["t.id", ...(window.orderBy.match(/\bt\.\w+/g) ?? [])]);
  const few = rowsOf(source)
    .select(text([...needed].join(", ")))
    .limit(fewest + 1, { skipBinding: true });
  const total = builder.raw(`case when n.n <= ${fewest} then n.n else ?::int end as total`, [countOf(source)]);
  const ids = (rows: Rows, which: string) => cut(rows.select("t.id").whereRaw(`(select n.n from n) ${which} ${fewest}`), window);
  const page = builder.unionAll([ids(builder.from("few as t"), "<="), ids(rowsOf(source), ">")], true);
  const numbered = builder.select(text("row_number() over () as ordinal, k.id")).from(page.as("k"));
  const counted = builder.select(total, text(`(${known}) as known`)).from("n");
  return builder
    .withMaterialized("few", few)
    .withMaterialized("n", builder.select(text("count(*)::int as n")).from("few"))
    .select(text(`c.total, c.known, p.ordinal, ${selectList(columns)}`))
    .from(counted.as("c"))
    .leftJoin(numbered.as("p"), text("true"))
    .joinRaw(plain(`left join ${from} t on t.tenant_id = $1 and t.id = p.id ${joins}`))
    .orderByRaw("p.ordinal");
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

/** Makes the page from the rows of `pageStatement`. */
export function toPage<Row>(rows: readonly PageRow<Row>[]): Page<Row> {
  const first = rows[0];
  return { total: first?.total ?? 0, known: first?.known ?? false, rows: rows.filter((row) => row.ordinal !== null) };
}
