import type { IncomingMessage, ServerResponse } from "node:http";
import { closeBehindBody } from "./close-behind-body.ts";

export interface DiscardBudget {
  readonly bytes: number;
  readonly ms: number;
}

/**
 * Reads on after an error and drops the bytes, so that a client which sends everything before it reads gets its answer and no reset. Bytes count from
 * the answer on. Beyond that many it reads no more, and closes the connection when the time has passed, not at once: see `closeBehindBody`.
 */
export function discardRest(req: IncomingMessage & { res?: ServerResponse | undefined }, budget: DiscardBudget): void {
  if (req.complete || req.destroyed) return;
  const { res } = req;
  if (res !== undefined) closeBehindBody(req, res);
  let left = budget.bytes;
  const timer = setTimeout(() => void req.destroy(), budget.ms);
  req.on("error", () => {}); // the client may close the connection now
  req.on("close", () => clearTimeout(timer));
  req.on("end", () => clearTimeout(timer));
  const discard = (chunk: Buffer): void => {
    if (res?.writableFinished !== false) left -= chunk.length;
    if (left >= 0) return;
    req.off("data", discard);
    req.pause();
  };
  req.on("data", discard);
  req.resume();
}
