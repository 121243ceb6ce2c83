import { pause, within } from "./pause.ts";

/** A round that answers this wants the next one after so many milliseconds. */
export interface Again {
  readonly againMs: number;
}

function isAgain(more: unknown): more is Again {
  return typeof more === "object" && more !== null && "againMs" in more && typeof more.againMs === "number";
}

export interface LoopOptions {
  /**
   * Does one round and never rejects; true when there is more to do, so that the next round begins at once, and `Again` where the next one is wanted
   * sooner than after a period.
   */
  readonly round: (signal: AbortSignal) => Promise<unknown>;
  /** So long is the wait between the end of a round and the beginning of the next one. */
  readonly everyMs: number | (() => number);
  /**
   * After a round that finds nothing to do, which answers false, the wait is twice as long as before, up to this. A round that finds something, or a
   * wake-up, brings the period back: a job that is woken by what is done here asks seldom for what others may have left.
   */
  readonly restMs?: number | undefined;
  /** A wake-up ends a rest alone: rounds begin at least a period apart, however often the job is woken. */
  readonly paced?: boolean | undefined;
  /** The first round waits for a period too. */
  readonly later?: boolean | undefined;
  /** Rounds begin in step, however long each takes; a step at which a round is still under way is left out. */
  readonly steady?: boolean | undefined;
  /** `stop()` does one more round, which writes what has been collected, unless the round that is under way does not end in time. */
  readonly lastRound?: boolean | undefined;
  /** `stop()` waits so long for the round that is under way; the default is `usualStopLimitMs`. */
  readonly stopLimitMs?: number | undefined;
}

/** A round that hangs, in a statement that waits for a lock say, must not use up the time that the whole process has to stop. */
export const usualStopLimitMs = 2_000;

/** A power of two of this is beyond every rest. */
const longestRest = 20;

/** Answers the wait after so many rounds in a row that found nothing: the period, and then twice as long each time, up to `restMs`. */
export const restAfter = (empty: number, everyMs: number, restMs: number): number =>
  Math.min(Math.max(restMs, everyMs), everyMs * 2 ** Math.min(empty - 1, longestRest));

/** A loop does rounds of work, one after the other and never two at a time, until it is stopped. `every` and the leases are made of it. */
export class Loop {
  readonly #options: LoopOptions;
  readonly #stopping = new AbortController();
  readonly #first = Promise.withResolvers<void>();
  #woken = new AbortController();
  #running: Promise<void> | undefined;
  /** So many rounds in a row have found nothing. */
  #empty = 0;

  constructor(options: LoopOptions) {
    this.#options = options;
  }

  /** The signal aborts as soon as the loop is to stop. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Resolves when the first round has ended, or at once where that one waits for a period. A second call does nothing more. */
  start(): Promise<void> {
    this.#running ??= this.#run();
    return this.#options.later === true ? Promise.resolve() : this.#first.promise;
  }

  /** Ends the wait at once. A wake-up in the middle of a round counts after it. */
  readonly wake = (): void => this.#woken.abort();

  /** Begins no further round and waits, up to the limit, for the one that is under way. */
  async stop(): Promise<void> {
    const { round, lastRound, stopLimitMs = usualStopLimitMs } = this.#options;
    this.#stopping.abort();
    this.wake();
    const ended = await within(this.#running ?? Promise.resolve(), stopLimitMs);
    if (lastRound === true && ended) await within(round(this.stopping), stopLimitMs);
  }

  async #run(): Promise<void> {
    const signal = this.stopping;
    if (this.#options.later === true) await pause(this.#period(), this.#woken.signal);
    while (!signal.aborted) {
      this.#woken = new AbortController();
      const began = performance.now();
      const more = await this.#options.round(signal);
      this.#empty = more === false ? this.#empty + 1 : 0;
      this.#first.resolve();
      if (more !== true && !signal.aborted) await this.#wait(began, more);
      if (this.#woken.signal.aborted) this.#empty = 0;
    }
    this.#first.resolve();
  }

  async #wait(began: number, more: unknown): Promise<void> {
    await pause(isAgain(more) ? more.againMs : this.#waitMs(began), this.#woken.signal);
    const left = began + this.#period() - performance.now();
    if (this.#options.paced === true && left > 0) await pause(left, this.stopping);
  }

  #period(): number {
    const { everyMs } = this.#options;
    return typeof everyMs === "number" ? everyMs : everyMs();
  }

  #waitMs(began: number): number {
    const period = this.#period();
    const { restMs = 0 } = this.#options;
    if (restMs > period && this.#empty > 0) return restAfter(this.#empty, period, restMs);
    return this.#options.steady === true ? period - ((performance.now() - began) % period) : period;
  }
}
