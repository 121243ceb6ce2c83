import { HarrierError } from "@harrier/errors";

export interface CallLimits {
  /** One client may have so many calls in progress at a time. */
  readonly inFlight: number;
  /** So many further calls may wait for one of these to end; one more is refused. */
  readonly waiting: number;
}

/**
 * The limits of one client. If all calls in progress time out together, this many streams are reset. nghttp2 takes a burst of 1,000 and then closes
 * the connection, and two clients of one process share a connection to the same address.
 */
export const callLimits: CallLimits = { inFlight: 400, waiting: 5_000 };

/** Limits the calls of a client. Further calls wait in order until their own deadline, and have no stream that would be reset. */
export class CallLimiter {
  readonly #limits: CallLimits;
  readonly #waiting = new Set<() => void>();
  #taken = 0;

  constructor(limits: CallLimits = callLimits) {
    this.#limits = limits;
  }

  /** Admits a call; it answers a promise only if the call has to wait. `deadline` is in epoch ms. */
  enter(deadline: number): Promise<void> | undefined {
    if (this.#taken < this.#limits.inFlight) {
      this.#taken += 1;
      return undefined;
    }
    if (this.#waiting.size >= this.#limits.waiting) return Promise.reject(unavailable("Too many calls are on their way to the service."));
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        clearTimeout(limit);
        resolve();
      };
      const limit = setTimeout(
        () => {
          this.#waiting.delete(begin);
          reject(new HarrierError("deadlineExceeded"));
        },
        Math.max(0, deadline - Date.now()),
      );
      this.#waiting.add(begin);
    });
  }

  /** Releases a slot to the call that has waited longest. */
  leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#taken -= 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}

/** Makes an error that costs the callee nothing; its caller may try again in a second. */
export function unavailable(message?: string): HarrierError {
  return new HarrierError("unavailable", message, { headers: { "retry-after": "1" } });
}
