import { type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";

const statusOf: ReadonlyMap<unknown, number> = new Map([
  ["HPE_HEADER_OVERFLOW", 431],
  ["HPE_CHUNK_EXTENSIONS_OVERFLOW", 413],
  ["ERR_HTTP_REQUEST_TIMEOUT", 408],
]);
/** The client has this long to read the answer while the rest of its request is discarded: closed at once, it would see a reset. */
const lastWordsMs = 1_000;

/** Answers what is no HTTP, has too long a header or does not complete it, and closes the connection. */
export function answerBrokenRequests(server: Server): void {
  const answered = new WeakSet<Socket>();
  server.on("clientError", (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket;
    // What the client sends after that is no request any more.
    if (answered.has(socket)) return;
    answered.add(socket);
    if (error.code === "ECONNRESET" || !socket.writable || hasAnswer(socket)) return void socket.destroy();
    const status = statusOf.get(error.code) ?? 400;
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    socket.resume();
    setTimeout(() => socket.destroy(), lastWordsMs).unref();
  });
}

/** Returns true if half an answer has been sent: another one behind it would be taken for its end. */
function hasAnswer(socket: Socket): boolean {
  return (socket as { _httpMessage?: { headersSent: boolean } })._httpMessage?.headersSent === true;
}

/**
 * Returns true for a request that two readers could understand differently: with two Host headers (RFC 9112 §3.2), or with a transfer coding beside
 * `chunked`, which the gateway does not decode (§6.1).
 */
export function isAmbiguous(req: IncomingMessage): boolean {
  const coding = req.headers["transfer-encoding"];
  if (coding !== undefined && coding.toLowerCase() !== "chunked") return true;
  let hosts = 0;
  const raw = req.rawHeaders;
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] as string;
    if (name.length === 4 && name.toLowerCase() === "host") hosts += 1;
  }
  return hosts > 1;
}
