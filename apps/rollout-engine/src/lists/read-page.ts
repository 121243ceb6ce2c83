import { type Queryable, run } from "@harrier/db";
import { compile, type FieldMap, orderBy, parse, type SortMap } from "@harrier/fiql";
import { type PageRow, type PageSource, pageQuery } from "./page.sql.ts";

/** The paging parameters of a request (spec 001 §2.1, PAGE). */
export interface PageQuery {
  offset: number;
  limit: number;
  sort?: string | undefined;
  q?: string | undefined;
}

/** What a list reads, and by which names it is searched and sorted. */
export interface ListSource extends PageSource {
  fields: FieldMap;
  sort: SortMap;
}

export interface Page<Row> {
  total: number;
  /** Whether what the list belongs to exists at all. */
  known: boolean;
  rows: Row[];
}

/** Epoch ms, and values of macros other than it. */
interface Clock {
  now: number;
  macros?: Readonly<Record<string, number>>;
}

/** One page and the number of all matches. One round trip, and none for a query or a sort that cannot be understood. */
export async function readPage<Row>(db: Queryable, source: ListSource, query: PageQuery, clock: Clock): Promise<Page<Row>> {
  const window = { orderBy: orderBy(query.sort, source.sort), limit: query.limit, offset: query.offset };
  const rows: PageRow<Row>[] = await run(db, pageQuery<Row>(narrowed(source, query.q, clock), window));
  const [first] = rows;
  return { total: first?.total ?? 0, known: first?.known ?? false, rows: rows.filter((row) => row.ordinal !== null) };
}

function narrowed(source: ListSource, q: string | undefined, clock: Clock): PageSource {
  if (q === undefined) return source;
  const asked = compile(parse(q), source.fields, { firstParam: source.values.length + 1, ...clock });
  return { ...source, where: `${source.where} and (${asked.sql})`, values: [...source.values, ...asked.values] };
}
