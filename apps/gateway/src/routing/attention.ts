/** So long after the last request nobody is there. */
const restAfterMs = 30_000;

/**
 * Whether anybody asks this gateway anything. Without requests it needs to know nothing at once: neither whether a credential has been withdrawn, nor
 * whether a replica hangs. The first request after that brings all of it back.
 */
export class Attention {
  readonly #onRest: () => void;
  readonly #onUse: () => void;
  readonly #timer: NodeJS.Timeout;
  #rests = false;

  constructor(options: { onRest: () => void; onUse: () => void }) {
    this.#onRest = options.onRest;
    this.#onUse = options.onUse;
    this.#timer = setTimeout(() => {
      this.#rests = true;
      this.#onRest();
    }, restAfterMs).unref();
  }

  get rests(): boolean {
    return this.#rests;
  }

  /** A request has come. */
  readonly use = (): void => {
    this.#timer.refresh();
    if (!this.#rests) return;
    this.#rests = false;
    this.#onUse();
  };

  stop(): void {
    clearTimeout(this.#timer);
  }
}
