import { connect, type IncomingHttpHeaders } from "node:http2";
import type { RpcTls } from "@harrier/rpc";

/** How a call ended: gRPC's number, and our own error where there was one. `open` is a stream that has begun to send. */
export interface WireAnswer {
  status: number | "open";
  code?: string;
}

/** A port of this machine, and the certificate with its key that the client shows where the port uses TLS, or none. */
export interface WirePlace {
  readonly port: number;
  readonly tls?: Partial<RpcTls> | undefined;
}

/** These numbers of gRPC matter here. */
export const grpcStatus = { ok: 0, deadlineExceeded: 4, permissionDenied: 7, unauthenticated: 16 } as const;

/** Frames one message, uncompressed, behind its length. */
function framed(message: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/**
 * Makes one gRPC call, by default with an empty request in which every member has its default, written as bytes, as anybody who reaches the port
 * could. Our own client cannot be built for a caller that the table does not list, so it cannot show what the server does.
 */
export function callOnTheWire(
  { port, tls }: WirePlace,
  path: string,
  headers: Readonly<Record<string, string>>,
  message: Buffer = Buffer.alloc(0),
): Promise<WireAnswer> {
  return new Promise((resolve, reject) => {
    const session = tls === undefined ? connect(`http://127.0.0.1:${port}`) : connect(`https://127.0.0.1:${port}`, tls);
    const end = (finish: () => void) => {
      session.destroy();
      finish();
    };
    session.on("error", (error) => end(() => reject(error)));
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
      "grpc-timeout": "5S",
      ...headers,
    });
    const take = (found: IncomingHttpHeaders) => {
      if (found["grpc-status"] !== undefined) end(() => resolve(answerOf(found)));
    };
    stream.on("response", take);
    stream.on("trailers", take);
    stream.on("error", (error) => end(() => reject(error)));
    // A server that breaks a handshake off may do so without an error.
    stream.on("close", () => end(() => reject(new Error("closed without an answer"))));
    // A unary answer is followed by its trailers at once; a stream has none for a long time.
    stream.once("data", () => setTimeout(() => end(() => resolve({ status: "open" })), 200));
    stream.end(framed(message));
  });
}

function answerOf(headers: IncomingHttpHeaders): WireAnswer {
  const status = Number(headers["grpc-status"]);
  const error = headers["harrier-error-bin"];
  if (typeof error !== "string") return { status };
  return { status, code: (JSON.parse(Buffer.from(error, "base64").toString()) as { code: string }).code };
}
