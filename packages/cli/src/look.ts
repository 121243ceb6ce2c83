import { ApiError, NetworkError } from "@harrier/client";
import type { Session } from "./session.ts";

/** A look may take so long even where less time is left: the state of now is worth more than a punctual end. */
const leastMs = 1_000;

/**
 * Looks at what a wait waits for. Undefined: the server could not be reached, or was too slow; what is waited for goes on meanwhile, so that is no
 * failure of the wait, which looks again until its deadline (epoch ms).
 */
export async function look<T>(session: Session, deadline: number, read: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
  const limit = AbortSignal.timeout(Math.max(leastMs, deadline - Date.now()));
  try {
    return await read(limit);
  } catch (error) {
    if (session.signal.aborted) throw session.signal.reason;
    const passes = error instanceof NetworkError || (error instanceof ApiError && (error.status >= 500 || error.status === 429));
    if (!passes && !limit.aborted) throw error;
    return undefined;
  }
}
