/** The broker gives a connection without heartbeats up after 20 s at the earliest: until then nobody else gets its messages. */
const maxPauseMs = 15_000;
const everyMs = 1_000;

/**
 * Notices that this process has stood still, as one does whose machine is suspended: what it was given before may be another replica's by now, and would
 * be handled behind newer messages of the same thing.
 */
export class Awake {
  readonly #onPause: () => void;
  readonly #timer: NodeJS.Timeout;
  #last = Date.now();

  constructor(onPause: () => void) {
    this.#onPause = onPause;
    this.#timer = setInterval(() => this.check(), everyMs);
    this.#timer.unref();
  }

  /** Calls `onPause` if the process has stood still since the last time. Answers of others may be read before the timer runs, so it is asked as well. */
  check(): void {
    const before = this.#last;
    this.#last = Date.now();
    if (this.#last - before > maxPauseMs) this.#onPause();
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
