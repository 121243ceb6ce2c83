import { HarrierError } from "@harrier/errors";

interface Options {
  /** The maximum of sign-ins that are verified at the same time. */
  readonly concurrency: number;
  /** The maximum of sign-ins that may wait; for one more, one of those that wait is denied. */
  readonly waiting: number;
}

interface Waiting {
  readonly keys: readonly string[];
  readonly begin: () => void;
  readonly refuse: (error: HarrierError) => void;
}

const tooMany = (): HarrierError => new HarrierError("tooManyRequests", undefined, { headers: { "retry-after": "1" } });

/** The maximum number of accounts and networks whose last admission is remembered. */
const maxRemembered = 10_000;
/** Of a longer name only the beginning is the key. */
const maxKeyLength = 256;

/**
 * Limits how many sign-ins without a verified credential are verified at a time, because each costs a password hash. Of those that wait the next is
 * the one whose account and network were admitted longest ago: a first attempt goes ahead of a flood of guesses, whether these come from many
 * addresses or for many accounts. If no more may wait, one of the account or network with most in the queue is denied.
 */
export class SignInLimiter {
  readonly #options: Options;
  /** The waiting sign-ins in the order in which they came. */
  readonly #queue: Waiting[] = [];
  /** The number of the last admission by key, the oldest first. */
  readonly #lastAdmitted = new Map<string, number>();
  #running = 0;
  #admissions = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Runs `work` once it is admitted. `names` are those of the account and the network. Throws tooManyRequests if too many wait. */
  async run<T>(names: readonly string[], work: () => Promise<T>): Promise<T> {
    const keys = names.map((name) => name.slice(0, maxKeyLength));
    if (this.#running < this.#options.concurrency) {
      this.#running += 1;
      this.#remember(keys);
    } else await this.#admission(keys);
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  #admission(keys: readonly string[]): Promise<void> {
    return new Promise((begin, refuse) => {
      const one = { keys, begin, refuse };
      if (this.#queue.length < this.#options.waiting) this.#queue.push(one);
      else this.#takePlace(one);
    });
  }

  /**
   * Finds a place in a full queue. A flood does not keep the places that it took first: the last entry of the largest group is evicted for a smaller
   * group, or for one that has waited longer.
   */
  #takePlace(one: Waiting): void {
    const crowds = new Map<string, number>();
    for (const key of [...this.#queue, one].flatMap(({ keys }) => keys)) crowds.set(key, (crowds.get(key) ?? 0) + 1);
    const crowdOf = ({ keys }: Waiting): number => Math.max(0, ...keys.map((key) => crowds.get(key) ?? 0));
    let last = one;
    for (const other of this.#queue) {
      const more = crowdOf(other) - crowdOf(last);
      if (more > 0 || (more === 0 && this.#lastOf(other) > this.#lastOf(last))) last = other;
    }
    if (last !== one) this.#queue.splice(this.#queue.indexOf(last), 1, one);
    last.refuse(tooMany());
  }

  /** Gives the slot to the next in the queue, so that no newcomer can take it. */
  #next(): void {
    let next = this.#queue[0];
    if (next === undefined) {
      this.#running -= 1;
      return;
    }
    let oldest = this.#lastOf(next);
    for (const one of this.#queue) {
      const last = this.#lastOf(one);
      if (last >= oldest) continue;
      next = one;
      oldest = last;
    }
    this.#queue.splice(this.#queue.indexOf(next), 1);
    this.#remember(next.keys);
    next.begin();
  }

  #lastOf({ keys }: Waiting): number {
    return Math.max(0, ...keys.map((key) => this.#lastAdmitted.get(key) ?? 0));
  }

  #remember(keys: readonly string[]): void {
    this.#admissions += 1;
    for (const key of keys) {
      this.#lastAdmitted.delete(key);
      this.#lastAdmitted.set(key, this.#admissions);
    }
    for (const key of this.#lastAdmitted.keys()) {
      if (this.#lastAdmitted.size <= maxRemembered) break;
      this.#lastAdmitted.delete(key);
    }
  }
}
