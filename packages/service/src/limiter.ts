import { HarrierError } from "@harrier/errors";

/**
 * Limits the concurrency of expensive work, in the order in which it came. Work that would make the queue longer than its maximum is refused at
 * once, because its client would give up before it could run.
 */
export class Limiter {
  readonly #concurrency: number;
  readonly #maxWaiting: number;
  readonly #queue: (() => void)[] = [];
  #running = 0;

  constructor(options: { concurrency: number; waiting: number }) {
    this.#concurrency = options.concurrency;
    this.#maxWaiting = options.waiting;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#concurrency) this.#running += 1;
    else await this.#admission();
    try {
      return await work();
    } finally {
      // the next one in the queue takes over the slot, so that no newcomer can
      const next = this.#queue.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  #admission(): Promise<void> {
    if (this.#queue.length >= this.#maxWaiting) {
      throw new HarrierError("tooManyRequests", undefined, { headers: { "retry-after": "1" } });
    }
    return new Promise((resolve) => this.#queue.push(resolve));
  }
}
