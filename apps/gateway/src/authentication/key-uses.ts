/** An API key that let somebody in. */
export interface KeyUse {
  readonly tenantId: number;
  readonly keyId: number;
  /** Days since 1970-01-01, UTC. */
  readonly day: number;
}

interface Deps {
  /** Repeated until it succeeds: saying the same again must change nothing. */
  readonly send: (uses: readonly KeyUse[]) => Promise<void>;
  readonly onFailed: (error: unknown) => void;
  readonly now: () => number;
}

interface Limits {
  /** So soon the first use of a key is told, */
  readonly soonMs: number;
  /** so long is the pause between two batches, */
  readonly everyMs: number;
  /** and so many uses make one. */
  readonly batch: number;
}

const usual: Limits = { soonMs: 500, everyMs: 60_000, batch: 5_000 };
const dayMs = 24 * 60 * 60 * 1000;

/**
 * Tells management on which days keys are used (spec 000 §4.3, `lastUsedOn`), once for each key and day, in batches at most once a minute.
 * What could not be told waits; there is never more of it than keys in use.
 */
export class KeyUses {
  readonly #deps: Deps;
  readonly #limits: Limits;
  /** Keys noted today. */
  readonly #noted = new Set<string>();
  #today = 0;
  /** Newest use of each key that management does not know yet. */
  readonly #waiting = new Map<string, KeyUse>();
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #sentAt = Number.NEGATIVE_INFINITY;
  #failing = false;
  #stopped = false;

  constructor(deps: Deps, limits: Limits = usual) {
    this.#deps = deps;
    this.#limits = limits;
  }

  /** Called for every request with a key: costs a look-up, and once a day a note. Never fails and never waits. */
  note(tenantId: number, keyId: number): void {
    const day = Math.floor(this.#deps.now() / dayMs);
    if (day !== this.#today) {
      this.#today = day;
      this.#noted.clear();
    }
    const name = `${tenantId}/${keyId}`;
    if (this.#noted.has(name)) return;
    this.#noted.add(name);
    this.#waiting.set(name, { tenantId, keyId, day });
    this.#schedule();
  }

  /** Tells what waits, as far as that goes at one attempt. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#sending;
    await this.#sendAll();
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#sending !== undefined || this.#stopped) return;
    const { soonMs, everyMs } = this.#limits;
    const pause = this.#sentAt + everyMs - this.#deps.now();
    // never longer, even where the clock was set back
    this.#timer = setTimeout(() => this.#flush(), Math.min(everyMs, Math.max(soonMs, pause)));
  }

  #flush(): void {
    this.#timer = undefined;
    this.#sentAt = this.#deps.now();
    this.#sending = this.#sendAll().finally(() => {
      this.#sending = undefined;
      if (this.#waiting.size > 0) this.#schedule();
    });
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.size > 0) {
      const batch = [...this.#waiting].slice(0, this.#limits.batch);
      for (const [name] of batch) this.#waiting.delete(name);
      try {
        await this.#deps.send(batch.map(([, use]) => use));
        this.#failing = false;
      } catch (error) {
        // a later use may have been noted meanwhile
        for (const [name, use] of batch) if (!this.#waiting.has(name)) this.#waiting.set(name, use);
        // once per outage
        if (!this.#failing) this.#deps.onFailed(error);
        this.#failing = true;
        return;
      }
    }
  }
}
