import { type Queryable, run, runOne } from "@harrier/db";
import { type Ast, compile, type FieldMap, type LookupResults, lookups, type Macros, orderBy, parse, type SortMap } from "@harrier/fiql";
import { type Page, type PageSource, pageStatement, toPage } from "./page.sql.ts";

export type { Page };

/** The paging parameters of a request (spec 001 §2.1, PAGE). */
export interface ListQuery {
  offset: number;
  limit: number;
  sort?: string | undefined;
  q?: string | undefined;
}

/** One kind of list: what it reads, and the names by which it is searched and sorted. */
export interface ListKind {
  source: PageSource;
  sort: SortMap;
  /** If it is absent, the list takes no `q`. */
  fields?: FieldMap;
}

export interface ListDeps {
  db: Queryable;
  now: () => number;
  /** Answers the values of `${OVERDUE_TS}` and other macros; it is only called for queries with a macro. */
  macros?: () => Promise<Record<string, number>>;
}

const holdsMacro = (q: string): boolean => q.includes("${");

/**
 * Reads one page in one round trip, and in one more if the query names a type, a set or a tag of a large list, whose ids are found first. An
 * invalid query or sort never reaches the database.
 */
export async function readPage<Row>(deps: ListDeps, kind: ListKind, query: ListQuery): Promise<Page<Row>> {
  const window = { orderBy: orderBy(query.sort, kind.sort), offset: query.offset, limit: query.limit };
  return toPage(await run(deps.db, pageStatement<Row>(await narrow(deps, kind, query.q), window)));
}

/** Selects the rows of a list that match a query. */
export async function narrow(deps: ListDeps, kind: Pick<ListKind, "source" | "fields">, q: string | undefined): Promise<PageSource> {
  const { source } = kind;
  if (q === undefined || kind.fields === undefined) return source;
  const ast = parse(q);
  const macros = deps.macros && holdsMacro(q) ? await deps.macros() : {};
  const clock = { now: deps.now(), macros };
  // errors of the query are reported before anything is looked up
  compile(ast, kind.fields, clock);
  const found = source.large
    ? await lookUp(deps.db, ast, kind.fields, { ...clock, tenantId: Number(source.values[0]) })
    : new Map<never, never>();
  const requested = compile(ast, kind.fields, { firstParam: source.values.length + 1, ...clock, found });
  return { ...source, where: `${source.where} and (${requested.sql})`, values: [...source.values, ...requested.values] };
}

async function lookUp(
  db: Queryable,
  ast: Ast,
  fields: FieldMap,
  options: { tenantId: number; now: number; macros: Macros },
): Promise<LookupResults> {
  const lookup = lookups(ast, fields, options);
  if (lookup === undefined) return new Map();
  return lookup.found(await runOne<Record<string, string[]>>(db, { sql: lookup.sql, bindings: lookup.values }));
}
