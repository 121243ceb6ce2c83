export interface OutageOptions {
  /** Logs the first failure of an outage. */
  readonly failed: (error: unknown) => void;
  /** Logs the end of an outage that was logged. */
  readonly recovered?: (() => void) | undefined;
  /** Before the first success so much time passes until a failure is logged. */
  readonly graceMs?: number;
}

/** Logs an outage once: what is tried twice a second may fail for hours. */
export class Outage {
  readonly #options: OutageOptions;
  #logFrom: number;
  #logged = false;

  constructor(options: OutageOptions) {
    this.#options = options;
    this.#logFrom = performance.now() + (options.graceMs ?? 0);
  }

  failed(error: unknown): void {
    if (this.#logged || performance.now() < this.#logFrom) return;
    this.#logged = true;
    this.#options.failed(error);
  }

  succeeded(): void {
    if (this.#logged) this.#options.recovered?.();
    this.#logged = false;
    this.#logFrom = 0;
  }
}
