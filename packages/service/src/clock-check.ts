import type { Log } from "./log.ts";
import type { ReadinessCheck } from "./readiness.ts";

/** Milliseconds worth a line in the log: times in rows and answers begin to contradict each other. */
const worthALineMs = 2_000;
/** Two services that are each within this of the database are within what they accept of each other. */
const mostMs = 30_000;

/**
 * Readiness of this machine's clock, compared with the one that all services share: not ready when they differ by more than 30 s, with the
 * difference as the reason. One line when they begin to differ by more than 2 s, and one when they do not any more.
 */
export function createClockCheck(options: {
  readonly aheadMs: () => Promise<number>;
  readonly log: Pick<Log, "warn" | "info">;
}): ReadinessCheck {
  let differed = false;
  return async () => {
    const aheadMs = await options.aheadMs();
    const differs = Math.abs(aheadMs) > worthALineMs;
    if (differs !== differed) {
      if (differs) options.log.warn({ aheadMs }, "this machine's clock and the database's differ: set them right");
      else options.log.info({ aheadMs }, "this machine's clock and the database's agree again");
    }
    differed = differs;
    if (Math.abs(aheadMs) <= mostMs) return true;
    return `this machine's clock is ${Math.round(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? "ahead of" : "behind"} the database's`;
  };
}
