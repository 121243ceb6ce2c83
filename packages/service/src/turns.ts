import { HarrierError } from "@harrier/errors";

/**
 * Lets only so much expensive work run beside each other, in the order in which it came. What would make the queue longer than it may be is
 * refused at once: who asked gives up anyway before its turn would come.
 */
export class Turns {
  readonly #atOnce: number;
  readonly #longest: number;
  readonly #queue: (() => void)[] = [];
  #running = 0;

  constructor(options: { atOnce: number; waiting: number }) {
    this.#atOnce = options.atOnce;
    this.#longest = options.waiting;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#atOnce) this.#running += 1;
    else await this.#turn();
    try {
      return await work();
    } finally {
      // whoever is next takes over the place, so that nobody who comes meanwhile can
      const next = this.#queue.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  #turn(): Promise<void> {
    if (this.#queue.length >= this.#longest) {
      throw new HarrierError("tooManyRequests", undefined, { headers: { "retry-after": "1" } });
    }
    return new Promise((resolve) => this.#queue.push(resolve));
  }
}
