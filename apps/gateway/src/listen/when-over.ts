import type { IncomingMessage, ServerResponse } from "node:http";

/**
 * Calls `work` once, when a request has been answered or its connection has ended. The answer alone does not tell: behind another request on the
 * same connection one that has not had its turn yet ends without a word.
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
  // requests behind each other have a listener each
  socket.setMaxListeners(0).once("close", end);
}
