import type { IncomingMessage } from "node:http";
import { HarrierError } from "@harrier/errors";

/** Bytes of one body; a longer one is refused as soon as it is known to be. */
export interface BodyLimits {
  readonly largest: number;
  /** From the first byte to the last: a slow line gets through, one that trickles on purpose does not stay. */
  readonly withinMs: number;
  /** Of all bodies that are being read: what devices send together may not take the memory of the gateway. */
  readonly together: number;
}

export interface BodyReader {
  /** The whole body; `payloadTooLarge`, `requestTimeout` or `unavailable` where it does not come so. Never settles when the client has gone. */
  read(req: IncomingMessage): Promise<Buffer>;
}

/** True when a request has a body at all (RFC 9112 §6.3). */
export function hasBody(req: IncomingMessage): boolean {
  const length = req.headers["content-length"];
  return req.headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
}

/**
 * Reads bodies before a connection to a service is taken for them. Passed on as they come, a few hundred slow ones would hold every
 * connection that other devices' polls need.
 */
export function createBodyReader(limits: BodyLimits): BodyReader {
  let held = 0;

  function read(req: IncomingMessage): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let size = 0;
      const end = (): void => {
        clearTimeout(timer);
        held -= size;
        req.off("data", onData).off("end", onEnd).off("close", end);
      };
      const refuse = (error: HarrierError): void => {
        end();
        reject(error);
      };
      const onData = (chunk: Buffer): void => {
        size += chunk.length;
        held += chunk.length;
        chunks.push(chunk);
        if (size > limits.largest) refuse(new HarrierError("payloadTooLarge"));
        else if (held > limits.together) refuse(new HarrierError("unavailable"));
      };
      const onEnd = (): void => {
        end();
        resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size));
      };
      const timer = setTimeout(() => refuse(new HarrierError("requestTimeout")), limits.withinMs);
      req.on("data", onData).on("end", onEnd).on("close", end);
    });
  }

  return { read };
}
