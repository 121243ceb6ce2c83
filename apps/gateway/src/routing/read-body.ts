import type { IncomingMessage, ServerResponse } from "node:http";
import { HarrierError } from "@harrier/errors";
import { type Holder, Shares } from "../limits/shares.ts";
import { letBodyCome } from "../listen/expected-bodies.ts";
import { whenOver } from "../listen/when-over.ts";

/** The limits of all bodies in one pool. */
export interface PoolLimits {
  /** The milliseconds from the first byte to the last: a slow line can complete, an intentionally slow client cannot stay. */
  readonly withinMs: number;
  /** The bytes of all bodies that are held: all clients together must not take the memory of the gateway. */
  readonly together: number;
}

/** One body, and the holders for which it counts. */
export interface BodyRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** The maximum of bytes; a longer body is denied by its Content-Length, else at the first byte beyond. */
  readonly maxBytes: number;
  readonly holders: readonly Holder[];
  /** Called with the number of bytes before they are kept; false if the client has reached its limit. */
  readonly admits?: ((bytes: number) => boolean) | undefined;
}

export interface BodyReader {
  /**
   * Reads the whole body, or rejects with `payloadTooLarge`, `requestTimeout`, `tooManyRequests` (the share of a holder) or `unavailable` (the whole
   * pool). Its bytes count until it is answered. Never settles when the client has gone.
   */
  read(request: BodyRequest): Promise<Buffer>;
}

/** True when a request has a body at all (RFC 9112 §6.3). */
export function hasBody(req: IncomingMessage): boolean {
  const length = req.headers["content-length"];
  return req.headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
}

const shareTaken = new HarrierError("tooManyRequests", undefined, { headers: { "retry-after": "1" } });

/**
 * Reads bodies before a connection to a service is taken for them. Forwarded as they arrive, a few hundred slow ones would hold every connection that
 * other devices' polls need. Every limit is checked before the bytes are kept.
 */
export function createBodyReader(limits: PoolLimits): BodyReader {
  const shares = new Shares(limits);

  async function read(request: BodyRequest): Promise<Buffer> {
    const { req, res, maxBytes, holders, admits } = request;
    const length = req.headers["content-length"];
    if (Number(length) > maxBytes) throw new HarrierError("payloadTooLarge");
    if (length !== undefined && admits?.(Number(length)) === false) throw shareTaken;
    const ticket = shares.begin(holders);
    if (ticket === undefined) throw shareTaken;
    // The share is held until the answer, because the body is kept as long as the service may be waited for.
    whenOver(req, res, () => shares.end(ticket));
    letBodyCome(res);
    return collect(req, limits.withinMs, (bytes) => {
      if (ticket.bytes + bytes > maxBytes) return new HarrierError("payloadTooLarge");
      if (length === undefined && admits?.(bytes) === false) return shareTaken;
      const taken = shares.take(ticket, bytes);
      if (taken === "taken") return undefined;
      return taken === "share" ? shareTaken : new HarrierError("unavailable");
    });
  }

  return { read };
}

/** Collects the body as long as `check`, which is given the size of each chunk, finds nothing wrong. */
function collect(req: IncomingMessage, withinMs: number, check: (bytes: number) => HarrierError | undefined): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const end = (): void => {
      clearTimeout(timer);
      req.off("data", onData).off("end", onEnd).off("close", end);
    };
    const refuse = (error: HarrierError): void => {
      end();
      chunks.length = 0;
      reject(error);
    };
    const onData = (chunk: Buffer): void => {
      const error = check(chunk.length);
      if (error === undefined) chunks.push(chunk);
      else refuse(error);
    };
    const onEnd = (): void => {
      end();
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    };
    const timer = setTimeout(() => refuse(new HarrierError("requestTimeout")), withinMs);
    req.on("data", onData).on("end", onEnd).on("close", end);
  });
}
