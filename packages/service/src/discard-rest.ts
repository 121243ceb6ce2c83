import type { IncomingMessage, ServerResponse } from "node:http";

export interface DiscardBudget {
  readonly bytes: number;
  readonly ms: number;
}

/**
 * Reads on after an error and drops the bytes, so that a client which sends everything before it reads gets its answer and no reset. Bytes count from
 * the answer on. Beyond that many it reads no more and closes the connection when the time has passed: closed at once, bytes that nobody has read would
 * reset it, and a sender that is faster than the answer could lose that. So a client that asks for `close` has to wait for it, too.
 */
export function discardRest(req: IncomingMessage & { res?: ServerResponse | undefined }, budget: DiscardBudget): void {
  if (req.complete || req.destroyed) return;
  const { res, socket } = req;
  const closes = res !== undefined && !res.headersSent && !res.shouldKeepAlive;
  if (closes) res.shouldKeepAlive = true;
  let left = budget.bytes;
  const timer = setTimeout(() => void req.destroy(), budget.ms);
  req.on("error", () => {}); // the client may close the connection now
  req.on("close", () => clearTimeout(timer));
  req.on("end", () => {
    clearTimeout(timer);
    if (!closes) return;
    if (res.writableFinished) socket.destroySoon();
    else res.once("finish", () => socket.destroySoon());
  });
  const discard = (chunk: Buffer): void => {
    if (res?.writableFinished !== false) left -= chunk.length;
    if (left >= 0) return;
    req.off("data", discard);
    req.pause();
  };
  req.on("data", discard);
  req.resume();
}
