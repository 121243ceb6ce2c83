/** Lets so many pieces of work run at a time; the others wait, and begin in the order in which they came. */
export class Turns {
  readonly #atATime: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(atATime: number) {
    this.#atATime = atATime;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#atATime) this.#running += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      // who waits takes the place over, so that nobody else takes it in between
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
