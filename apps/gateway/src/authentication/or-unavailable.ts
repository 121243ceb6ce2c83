import { HarrierError, toHarrierError } from "@harrier/errors";

const ofTheWay: ReadonlySet<string> = new Set(["internal", "deadlineExceeded"]);

/**
 * A question to the owner of credentials whose failure is never the client's: an owner that hangs, or breaks, is one that is away for now
 * (503, and the client comes again). What the owner itself answers goes through.
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
