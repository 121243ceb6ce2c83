import type { IncomingMessage, ServerResponse } from "node:http";

export interface DiscardBudget {
  readonly bytes: number;
  readonly ms: number;
}

/**
 * Reads on after an error and drops the bytes, so that a client which sends everything before it reads gets its answer and no reset. Beyond the
 * budget, whose bytes count from the answer on, it closes the connection.
 */
export function discardRest(req: IncomingMessage & { res?: ServerResponse | undefined }, budget: DiscardBudget): void {
  if (req.complete || req.destroyed) return;
  let left = budget.bytes;
  const cut = (): void => void req.destroy();
  const timer = setTimeout(cut, budget.ms);
  req.on("error", () => {}); // the client may close the connection now
  req.on("close", () => clearTimeout(timer));
  req.on("end", () => clearTimeout(timer));
  req.on("data", (chunk: Buffer) => {
    if (req.res?.writableFinished !== false) left -= chunk.length;
    if (left < 0) cut();
  });
  req.resume();
}
