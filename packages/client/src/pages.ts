import type { QueryOf, ResponseOf } from "@harrier/contracts";
import { queryNames, type RouteRow } from "./request.ts";

/** A page of a list. */
export type PageOf<T> =
  ResponseOf<T> extends { content: readonly unknown[] }
    ? ResponseOf<T>
    : { content: unknown[]; total?: number; next?: string; size: number };
/** An item of a list. */
export type ItemOf<T> = PageOf<T>["content"][number];
export type ListQuery<T> = { readonly [K in keyof QueryOf<T>]?: string | number | boolean | undefined };

export interface ListOptions<T> {
  readonly params?: Readonly<Record<string, string | number>>;
  /** `limit` is the size of a page, 500 by default; `offset` and `after` are where the walk begins. */
  readonly query?: ListQuery<T>;
  readonly signal?: AbortSignal;
}

interface AnyPage {
  readonly content: unknown[];
  readonly total?: number;
  readonly next?: string;
  readonly size: number;
}
type AnyCall = (row: RouteRow, options: object) => Promise<unknown>;

const pageSize = 500;

/** Whether the operation answers a list page by page, so that it can be walked. */
export function isPaged(row: RouteRow): boolean {
  const names = queryNames(row);
  return names.has("offset") || (names.has("after") && names.has("total"));
}

/**
 * Walks a list. With a cursor nothing is counted and no row is skipped or repeated while others are written (contract console.md §1, M02). Without one
 * it goes by offset, which is meant for lists that do not change much meanwhile. A server that counts nevertheless is older than the cursor of this
 * list: the walk goes on by offset.
 */
export async function* pagesOf<T extends RouteRow>(call: AnyCall, row: T, options: ListOptions<T> = {}): AsyncGenerator<PageOf<T>> {
  const names = queryNames(row);
  const query = { limit: pageSize, ...(options.query as Record<string, string | number | undefined> | undefined) };
  const ask = async (more: object) => (await call(row, { ...options, query: { ...query, ...more } })) as AnyPage;
  let offset = Number(query["offset" as never] ?? 0);
  const isLast = (page: AnyPage): boolean =>
    page.content.length === 0 || page.content.length < query.limit || offset >= (page.total ?? offset);
  if (names.has("after") && names.has("total")) {
    const total = query["total" as never] ?? "none";
    let after = query["after" as never] as string | undefined;
    for (let begins = true; begins || after !== undefined; begins = false) {
      // the rows that are left out are those of the beginning alone
      const page = await ask({ total, ...(after === undefined ? {} : { after }), ...(begins || offset === 0 ? {} : { offset: 0 }) });
      yield page as PageOf<T>;
      after = page.next;
      if (after !== undefined) continue;
      const counted = begins && total === "none" && page.total !== undefined;
      offset += page.content.length;
      if (!counted || isLast(page)) return;
    }
  }
  for (;;) {
    const page = await ask(names.has("offset") ? { offset } : {});
    yield page as PageOf<T>;
    offset += page.content.length;
    if (!names.has("offset") || isLast(page)) return;
  }
}
