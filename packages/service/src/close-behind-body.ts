import type { IncomingMessage, ServerResponse } from "node:http";

/**
 * Keeps the connection of an answer that comes before the end of its request's body open until that end, where it would be closed behind the answer: the
 * bytes that nobody has read by then would reset it, and a sender that is faster than the answer could lose that. Who calls this reads the body, and
 * bounds its time. The answer must not have begun.
 */
export function closeBehindBody(req: IncomingMessage, res: ServerResponse): void {
  if (req.complete || res.headersSent || res.shouldKeepAlive) return;
  res.shouldKeepAlive = true;
  const close = (): void => req.socket.destroySoon();
  req.once("end", () => {
    if (res.writableFinished) close();
    else res.once("finish", close);
  });
}
