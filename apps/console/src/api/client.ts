import { r } from "virtual:harrier-routes";
import { ApiError, type CallOptions, createCaller, NetworkError, type RouteRow, type Tagged } from "@harrier/client";
import type { ResponseOf } from "@harrier/contracts";
import { states } from "../text/en.ts";

export { ApiError, NetworkError, refusalOf, type Tagged } from "@harrier/client";
export { r };

/** The address of the server: what is before `/console/`, a proxy's prefix included. */
export const server = new URL("..", document.baseURI);

/** The gateway takes a write by cookie only with this header, which no page of another site can send. */
const mark = { "x-harrier-console": "1" };

/** Sends a request of the console with its cookie and its mark. Rejects with NetworkError where nobody answers. */
export async function send(path: string, init: RequestInit = {}): Promise<Response> {
  const url = new URL(path, server);
  try {
    return await fetch(url, { credentials: "same-origin", ...init, headers: { ...mark, ...(init.headers as object) } });
  } catch (error) {
    throw init.signal?.aborted ? error : new NetworkError(url.href, error);
  }
}

export const client = createCaller({
  baseUrl: server.href,
  fetch: (input, init) => fetch(input, { ...init, credentials: "same-origin", headers: { ...(init?.headers as object), ...mark } }),
});

type Loose = (row: RouteRow, options: object) => Promise<unknown>;
const call = client.call as unknown as Loose;
const tagged = client.tagged as unknown as Loose;

/** The query of an operation, for `useQuery`. */
export interface Asked<T> {
  readonly queryKey: readonly unknown[];
  readonly queryFn: (context: { readonly signal: AbortSignal }) => Promise<T>;
}

/**
 * The query of an operation. Its key begins with the feature and the operation, by which events and changes find it (`invalidate`).
 * @example useQuery(ask(r.targets.get, { params: { targetId } }))
 */
export function ask<T extends RouteRow>(
  row: T,
  ...[options]: object extends CallOptions<T> ? [CallOptions<T>?] : [CallOptions<T>]
): Asked<ResponseOf<T>> {
  const [feature, operation] = row.id.split(".");
  const { params = {}, query = {}, body } = (options ?? {}) as { params?: object; query?: object; body?: unknown };
  return {
    queryKey: [feature, operation, params, query, body ?? null],
    // A query must not answer undefined, which is how a 204 arrives.
    queryFn: async ({ signal }) => ((await call(row, { params, query, body, signal })) ?? null) as ResponseOf<T>,
  };
}

/**
 * The query of what a form or a confirmation is about, with the tag of its revision. Events do not find its key: what is sent is what was seen, until
 * somebody asks for it again.
 */
export function askSeen<T extends RouteRow>(row: T, options: CallOptions<T>): Asked<Tagged<ResponseOf<T>>> {
  const { params = {}, query = {} } = options as { params?: object; query?: object };
  return {
    queryKey: ["seen", row.id, params, query],
    queryFn: async ({ signal }) => (await tagged(row, { params, query, signal })) as Tagged<ResponseOf<T>>,
  };
}

/** The query of an operation with the tag of what it answers, for what is edited in its place; events and changes find it as they do that of `ask`. */
export function askTagged<T extends RouteRow>(row: T): Asked<Tagged<ResponseOf<T>>> {
  const [feature, operation] = row.id.split(".");
  return {
    queryKey: [feature, operation, "tagged"],
    queryFn: async ({ signal }) => (await tagged(row, { signal })) as Tagged<ResponseOf<T>>,
  };
}

/** Calls an operation that changes something. */
export function change<T extends RouteRow>(row: T, ...options: object extends CallOptions<T> ? [CallOptions<T>?] : [CallOptions<T>]) {
  return call(row, options[0] ?? {}) as Promise<ResponseOf<T>>;
}

/** Somebody has changed the same thing since it was read. */
export const isChanged = (error: unknown): boolean => error instanceof ApiError && error.status === 412;

/** What a failure says to a person: the server's own words, and the request by which its operator finds it. */
export function problemOf(error: unknown): { text: string; requestId?: string | undefined; status?: number } {
  if (error instanceof ApiError) {
    return { text: error.body.message ?? `HTTP ${error.status}`, requestId: error.requestId, status: error.status };
  }
  if (error instanceof NetworkError) return { text: navigator.onLine ? states.noAnswer : states.offline };
  return { text: error instanceof Error ? error.message : String(error) };
}
