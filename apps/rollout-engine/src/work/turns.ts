import { setTimeout as sleep } from "node:timers/promises";

export interface Turns<Claim> {
  /** Called at every look, before anything is claimed. */
  ring?: () => Promise<unknown>;
  /** Takes what is due and free, `free` at most. */
  claim: (free: number) => Promise<readonly Claim[]>;
  /** Lets one claim have its turn, and gives it back; it never throws. */
  take: (claim: Claim, signal: AbortSignal) => Promise<void>;
  /** Nothing can be looked for at present; told once per outage. */
  failed: (error: unknown) => void;
}

export interface TurnsOptions {
  /** Between two looks when nobody nudges. */
  pollMs: number;
  /** Claims worked on at the same time. */
  slots: number;
}

/** At a first start the views of others may not be there yet: that is worth a line only when it lasts. */
const patienceMs = 10_000;
/** A turn that takes longer is left to its end alone; its claim ends by itself. */
const stopLimitMs = 5_000;

/** Looks for what is due, claims it and lets each claim have its turn; any number of processes do so side by side. */
export class TurnLoop<Claim> {
  readonly #turns: Turns<Claim>;
  readonly #options: TurnsOptions;
  readonly #abort = new AbortController();
  readonly #working = new Set<Promise<void>>();
  #wake = new AbortController();
  #loop: Promise<void> = Promise.resolve();

  constructor(turns: Turns<Claim>, options: TurnsOptions) {
    this.#turns = turns;
    this.#options = options;
  }

  start(): void {
    this.#loop = this.#run();
  }

  /** Something was changed here: look at once. */
  nudge(): void {
    this.#wake.abort();
  }

  /** Stops after the parts that are under way. */
  async stop(): Promise<void> {
    this.#abort.abort();
    this.nudge();
    await this.#loop;
    const limit = new AbortController();
    const patience = sleep(stopLimitMs, undefined, { signal: limit.signal }).catch(() => {});
    await Promise.race([Promise.all(this.#working), patience]);
    limit.abort();
  }

  async #run(): Promise<void> {
    const { pollMs } = this.#options;
    let warnAfter = performance.now() + patienceMs;
    let lookedAt = Number.NEGATIVE_INFINITY;
    while (!this.#abort.signal.aborted) {
      this.#wake = new AbortController();
      try {
        // a nudge is about what was changed here; the rest is looked at at its own pace
        if (performance.now() - lookedAt >= pollMs) {
          lookedAt = performance.now();
          await this.#turns.ring?.();
        }
        await this.#claim();
        warnAfter = 0;
      } catch (error) {
        if (performance.now() >= warnAfter) {
          this.#turns.failed(error);
          warnAfter = Number.POSITIVE_INFINITY;
        }
      }
      await sleep(Math.max(0, lookedAt + pollMs - performance.now()), undefined, { signal: this.#wake.signal }).catch(() => {});
    }
  }

  async #claim(): Promise<void> {
    const free = this.#options.slots - this.#working.size;
    if (free <= 0) return;
    for (const claim of await this.#turns.claim(free)) {
      const work = this.#turns.take(claim, this.#abort.signal).finally(() => {
        this.#working.delete(work);
        this.nudge();
      });
      this.#working.add(work);
    }
  }
}
