import { HarrierError } from "@harrier/errors";

export interface PlaceLimits {
  /** Calls of one client that are on their way at once. */
  readonly inFlight: number;
  /** Calls that wait for one of these to end; one more is refused. */
  readonly waiting: number;
}

/**
 * When all that is on its way runs out of time at once, this many streams are reset. nghttp2 takes a burst of 1,000 and then closes the
 * connection, and two clients of one process share a connection to the same address.
 */
export const placeLimits: PlaceLimits = { inFlight: 400, waiting: 5_000 };

/** So many calls at once; the others wait in order, each no longer than its own deadline, and without having a stream to be reset. */
export class Places {
  readonly #limits: PlaceLimits;
  readonly #waiting = new Set<() => void>();
  #taken = 0;

  constructor(limits: PlaceLimits = placeLimits) {
    this.#limits = limits;
  }

  /** Takes a place; a promise only where there is something to wait for. `deadline` in epoch ms. */
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
      const limit = setTimeout(() => {
        this.#waiting.delete(begin);
        reject(new HarrierError("deadlineExceeded"));
      }, deadline - Date.now());
      this.#waiting.add(begin);
    });
  }

  /** Gives the place to whoever waits longest. */
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

/** A refusal that costs the callee nothing; its caller may come again in a second. */
export function unavailable(message?: string): HarrierError {
  return new HarrierError("unavailable", message, { headers: { "retry-after": "1" } });
}
