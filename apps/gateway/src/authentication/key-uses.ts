/** The use of an API key that authenticated a device. */
export interface KeyUse {
  readonly tenantId: number;
  readonly keyId: number;
  /** The day, in days since 1970-01-01, UTC. */
  readonly day: number;
}

interface Deps {
  /** It is repeated until it succeeds, so a repetition must change nothing. */
  readonly send: (uses: readonly KeyUse[]) => Promise<void>;
  /** Called with each use that is to be sent. */
  readonly wake: () => void;
  readonly now: () => number;
}

const usesPerBatch = 5_000;
const dayMs = 24 * 60 * 60 * 1000;

/**
 * Collects on which days keys are used (spec 000 §4.3, `lastUsedOn`), once for each key and day, for a background job that sends it to
 * management. Unsent uses are kept; memory is bounded by the number of active keys.
 */
export class KeyUses {
  readonly #deps: Deps;
  readonly #batch: number;
  /** The keys recorded today. */
  readonly #recorded = new Set<string>();
  #today = 0;
  /** The newest use of each key that management does not know yet. */
  readonly #waiting = new Map<string, KeyUse>();

  constructor(deps: Deps, batch = usesPerBatch) {
    this.#deps = deps;
    this.#batch = batch;
  }

  /** The number of uses that have not been sent. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Records a use; called for every request with a key. It costs a look-up, and once a day an entry. It never fails and never waits. */
  record(tenantId: number, keyId: number): void {
    const day = Math.floor(this.#deps.now() / dayMs);
    if (day !== this.#today) {
      this.#today = day;
      this.#recorded.clear();
    }
    const name = `${tenantId}/${keyId}`;
    if (this.#recorded.has(name)) return;
    this.#recorded.add(name);
    this.#waiting.set(name, { tenantId, keyId, day });
    this.#deps.wake();
  }

  /** Sends the waiting uses; rejects at the first batch that fails, which then waits again. */
  async send(): Promise<void> {
    while (this.#waiting.size > 0) {
      const batch = [...this.#waiting].slice(0, this.#batch);
      for (const [name] of batch) this.#waiting.delete(name);
      try {
        await this.#deps.send(batch.map(([, use]) => use));
      } catch (error) {
        // A later use may have been recorded meanwhile.
        for (const [name, use] of batch) if (!this.#waiting.has(name)) this.#waiting.set(name, use);
        throw error;
      }
    }
  }
}
