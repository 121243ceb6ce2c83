import { type IncomingMessage, request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { Allowed } from "./allowed.ts";
import { type Resolve, resolveName } from "./resolve-name.ts";

/** Why a call has no answer. */
export type EgressFailure =
  /** The address of the call is none that may be called. */
  | "address"
  /** What its host is, or resolves to, is not a place that this tenant may call. */
  | "refused"
  /** It took too long. */
  | "timeout"
  /** The connection, TLS or DNS failed. */
  | "network";

/** A call outside that has no answer. Its message is for those who gave the address, and names no address of our network. */
export class EgressError extends Error {
  readonly failure: EgressFailure;

  constructor(failure: EgressFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "EgressError";
    this.failure = failure;
  }
}

export interface EgressRequest {
  /** The canonical name of the tenant that gave the address. */
  readonly tenant: string;
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Everything together takes at most so many milliseconds, the look-up of the name and the reading of the answer included. */
  readonly timeoutMs: number;
  /** So many bytes of the body of the answer are read; what is beyond is discarded with its connection. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
}

export interface EgressAnswer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  /** The beginning of the body. */
  readonly body: Buffer;
  /** Whether the body went on. */
  readonly truncated: boolean;
}

export interface Egress {
  /** Calls an address; rejects with an EgressError. A redirection is an answer like any other: nothing follows it. */
  request(request: EgressRequest): Promise<EgressAnswer>;
}

/**
 * The one guarded way to addresses that tenants give. A name is looked up once, and the connection goes to an address of that answer which was checked:
 * a name that changes between check and connection leads nowhere. Connections are not kept, so that each call is checked. `http` is only for
 * destinations that the operator has named.
 */
export function createEgress({ allowed, resolve = resolveName }: { allowed: Allowed; resolve?: Resolve }): Egress {
  return {
    async request({ tenant, url: text, timeoutMs, signal, ...rest }) {
      const url = parseUrl(text);
      const deadline = AbortSignal.timeout(timeoutMs);
      const ends = signal === undefined ? deadline : AbortSignal.any([deadline, signal]);
      const host = hostOf(url);
      const place = placeOf(url);
      try {
        const found =
          isIP(host) === 0
            ? await before(ends, resolve(host, { signal: ends, local: allowed.hasEntries(tenant) }))
            : [{ address: host, family: isIP(host) }];
        const pinned = found.filter(({ address }) => allowed.mayConnect(tenant, address, place));
        if (pinned.length === 0) throw new EgressError("refused", `${host} is not a place that may be called from here.`);
        if (url.protocol === "http:" && !pinned.every(({ address }) => allowed.isNamed(tenant, address, place)))
          throw new EgressError("refused", "Only https is called, except for what the operator allows.");
        return await send(url, pinned, { ...rest, signal: ends });
      } catch (error) {
        if (error instanceof EgressError) throw error;
        if (deadline.aborted) throw new EgressError("timeout", `There was no whole answer within ${timeoutMs} ms.`, { cause: error });
        throw new EgressError("network", textOf(error), { cause: error });
      }
    },
  };
}

/** Checks what can be checked of an address without calling it; throws an EgressError. */
export function checkUrl(text: string, tenant: string, allowed: Allowed): void {
  const url = parseUrl(text);
  const host = hostOf(url);
  if (isIP(host) !== 0 && !allowed.mayConnect(tenant, host, placeOf(url)))
    throw new EgressError("refused", `${host} is not a place that may be called from here.`);
  if (url.protocol === "http:" && !allowed.isNamed(tenant, host, placeOf(url)))
    throw new EgressError("refused", "Only https is called, except for what the operator allows.");
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:"))
    throw new EgressError("address", "The address is not an https URL.");
  if (url.username !== "" || url.password !== "") throw new EgressError("address", "The address must not hold a user or a password.");
  return url;
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, "");
const placeOf = ({ protocol, hostname, port }: URL): string => `${hostname}:${port || (protocol === "https:" ? 443 : 80)}`;

/** Ends the wait for a look-up, which itself cannot be ended. */
function before<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

type Sent = Pick<EgressRequest, "method" | "headers" | "body" | "maxBytes"> & { signal: AbortSignal };

function send(url: URL, pinned: readonly { address: string; family: number }[], { maxBytes, body, ...sent }: Sent): Promise<EgressAnswer> {
  // the connection asks this instead of DNS
  const lookup: LookupFunction = (_host, options, callback) => {
    const [first] = pinned;
    if (options.all) callback(null, [...pinned]);
    else callback(null, first?.address ?? "", first?.family);
  };
  return new Promise((resolve, reject) => {
    const { method = "GET", signal } = sent;
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const headers = { ...sent.headers, ...length, connection: "close" };
    const open = url.protocol === "https:" ? requestSecure : requestPlain;
    // said here, so that NODE_TLS_REJECT_UNAUTHORIZED cannot unsay it
    const call = open(url, { method, headers, lookup, signal, agent: false, rejectUnauthorized: true }, (answer) => {
      const parts: Buffer[] = [];
      let bytes = 0;
      const done = (truncated: boolean): void =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(parts), truncated });
      answer.on("data", (part: Buffer) => {
        const room = maxBytes - bytes;
        bytes += part.length;
        parts.push(part.subarray(0, Math.max(0, room)));
        if (bytes <= maxBytes) return;
        done(true);
        call.destroy();
      });
      answer.on("end", () => done(false));
      answer.on("error", reject);
    });
    call.on("error", reject);
    call.end(body);
  });
}

/** The kind of a failure, without addresses of our own network. */
function textOf(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return typeof code === "string" ? `The call failed: ${code}.` : `The call failed: ${String(message).slice(0, 200)}`;
}
