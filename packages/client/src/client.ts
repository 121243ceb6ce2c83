import type { events, QueryOf } from "@harrier/contracts";
import {
  type AnswerOf,
  type Asked,
  type Caller,
  type ClientOptions,
  createCaller,
  type Loose,
  type NeedsParams,
  read,
  rootOf,
} from "./caller.ts";
import { createTokenSource } from "./credentials.ts";
import { type ItemOf, type ListOptions, type PageOf, pagesOf } from "./pages.ts";
import { type RouteRow, requestOf, type SentBody } from "./request.ts";
import { type FollowOptions, follow, type ServerEvent } from "./server-events.ts";

type StreamOptions<T> = NeedsParams<T> & {
  readonly query?: Asked<QueryOf<T>>;
  readonly signal?: AbortSignal;
  readonly headers?: Record<string, string>;
};
type UploadOptions<T> = NeedsParams<T> & {
  readonly query?: Asked<QueryOf<T>>;
  readonly signal?: AbortSignal;
  /** What is sent as it is, e.g. of `multipartOf`. */
  readonly upload: { readonly body: SentBody; readonly headers?: Readonly<Record<string, string>> };
};

/** The client of the management interface: one function for every row of the route table, typed by its schemas. */
export interface Client extends Caller {
  /** Walks a list page by page: by cursor where the list has one, by offset elsewhere. Nothing is read ahead. */
  pages<T extends RouteRow>(row: T, options?: ListOptions<T>): AsyncGenerator<PageOf<T>>;
  /** Walks a list item by item. */
  items<T extends RouteRow>(row: T, options?: ListOptions<T>): AsyncGenerator<ItemOf<T>>;
  /** Downloads what is no JSON, as a response whose body streams. */
  download<T extends RouteRow>(row: T, options: StreamOptions<T>): Promise<Response>;
  /** Uploads what is no JSON, without holding it in memory where the body is a stream. */
  upload<T extends RouteRow>(row: T, options: UploadOptions<T>): Promise<AnswerOf<T>>;
  /** Follows the events of the tenant, and reconnects behind the last one until the signal ends it. */
  events(row: typeof events.stream | RouteRow, options?: FollowOptions): AsyncGenerator<ServerEvent>;
}

/** Makes a client. It keeps no state but the token of an OAuth client. */
export function createClient(options: ClientOptions): Client {
  const { baseUrl, credentials, fetch: fetcher = (input, init) => fetch(input, init) } = options;
  const tokens = options.tokens ?? (credentials === undefined ? undefined : createTokenSource(rootOf(baseUrl), credentials, fetcher));
  const caller = createCaller({ ...options, ...(tokens === undefined ? {} : { tokens }) });
  const { send } = caller;
  const call = caller.call as unknown as (row: RouteRow, given?: object) => Promise<unknown>;
  const download = (row: RouteRow, { headers, signal, ...given }: Loose) => {
    const request = requestOf(row, given);
    return send(row.id, { ...request, headers: { ...request.headers, ...headers } }, { signal, errors: row.errors });
  };
  const upload = async (row: RouteRow, { upload: sent, signal, ...given }: Loose) => {
    const request = requestOf(row, given);
    const whole = { ...request, headers: { ...request.headers, ...sent?.headers }, ...(sent === undefined ? {} : { body: sent.body }) };
    return read(row.id, await send(row.id, whole, { signal, errors: row.errors }));
  };
  return {
    ...caller,
    download: download as Client["download"],
    upload: upload as Client["upload"],
    pages: (row, list) => pagesOf(call, row, list),
    async *items(row, list) {
      for await (const page of pagesOf(call, row, list)) yield* page.content as never[];
    },
    events: (row, following) => follow(caller, row as RouteRow, following),
  };
}
