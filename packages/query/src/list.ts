import type { PageMembers, TotalMode } from "@harrier/contracts";
import { type Queryable, run, runOne } from "@harrier/db";
import { type Ast, compile, type FieldMap, type LookupResults, lookups, type Macros, orderBy, parse, type SortMap } from "@harrier/fiql";
import { foreignCursor, type Position, readCursor, writeCursor } from "./keyset.ts";
import { type PageRow, type PageSource, pageStatement } from "./page.sql.ts";

/** The paging parameters of a request (spec 001 §2.1, PAGE; contract console.md §1, M02). */
export interface ListQuery {
  offset: number;
  limit: number;
  sort?: string | undefined;
  q?: string | undefined;
  total?: TotalMode | undefined;
  after?: string | undefined;
}

/** A page with what it says of the list; `rows` are at most as many as the limit. */
export interface Page<Row> extends PageMembers {
  known: boolean;
  rows: Row[];
}

/** One kind of list: what it reads, and the names by which it is searched and sorted. */
export interface ListKind {
  source: PageSource;
  sort: SortMap;
  /** If it is absent, the list takes no `q`. */
  fields?: FieldMap;
  /** It is true if the list takes no `after`, so that its pages have no `next`. */
  uncursored?: boolean;
}

export interface ListDeps {
  db: Queryable;
  now: () => number;
  /** Answers the values of `${OVERDUE_TS}` and other macros; it is only called for queries with a macro. */
  macros?: () => Promise<Record<string, number>>;
}

const holdsMacro = (q: string): boolean => q.includes("${");

/**
 * Reads one page in one round trip, and in one more if the query names a type, a set or a tag of a large list, whose ids are found first. It counts as
 * the query says. If that has `total` or `after` the page tells where the next one begins, for which one row more is read. An invalid query or sort
 * never reaches the database, nor does a cursor that is not of this list and sort: it throws constraintViolation.
 */
export async function readPage<Row>(deps: ListDeps, kind: ListKind, query: ListQuery): Promise<Page<Row>> {
  const { total = "exact", after, offset, limit } = query;
  const order = orderBy(query.sort, kind.sort);
  const walked = kind.uncursored !== true && (query.total !== undefined || after !== undefined);
  const position = after === undefined ? undefined : readCursor(order, after);
  const source = await narrow(deps, kind, query.q);
  const { nullable } = kind.sort;
  const window = { orderBy: order, offset, limit: walked ? limit + 1 : limit, total, after: position, nullable, positions: walked };
  const found = await rowsBehind<Row>(deps, pageStatement<Positioned<Row>>(source, window), position);
  const rows = found.filter((row) => row.ordinal !== null);
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return {
    ...counted(total, found[0]?.total ?? null),
    ...(last === undefined ? {} : { next: writeCursor(order, last.position) }),
    known: found[0]?.known ?? false,
    rows: rows.slice(0, limit),
  };
}

type Positioned<Row> = Row & { position: Position };

/** A cursor's values are texts: PostgreSQL refuses those that are no values of their columns, which only a forged cursor has. */
async function rowsBehind<Row>(
  deps: ListDeps,
  statement: ReturnType<typeof pageStatement<Positioned<Row>>>,
  position: Position | undefined,
): Promise<PageRow<Positioned<Row>>[]> {
  try {
    return await run(deps.db, statement);
  } catch (error) {
    if (position !== undefined && String((error as { code?: unknown }).code).startsWith(dataException)) throw foreignCursor(error);
    throw error;
  }
}

/** The class of PostgreSQL's codes for values that a type does not have. */
const dataException = "22";

function counted(mode: TotalMode, total: number | null): PageMembers {
  if (mode === "none") return {};
  const n = total ?? 0;
  if (mode === "exact") return { total: n };
  return n > mode.atMost ? { total: mode.atMost, totalRelation: "gte" } : { total: n, totalRelation: "eq" };
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
  const { count: _ofAll, ...searched } = source;
  return { ...searched, where: `${source.where} and (${requested.sql})`, values: [...source.values, ...requested.values] };
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
