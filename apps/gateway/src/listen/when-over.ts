import type { IncomingMessage, ServerResponse } from "node:http";

/**
 * Calls `work` once, when a request has been answered or its connection has ended. The answer alone is not enough: a request that waits behind
 * another on the same connection ends without an event.
 */
export function whenOver(req: IncomingMessage, res: ServerResponse, work: () => void): void {
  const { socket } = req;
  if (socket.destroyed) {
    work();
    return;
  }
  const end = (): void => {
    res.off("close", end);
    socket.off("close", end);
    work();
  };
  res.once("close", end);
  // Pipelined requests have a listener each.
  socket.setMaxListeners(0).once("close", end);
}
