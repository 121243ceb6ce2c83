import type { InputOf, ParamsOf, QueryOf, ResponseOf } from "@harrier/contracts";
import { maxAnswerBytes, textWithin } from "./answer.ts";
import type { Credentials, TokenSource } from "./credentials.ts";
import { type ApiError, NetworkError, refusalOf } from "./errors.ts";
import { type PreparedRequest, type RequestInput, type RouteRow, requestOf, type SentBody } from "./request.ts";

export interface ClientOptions {
  /** The address of the server, with the path of a proxy if there is one. */
  readonly baseUrl: string;
  readonly credentials?: Credentials;
  /** It replaces the credentials, for programs that keep tokens themselves; after a 401 it is asked once for another one. */
  readonly tokens?: TokenSource;
  readonly fetch?: typeof fetch;
  /** Requests are repeated so often where the server asks for it (429 and 503 with Retry-After), and reads where the connection broke; 2 by default. */
  readonly retries?: number;
  /** No wait for a repetition is longer, in milliseconds; a longer Retry-After ends the call. 10,000 by default. */
  readonly maxWaitMs?: number;
  /** Sees every answer, for logs: the operation, the status, the id of the request and the milliseconds that it took. */
  readonly onAnswer?: (answer: { operation: string; path: string; status: number; requestId?: string | undefined; ms: number }) => void;
}

export type Given<T> = { readonly [K in keyof T]: string | number };
export type Asked<T> = { readonly [K in keyof T]?: string | number | boolean | undefined };
export type NeedsParams<T> = keyof ParamsOf<T> extends never
  ? { params?: Record<string, never> }
  : string extends keyof ParamsOf<T>
    ? { params?: Record<string, never> }
    : { params: Given<ParamsOf<T>> };
type NeedsBody<T> = [InputOf<T>] extends [undefined]
  ? { body?: undefined }
  : undefined extends InputOf<T>
    ? { body?: InputOf<T> }
    : { body: InputOf<T> };

/** What a call of an operation takes: path parameters, query and body as the row of the route table has them. */
export type CallOptions<T> = NeedsParams<T> &
  NeedsBody<T> & {
    readonly query?: Asked<QueryOf<T>>;
    readonly signal?: AbortSignal;
    /** The tag of `tagged`: the change is refused with 412 if there is another revision by now. */
    readonly ifMatch?: string | undefined;
  };

/** An answer with the tag of its revision, where it has one. */
export interface Tagged<T> {
  readonly body: T;
  readonly tag: string | undefined;
}

/** An answer that is undefined where the operation has no body, or where it answers 204 for "nothing to show". */
export type AnswerOf<T> = ResponseOf<T>;

/** What all calls take, behind the types that the rows give them. */
export interface Loose extends RequestInput {
  readonly signal?: AbortSignal;
  readonly headers?: Record<string, string>;
  readonly upload?: { readonly body: SentBody; readonly headers?: Readonly<Record<string, string>> };
}

/** The calls of a client, without what streams and walks lists: a bundle may leave that out. */
export interface Caller {
  /** Calls an operation and answers its JSON. Rejects with ApiError or NetworkError. */
  call<T extends RouteRow>(row: T, ...options: object extends CallOptions<T> ? [CallOptions<T>?] : [CallOptions<T>]): Promise<AnswerOf<T>>;
  /** Calls an operation and answers its JSON with the `ETag`, which the `ifMatch` of a change takes. */
  tagged<T extends RouteRow>(
    row: T,
    ...options: object extends CallOptions<T> ? [CallOptions<T>?] : [CallOptions<T>]
  ): Promise<Tagged<AnswerOf<T>>>;
  /** Sends a prepared request and answers the response, whose body is not read. Rejects with ApiError where the status is no success. */
  send(operation: string, request: PreparedRequest, options?: SendOptions): Promise<Response>;
}

export interface SendOptions {
  readonly signal?: AbortSignal | undefined;
  readonly errors?: RouteRow["errors"];
}

