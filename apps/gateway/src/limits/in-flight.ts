import { HarrierError } from "@harrier/errors";

const full = new HarrierError("tooManyRequests", undefined, { headers: { "retry-after": "1" } });

/** Limits the requests of each tenant, or the downloads of each device, that are served at a time, so that others find capacity. */
export class InFlight {
  readonly #max: number;
  readonly #running = new Map<number | string, number>();

  /** `max` is the maximum of concurrent requests of one key; 0 means no limit. */
  constructor(max: number) {
    this.#max = max;
  }

  /** Counts a request and returns what ends it; throws tooManyRequests if the maximum is reached. */
  enter(key: number | string): () => void {
    if (this.#max === 0) return () => undefined;
    const running = this.#running.get(key) ?? 0;
    if (running >= this.#max) throw full;
    this.#running.set(key, running + 1);
    return () => {
      const left = (this.#running.get(key) ?? 1) - 1;
      if (left === 0) this.#running.delete(key);
      else this.#running.set(key, left);
    };
  }
}
