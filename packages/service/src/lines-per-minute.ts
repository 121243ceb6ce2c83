export interface LineLimits {
  /** Lines a minute of one origin, a tenant say. */
  readonly each: number;
  /** Lines a minute of all origins together. */
  readonly all: number;
}

/** Says which lines are logged where anybody can cause as many as it likes: one noisy origin must neither fill the log nor silence the others. */
export class LinesPerMinute {
  readonly #limits: LineLimits;
  readonly #now: () => number;
  readonly #lines = new Map<string | number, number>();
  #all = 0;
  #minute = 0;

  constructor(limits: LineLimits, now: () => number = Date.now) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Whether one more line of this origin is logged; it counts if so. */
  allows(origin: string | number): boolean {
    const minute = Math.floor(this.#now() / 60_000);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#all = 0;
      this.#lines.clear();
    }
    const lines = this.#lines.get(origin) ?? 0;
    if (this.#all >= this.#limits.all || lines >= this.#limits.each) return false;
    this.#all += 1;
    this.#lines.set(origin, lines + 1);
    return true;
  }
}
