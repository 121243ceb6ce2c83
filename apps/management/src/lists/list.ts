import { type Queryable, run } from "@harrier/db";
import { compile, type FieldMap, orderBy, parse, type SortMap } from "@harrier/fiql";
import { type Page, type PageSource, pageStatement, toPage } from "./page.sql.ts";

export type { Page };

/** The paging parameters of a request (spec 001 §2.1, PAGE). */
export interface ListQuery {
  offset: number;
  limit: number;
  sort?: string | undefined;
  q?: string | undefined;
}

/** One kind of list: what it reads, and by which names it is searched and sorted. */
export interface ListKind {
  source: PageSource;
  sort: SortMap;
  /** Absent: the list takes no `q`. */
  fields?: FieldMap;
}

interface ListDeps {
  db: Queryable;
  now: () => number;
  /** Values of `${OVERDUE_TS}` and the like; asked only for queries that hold a macro. */
  macros?: () => Promise<Record<string, number>>;
}

const holdsMacro = (q: string): boolean => q.includes("${");

/** Reads one page in one round trip; a query or a sort that cannot be understood never reaches the database. */
export async function readPage<Row>(deps: ListDeps, kind: ListKind, query: ListQuery): Promise<Page<Row>> {
  const { source } = kind;
  const window = { orderBy: orderBy(query.sort, kind.sort), offset: query.offset, limit: query.limit };
  if (query.q === undefined || kind.fields === undefined) return toPage(await run(deps.db, pageStatement<Row>(source, window)));
  const ast = parse(query.q);
  const macros = deps.macros && holdsMacro(query.q) ? await deps.macros() : {};
  const asked = compile(ast, kind.fields, { firstParam: source.values.length + 1, now: deps.now(), macros });
  const narrowed = { ...source, where: `${source.where} and (${asked.sql})`, values: [...source.values, ...asked.values] };
  return toPage(await run(deps.db, pageStatement<Row>(narrowed, window)));
}
