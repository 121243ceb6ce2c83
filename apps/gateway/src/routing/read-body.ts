import type { IncomingMessage, ServerResponse } from "node:http";
import { HarrierError } from "@harrier/errors";
import { type Holder, Shares } from "../limits/shares.ts";
import { letBodyCome } from "../listen/expected-bodies.ts";
import { whenOver } from "../listen/when-over.ts";

/** Limits of all bodies that come together in one place. */
export interface PoolLimits {
  /** Milliseconds from the first byte to the last: a slow line gets through, one that trickles on purpose does not stay. */
  readonly withinMs: number;
  /** Bytes of all bodies that are held: what clients send together may not take the memory of the gateway. */
  readonly together: number;
}

/** One body, and who is counted for it. */
export interface BodyRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Bytes; a longer body is refused by its Content-Length, else at the first byte beyond. */
  readonly largest: number;
  readonly holders: readonly Holder[];
  /** Asked about bytes before they are kept; false: who sends them has sent enough for now. */
  readonly admits?: ((bytes: number) => boolean) | undefined;
}

export interface BodyReader {
  /**
   * The whole body; `payloadTooLarge`, `requestTimeout`, `tooManyRequests` (the share of a holder) or `unavailable` (the whole pool) where it
   * does not come so. Its bytes count until it is answered. Never settles when the client has gone.
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
 * Reads bodies before a connection to a service is taken for them. Passed on as they come, a few hundred slow ones would hold every
 * connection that other devices' polls need. Every limit is looked at before the bytes are kept.
 */
export function createBodyReader(limits: PoolLimits): BodyReader {
  const shares = new Shares(limits);

  async function read(request: BodyRequest): Promise<Buffer> {
    const { req, res, largest, holders, admits } = request;
    const length = req.headers["content-length"];
    if (Number(length) > largest) throw new HarrierError("payloadTooLarge");
    if (length !== undefined && admits?.(Number(length)) === false) throw shareTaken;
    const ticket = shares.begin(holders);
    if (ticket === undefined) throw shareTaken;
    // until the answer, for as long the service may be waited for with it
    whenOver(req, res, () => shares.end(ticket));
    letBodyCome(res);
    return collect(req, limits.withinMs, (bytes) => {
      if (ticket.bytes + bytes > largest) return new HarrierError("payloadTooLarge");
      if (length === undefined && admits?.(bytes) === false) return shareTaken;
      const taken = shares.take(ticket, bytes);
      if (taken === "taken") return undefined;
      return taken === "share" ? shareTaken : new HarrierError("unavailable");
    });
  }

  return { read };
}

/** Keeps what `refusalOf` has nothing against, byte counts in. */
function collect(req: IncomingMessage, withinMs: number, refusalOf: (bytes: number) => HarrierError | undefined): Promise<Buffer> {
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
      const refusal = refusalOf(chunk.length);
      if (refusal === undefined) chunks.push(chunk);
      else refuse(refusal);
    };
    const onEnd = (): void => {
      end();
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    };
    const timer = setTimeout(() => refuse(new HarrierError("requestTimeout")), withinMs);
    req.on("data", onData).on("end", onEnd).on("close", end);
  });
}
