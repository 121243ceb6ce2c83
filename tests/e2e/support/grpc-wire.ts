import { connect, type IncomingHttpHeaders } from "node:http2";
import type { RpcTls } from "@harrier/rpc";

/** How a call ended: gRPC's number, and our own error where one came along. `open`: a stream that began to speak. */
export interface WireAnswer {
  status: number | "open";
  code?: string;
}

/** A port of this machine, and what is shown there where it speaks TLS: a certificate with its key, or none. */
export interface WirePlace {
  readonly port: number;
  readonly tls?: Partial<RpcTls> | undefined;
}

/** gRPC's numbers that matter here. */
export const grpcStatus = { ok: 0, deadlineExceeded: 4, permissionDenied: 7, unauthenticated: 16 } as const;

/** One message, not compressed, behind its length. */
function framed(message: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/**
 * One gRPC call, by default with an empty request in which every member has its default, written as bytes: what anybody who reaches the port could send. Our own client refuses to be built
 * for a caller that the table does not list, so it cannot show what the server does.
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
    // a server that breaks a handshake off may do so without a word
    stream.on("close", () => end(() => reject(new Error("closed without an answer"))));
    // a unary answer has its trailers at once behind it; a stream has none for a long time
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
