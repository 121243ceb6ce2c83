import { setTimeout as sleep } from "node:timers/promises";

interface Work {
  /** Does a piece of what is due; true when there may be more. */
  readonly work: () => Promise<boolean>;
  readonly failed: (error: unknown) => void;
  /** How long it rests where nothing was due. */
  readonly pollMs: number;
}

/** Does what is due until it is stopped, and looks now and then whether something is. */
export class WorkLoop {
  readonly #work: Work;
  readonly #stopping = new AbortController();
  #woken = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(work: Work) {
    this.#work = work;
  }

  /** Aborted once nothing more is to be begun. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  start(): void {
    this.#loop = this.#run();
  }

  /** Ends with the piece that is being done. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#woken.abort();
    await this.#loop;
  }

  /** There is something to do now; nothing is lost when nobody calls this. */
  readonly nudge = (): void => this.#woken.abort();

  async #run(): Promise<void> {
    while (!this.stopping.aborted) {
      this.#woken = new AbortController();
      const more = await this.#work.work().catch((error: unknown) => {
        this.#work.failed(error);
        return false;
      });
      if (!more && !this.stopping.aborted) await sleep(this.#work.pollMs, undefined, { signal: this.#woken.signal }).catch(() => undefined);
    }
  }
}