/** The address of a server without a slash at its end. */
export const rootOf = (baseUrl: string): string => baseUrl.replace(/\/+$/, "");

/** Makes a client of calls alone. It signs in with `tokens`, or as the given `fetch` does. */
export function createCaller(options: ClientOptions): Caller {
  const send = sender(options);
  const tagged = async (row: RouteRow, given: Loose = {}): Promise<Tagged<unknown>> => {
    const answer = await send(row.id, requestOf(row, given), { signal: given.signal, errors: row.errors });
    return { tag: answer.headers.get("etag") ?? undefined, body: await read(row.id, answer) };
  };
  const call = async (row: RouteRow, given: Loose = {}): Promise<unknown> => (await tagged(row, given)).body;
  return { send, call: call as Caller["call"], tagged: tagged as Caller["tagged"] };
}

const repeatable = new Set(["GET", "HEAD"]);

function sender({ baseUrl, credentials, fetch: given, retries = 2, maxWaitMs = 10_000, onAnswer, tokens }: ClientOptions): Caller["send"] {
  const fetcher: typeof fetch = given ?? ((input, init) => fetch(input, init));
  const root = rootOf(baseUrl);
  const once = async (operation: string, request: PreparedRequest, { signal }: SendOptions, renew: boolean): Promise<Response> => {
    const authorization = await tokens?.(renew);
    const headers = { ...request.headers, ...(authorization === undefined ? {} : { authorization }) };
    const body =
      request.body === undefined ? {} : { body: request.body, ...(request.body instanceof ReadableStream ? { duplex: "half" } : {}) };
    const began = performance.now();
    const url = root + request.path;
    const answer = await fetcher(url, { method: request.method, headers, ...body, redirect: "error", signal: signal ?? null }).catch(
      (error: unknown) => {
        if (signal?.aborted) throw signal.reason;
        throw new NetworkError(url, error);
      },
    );
    const requestId = answer.headers.get("x-request-id") ?? undefined;
    onAnswer?.({ operation, path: request.path, status: answer.status, requestId, ms: performance.now() - began });
    return answer;
  };
  return async (operation, request, options = {}) => {
    const canRepeat = !(request.body instanceof ReadableStream);
    const canRenew = tokens !== undefined && (credentials === undefined || "clientId" in credentials);
    let renewed = false;
    let renew = false;
    for (let attempt = 0; ; attempt++) {
      let answer: Response;
      try {
        answer = await once(operation, request, options, renew);
        renew = false;
      } catch (error) {
        if (!(error instanceof NetworkError) || !repeatable.has(request.method) || attempt >= retries) throw error;
        await pause(200 * 2 ** attempt, options.signal);
        continue;
      }
      if (answer.ok) return answer;
      const error = await refusalOf(operation, answer, options.errors);
      // a token may have been withdrawn or the server's keys replaced before it ended
      if (answer.status === 401 && canRenew && canRepeat && !renewed) {
        renewed = true;
        renew = true;
      } else if (attempt < retries && canRepeat && waitable(error, maxWaitMs)) await pause((error.retryAfter ?? 0) * 1000, options.signal);
      else throw error;
    }
  };
}

function waitable({ status, retryAfter }: ApiError, maxWaitMs: number): boolean {
  return (status === 429 || status === 503) && retryAfter !== undefined && retryAfter * 1000 <= maxWaitMs;
}

export async function read(operation: string, answer: Response): Promise<unknown> {
  const text = await textWithin(answer, maxAnswerBytes);
  if (text === undefined) throw new Error(`${operation} was answered by more than ${maxAnswerBytes} bytes`);
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${operation} was answered by what is no JSON: is this the address of the server?`);
  }
}

/** Waits because the server has asked for it, and ends at once when the caller gives up. */
function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      signal?.removeEventListener("abort", aborted);
      resolve();
    }
    function aborted(): void {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    }
    if (signal?.aborted) aborted();
    else signal?.addEventListener("abort", aborted, { once: true });
  });
}
