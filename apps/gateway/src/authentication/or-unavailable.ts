import { HarrierError, toHarrierError } from "@harrier/errors";

const ofTheWay: ReadonlySet<string> = new Set(["internal", "deadlineExceeded"]);

/**
 * Wraps a call to the owner of credentials whose failure is never the client's: if the owner hangs or fails, it is unavailable (503, and the client
 * retries). The owner's own answer is passed on.
 */
export function orUnavailable<A extends unknown[], T>(ask: (...args: A) => Promise<T>): (...args: A) => Promise<T> {
  return async (...args) => {
    try {
      return await ask(...args);
    } catch (error) {
      if (!ofTheWay.has(toHarrierError(error).code)) throw error;
      throw new HarrierError("unavailable", undefined, { cause: error });
    }
  };
}
