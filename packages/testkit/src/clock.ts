/** A clock that stands still until it is moved. Code under test takes `() => number` (epoch milliseconds). */
export interface TestClock {
  readonly now: () => number;
  advance(ms: number): void;
  set(at: Date | number): void;
}

/** Makes a clock that begins at a fixed moment, so that tests can state the expected texts. */
export function createClock(start: Date | number = Date.UTC(2026, 0, 2, 3, 4, 5)): TestClock {
  let at = Number(start);
  return {
    now: () => at,
    advance(ms) {
      at += ms;
    },
    set(to) {
      at = Number(to);
    },
  };
}
