import { pause } from "./pause.ts";

export interface BatcherOptions {
  /** Sends what has been collected and never rejects; what could not be sent stays. */
  readonly send: () => Promise<void>;
  /** Whether something has been collected. */
  readonly isWaiting: () => boolean;
  /** The first entry after a quiet time is sent so soon; entries of the time until then go with it. */
  readonly soonMs: number;
  /** Batches begin at least so far apart. */
  readonly everyMs: number;
}

/** Sends what is collected in memory in batches: soon after a quiet time, and otherwise once a period. It holds no timer while nothing waits. */
export class Batcher {
  readonly #options: BatcherOptions;
  readonly #stopping = new AbortController();
  #sending: Promise<void> | undefined;
  #sentAt = Number.NEGATIVE_INFINITY;

  constructor(options: BatcherOptions) {
    this.#options = options;
  }

  /** Reports that something has been collected. */
  readonly wake = (): void => {
    if (this.#sending !== undefined || this.#stopping.signal.aborted) return;
    this.#sending = this.#send();
  };

  /** Sends what waits, in one attempt. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#sending;
    if (this.#options.isWaiting()) await this.#options.send();
  }

  async #send(): Promise<void> {
    const { signal } = this.#stopping;
    const { send, isWaiting, soonMs, everyMs } = this.#options;
    while (!signal.aborted) {
      await pause(Math.max(soonMs, this.#sentAt + everyMs - performance.now()), signal);
      if (signal.aborted) break;
      this.#sentAt = performance.now();
      await send();
      if (!isWaiting()) break;
    }
    this.#sending = undefined;
  }
}
