import type { IncomingMessage } from "node:http";

/**
 * A client that has its answer and goes on sending gets this long to end, because it might not see the answer if it were cut at once. Nothing is kept
 * of one that ends or hangs up before: clients that come, are denied and hang up thousands of times a second would fill the memory.
 */
export function cutWhenStillSending(req: IncomingMessage, afterMs: number): void {
  const { socket } = req;
  if (req.complete || socket.destroyed) return;
  const over = (): void => {
    clearTimeout(timer);
    req.off("end", over);
    socket.off("close", over);
  };
  const timer = setTimeout(() => {
    over();
    if (!req.complete) req.destroy();
  }, afterMs);
  timer.unref();
  req.once("end", over);
  socket.once("close", over);
}
