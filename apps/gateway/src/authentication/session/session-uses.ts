/** When a session was last used. */
export interface SessionUse {
  readonly tenantId: number;
  readonly sessionId: number;
  /** Epoch ms. */
  readonly at: number;
}

interface Deps {
  /** It is repeated until it succeeds, so a repetition must change nothing. */
  readonly send: (uses: readonly SessionUse[]) => Promise<void>;
  /** Called when there is something to send. */
  readonly wake: () => void;
}

const usesPerBatch = 1_000;
/** Beyond so many a use is lost, and its session may end for want of use while management does not answer. */
const maxWaiting = 20_000;

/** Collects the last use of each session for a background job that sends it to management. */
export class SessionUses {
  readonly #deps: Deps;
  readonly #waiting = new Map<string, SessionUse>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** The number of uses that have not been sent. */
  get size(): number {
    return this.#waiting.size;
  }

  record(use: SessionUse): void {
    const key = `${use.tenantId}/${use.sessionId}`;
    if (this.#waiting.size >= maxWaiting && !this.#waiting.has(key)) return;
    this.#waiting.set(key, use);
    this.#deps.wake();
  }

  /** Sends the waiting uses; rejects at the first batch that fails, which then waits again. */
  async send(): Promise<void> {
    while (this.#waiting.size > 0) {
      const batch = [...this.#waiting].slice(0, usesPerBatch);
      for (const [key] of batch) this.#waiting.delete(key);
      try {
        await this.#deps.send(batch.map(([, use]) => use));
      } catch (error) {
        // A later use may have been recorded meanwhile.
        for (const [key, use] of batch) if (!this.#waiting.has(key)) this.#waiting.set(key, use);
        throw error;
      }
    }
  }
}
