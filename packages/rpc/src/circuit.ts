export interface CircuitOptions {
  /** After so many calls in a row without an answer the callee counts as hanging. */
  readonly failures: number;
  /** While open, one call in so many milliseconds passes as a probe; the first answer closes the circuit. */
  readonly probeEveryMs: number;
  /** A call that waited shorter than this says nothing about the callee. */
  readonly leastWaitMs: number;
}

/** A hanging callee costs each call its whole deadline and then a reset of its stream; a server takes some 1,000 resets. */
export const circuitOptions: CircuitOptions = { failures: 20, probeEveryMs: 500, leastWaitMs: 100 };

/**
 * A circuit breaker for one method of a callee: `closed` (all calls pass), or `open` after several calls without an answer (one probe at a time
 * passes). An error that the callee answers is an answer. It needs no timers, because every decision is made during a call.
 */
export class Circuit {
  readonly #options: CircuitOptions;
  #silent = 0;
  /** The time of the next probe in epoch ms; undefined while closed. */
  #probeAt: number | undefined;

  constructor(options: CircuitOptions = circuitOptions) {
    this.#options = options;
  }

  get open(): boolean {
    return this.#probeAt !== undefined;
  }

  /** Answers whether a call may be made. While open, the permitted call is the probe. */
  pass(now: number): boolean {
    if (this.#probeAt === undefined) return true;
    if (now < this.#probeAt) return false;
    this.#probeAt = now + this.#options.probeEveryMs;
    return true;
  }

  /** Records an answer of the callee; true if that closes the circuit. */
  answered(): boolean {
    const closes = this.open;
    this.#silent = 0;
    this.#probeAt = undefined;
    return closes;
  }

  /** Records that the deadline of a call has passed without an answer; true if that opens the circuit. */
  silent(now: number, waitedMs: number): boolean {
    if (waitedMs < this.#options.leastWaitMs) return false;
    this.#silent += 1;
    if (this.open || this.#silent < this.#options.failures) return false;
    this.#probeAt = now + this.#options.probeEveryMs;
    return true;
  }
}
