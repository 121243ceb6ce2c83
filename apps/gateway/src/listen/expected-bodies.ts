import type { RequestListener, Server, ServerResponse } from "node:http";

/** Holds the answers whose client waits for `100 Continue` (RFC 9110 §10.1.1), and whether their connection may be kept after that. */
const waiting = new WeakMap<ServerResponse, boolean>();

/**
 * A client that sends `Expect: 100-continue` gets its `100` when its body is read, and not before: a request that is denied by its length, its
 * credential or its rate is denied without a byte of it. Until then an answer closes the connection, because the next bytes could be the body or a
 * request.
 */
export function holdExpectedBodies(server: Server, app: RequestListener): void {
  server.on("checkContinue", (req, res) => {
    waiting.set(res, res.shouldKeepAlive);
    res.shouldKeepAlive = false;
    app(req, res);
  });
}

/** Asks for the body: a client that waits for `100 Continue` gets it. */
export function letBodyCome(res: ServerResponse): void {
  const keepAlive = waiting.get(res);
  if (keepAlive === undefined) return;
  waiting.delete(res);
  res.shouldKeepAlive = keepAlive;
  res.writeContinue();
}
