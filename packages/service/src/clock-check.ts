import type { Log } from "./log.ts";
import type { ReadinessCheck } from "./readiness.ts";

/** A difference above this is logged, because times in rows and answers begin to contradict each other. */
const worthALineMs = 2_000;
/** Two services that each differ less than this from the database accept each other's identities. */
const maxMs = 30_000;

/**
 * Checks this machine's clock for readiness against the database's, which all services share: not ready when they differ by more than 30 s, with
 * the difference as the reason. It logs once when they begin to differ by more than 2 s, and once when they no longer do.
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
    if (Math.abs(aheadMs) <= maxMs) return true;
    return `this machine's clock is ${Math.round(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? "ahead of" : "behind"} the database's`;
  };
}
