import { HarrierError } from "@harrier/errors";

interface Options {
  /** Sign-ins that are looked at beside each other. */
  readonly atOnce: number;
  /** That may wait; for one more somebody is refused. */
  readonly waiting: number;
}

interface Waiting {
  readonly keys: readonly string[];
  readonly begin: () => void;
  readonly refuse: (error: HarrierError) => void;
}

const tooMany = (): HarrierError => new HarrierError("tooManyRequests", undefined, { headers: { "retry-after": "1" } });

/** So many accounts and networks are remembered with their last turn. */
const mostRemembered = 10_000;
/** Nobody's name is as long; what is remembered of a longer one is its beginning. */
const longestKey = 256;

/**
 * Lets so many sign-ins of those whom nobody vouches for be looked at beside each other: each costs a password hash. Of those that wait the
 * next is the one whose account and network have had no turn for the longest time: whoever comes for the first time goes ahead of a flood
 * of guesses, be they from many addresses or for many accounts. Where no more may wait, one of those of whom most wait is refused instead.
 */
export class SignInTurns {
  readonly #options: Options;
  /** In the order in which they came. */
  readonly #queue: Waiting[] = [];
  /** Number of the last turn by key, the longest ago first. */
  readonly #lastTurns = new Map<string, number>();
  #running = 0;
  #turns = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Runs `work` in its turn. `names`: what it is for (an account, a network). Throws tooManyRequests where too many wait. */
  async run<T>(names: readonly string[], work: () => Promise<T>): Promise<T> {
    const keys = names.map((name) => name.slice(0, longestKey));
    if (this.#running < this.#options.atOnce) {
      this.#running += 1;
      this.#note(keys);
    } else await this.#turn(keys);
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  #turn(keys: readonly string[]): Promise<void> {
    return new Promise((begin, refuse) => {
      const one = { keys, begin, refuse };
      if (this.#queue.length < this.#options.waiting) this.#queue.push(one);
      else this.#takePlace(one);
    });
  }

  /** A flood has no claim to the places that it came to first: of its own the last one gives way to whoever is fewer, or has waited longer. */
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

  /** Whoever is next takes over the place, so that nobody who comes meanwhile can. */
  #next(): void {
    let next = this.#queue[0];
    if (next === undefined) {
      this.#running -= 1;
      return;
    }
    let longestAgo = this.#lastOf(next);
    for (const one of this.#queue) {
      const last = this.#lastOf(one);
      if (last >= longestAgo) continue;
      next = one;
      longestAgo = last;
    }
    this.#queue.splice(this.#queue.indexOf(next), 1);
    this.#note(next.keys);
    next.begin();
  }

  #lastOf({ keys }: Waiting): number {
    return Math.max(0, ...keys.map((key) => this.#lastTurns.get(key) ?? 0));
  }

  #note(keys: readonly string[]): void {
    this.#turns += 1;
    for (const key of keys) {
      this.#lastTurns.delete(key);
      this.#lastTurns.set(key, this.#turns);
    }
    for (const key of this.#lastTurns.keys()) {
      if (this.#lastTurns.size <= mostRemembered) break;
      this.#lastTurns.delete(key);
    }
  }
}
