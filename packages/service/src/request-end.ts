import { HarrierError } from "@harrier/errors";
import type { Request, Response } from "express";

/** The end of a request, by whichever cause comes first. */
export interface RequestEnd {
  /** It aborts with the error that the request ends with. */
  readonly signal: AbortSignal;
  /** Ends the watch after the answer, so that nothing aborts any more. */
  release(): void;
}

/**
 * Signals that nobody needs the answer any more: its deadline has passed, or the client of a read has gone. A change continues when its client has
 * gone, because it may still be wanted. `deadline` is in epoch ms, Infinity for transfers.
 */
export function endOf(req: Request, res: Response, deadline: number): RequestEnd {
  const abort = new AbortController();
  const onDeadline = (): void => abort.abort(new HarrierError("deadlineExceeded", undefined, { headers: { "retry-after": "2" } }));
  const onClose = (): void => {
    if (!res.writableFinished) abort.abort(new HarrierError("unavailable", "The client has gone."));
  };
  const timer = Number.isFinite(deadline) ? setTimeout(onDeadline, Math.max(0, deadline - Date.now())).unref() : undefined;
  const read = req.method === "GET" || req.method === "HEAD";
  if (read) {
    res.once("close", onClose);
    if (res.destroyed) onClose();
  }
  return {
    signal: abort.signal,
    release() {
      clearTimeout(timer);
      if (read) res.off("close", onClose);
    },
  };
}
