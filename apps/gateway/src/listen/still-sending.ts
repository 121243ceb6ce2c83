import type { IncomingMessage } from "node:http";

/** A client that has its answer and goes on sending gets this long to end: cut at once it might not see the answer. */
export function cutWhenStillSending(req: IncomingMessage, afterMs: number): void {
  if (req.complete) return;
  const timer = setTimeout(() => {
    if (!req.complete) req.destroy();
  }, afterMs);
  timer.unref();
}
