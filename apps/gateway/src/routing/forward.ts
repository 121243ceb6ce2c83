import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http";
import type { Surface } from "@harrier/contracts";
import { hasBody } from "./read-body.ts";
import type { Replica, Upstreams } from "./upstreams.ts";

// What the two ways to a service share: small-requests.ts for requests of devices, proxy.ts for all others.

/** A request that is being forwarded. */
export interface ForwardedRequest extends IncomingMessage {
  replica: Replica;
  surface: Surface;
  /** The time in epoch ms. */
  deadline: number;
  /** True if it has been sent to a second replica. */
  repeated: boolean;
  /** The body if it has been read already. */
  readBody: Buffer | undefined;
  /** The request to the service, as soon as it has a connection; only of those that are streamed. */
  outgoing?: ClientRequest;
  /** True if the client stopped sending before the end of its upload. */
  stalled?: boolean;
}

export type Forward = (req: ForwardedRequest, res: ServerResponse) => void;

export interface Failure {
  error: Error;
  req: ForwardedRequest;
  res: ServerResponse;
  /** `requestTimeout` means that the client stopped sending. */
  code: "unavailable" | "requestTimeout";
}

const idempotent: ReadonlySet<unknown> = new Set(["PUT", "DELETE"]);
const reset: ReadonlySet<unknown> = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/**
 * Returns the replica that gets the same request once more, if any. It is repeated once, while its signed identity and its budget are still valid.
 * Reads may be repeated. A change may be repeated when no connection was made, and an idempotent one also when a kept connection is reset: usually its
 * service had just closed it, but this cannot be distinguished from a service that died before its answer. The body must be here as a whole.
 * @param onKeptConnection True if the connection had answered a request before.
 */
export function secondReplica(upstreams: Upstreams, error: Error, req: ForwardedRequest, onKeptConnection: boolean): Replica | undefined {
  if (req.repeated || Date.now() >= req.deadline) return undefined;
  if (req.readBody === undefined && hasBody(req)) return undefined;
  const reads = req.method === "GET" || req.method === "HEAD";
  const closed = idempotent.has(req.method) && onKeptConnection && reset.has((error as NodeJS.ErrnoException).code);
  return reads || closed || isAbsent(error) ? upstreams.pickOther(req.replica) : undefined;
}

const absent: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** Returns true if no connection was made. */
export function isAbsent(error: Error): boolean {
  return absent.has((error as NodeJS.ErrnoException).code);
}
