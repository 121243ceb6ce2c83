export interface CircuitOptions {
  /** Calls in a row that nobody answered until the callee counts as hanging. */
  readonly failures: number;
  /** Then one call in so many milliseconds is let through; the first answer lets all through again. */
  readonly probeEveryMs: number;
  /** A call that waited shorter than this says nothing of the callee. */
  readonly leastWaitMs: number;
}

/** A callee that hangs costs each caller its whole deadline, and each of their ends a reset of a stream: a server takes some 1,000 of them. */
export const circuitOptions: CircuitOptions = { failures: 20, probeEveryMs: 500, leastWaitMs: 100 };

/**
 * Whether a method of a callee may be called: `closed` (all calls pass), or `open` after a row of calls without an answer (one probe at a
 * time passes). An error that the callee answers is an answer. No timers: all is decided when somebody calls.
 */
export class Circuit {
  readonly #options: CircuitOptions;
  #silent = 0;
  /** Epoch ms of the next probe; undefined: closed. */
  #probeAt: number | undefined;

  constructor(options: CircuitOptions = circuitOptions) {
    this.#options = options;
  }

  get open(): boolean {
    return this.#probeAt !== undefined;
  }

  /** Asks for leave to call; true where it is given. While open this takes the probe. */
  pass(now: number): boolean {
    if (this.#probeAt === undefined) return true;
    if (now < this.#probeAt) return false;
    this.#probeAt = now + this.#options.probeEveryMs;
    return true;
  }

  /** The callee has answered; true where that closes the circuit. */
  answered(): boolean {
    const closes = this.open;
    this.#silent = 0;
    this.#probeAt = undefined;
    return closes;
  }

  /** The deadline of a call has passed without an answer; true where that opens the circuit. */
  silent(now: number, waitedMs: number): boolean {
    if (waitedMs < this.#options.leastWaitMs) return false;
    this.#silent += 1;
    if (this.open || this.#silent < this.#options.failures) return false;
    this.#probeAt = now + this.#options.probeEveryMs;
    return true;
  }
}
