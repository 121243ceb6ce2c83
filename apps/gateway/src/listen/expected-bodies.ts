import type { RequestListener, Server, ServerResponse } from "node:http";

/** Answers whose client waits to be told that it may send its body (RFC 9110 §10.1.1), and whether their connection may be kept after that. */
const waiting = new WeakMap<ServerResponse, boolean>();

/**
 * A client that asks first (`Expect: 100-continue`) is told to send its body when somebody reads it, and not before: what is refused by its
 * length, its credential or its rate is refused without a byte of it. Until then its answer closes the connection, for nobody could say
 * whether what comes next is the body or a request.
 */
export function holdExpectedBodies(server: Server, app: RequestListener): void {
  server.on("checkContinue", (req, res) => {
    waiting.set(res, res.shouldKeepAlive);
    res.shouldKeepAlive = false;
    app(req, res);
  });
}

/** The body is wanted: who waits for that word gets it. */
export function letBodyCome(res: ServerResponse): void {
  const keepAlive = waiting.get(res);
  if (keepAlive === undefined) return;
  waiting.delete(res);
  res.shouldKeepAlive = keepAlive;
  res.writeContinue();
}
