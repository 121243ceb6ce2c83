/** Finds the things of actions; it is asked for many at a time. */
export type FindThings = (actionIds: readonly number[]) => Promise<ReadonlyMap<number, string>>;

interface Arrival {
  /** What is known of whose message it is: the thing itself, or one of its actions. */
  readonly of: { readonly thingId: string } | { readonly actionId: number };
  /** Does the work; `thingId` is undefined for an action that nobody has. It never rejects. */
  readonly work: (thingId: string | undefined) => Promise<void>;
}

/**
 * Handles the messages of one thing one after the other, in the order in which they came, and those of different things side by side. A message about
 * an action does not say whose it is: what came meanwhile waits until that is known, so that nothing overtakes it. The broker's prefetch bounds how many
 * there are.
 */
export class InOrder {
  readonly #find: FindThings;
  readonly #last = new Map<string, Promise<void>>();
  #arrivals: Arrival[] = [];
  #finding = false;

  constructor(find: FindThings) {
    this.#find = find;
  }

  add(arrival: Arrival): void {
    this.#arrivals.push(arrival);
    if (!this.#finding) void this.#sort();
  }

  async #sort(): Promise<void> {
    this.#finding = true;
    while (this.#arrivals.length > 0) {
      const arrivals = this.#arrivals;
      this.#arrivals = [];
      const ids = [...new Set(arrivals.flatMap(({ of }) => ("actionId" in of ? [of.actionId] : [])))];
      const things = ids.length === 0 ? new Map<number, string>() : await this.#find(ids);
      for (const { of, work } of arrivals) {
        const thingId = "thingId" in of ? of.thingId : things.get(of.actionId);
        this.#append(thingId ?? "", () => work(thingId));
      }
    }
    this.#finding = false;
  }

  #append(key: string, work: () => Promise<void>): void {
    const before = this.#last.get(key) ?? Promise.resolve();
    const done = before.then(work).catch(() => undefined);
    this.#last.set(key, done);
    void done.then(() => {
      if (this.#last.get(key) === done) this.#last.delete(key);
    });
  }
}
