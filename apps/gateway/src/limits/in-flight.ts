import { HarrierError } from "@harrier/errors";

const full = new HarrierError("tooManyRequests", undefined, { headers: { "retry-after": "1" } });

/** Requests of each tenant, or downloads of each device, that are being served, up to a number: whoever asks for more at once leaves the services to others. */
export class InFlight {
  readonly #most: number;
  readonly #running = new Map<number | string, number>();

  /** `most`: requests of one key at once; 0: as many as come. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Counts a request and answers what ends it; throws tooManyRequests where as many run as may. */
  enter(key: number | string): () => void {
    if (this.#most === 0) return () => undefined;
    const running = this.#running.get(key) ?? 0;
    if (running >= this.#most) throw full;
    this.#running.set(key, running + 1);
    return () => {
      const left = (this.#running.get(key) ?? 1) - 1;
      if (left === 0) this.#running.delete(key);
      else this.#running.set(key, left);
    };
  }
}
