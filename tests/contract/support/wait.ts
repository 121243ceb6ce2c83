/** Resolves with what `look` gives once it gives anything but undefined or false; fails with the last error or value seen. */
export async function eventually<T>(look: () => Promise<T | undefined | false>, limitMs = 40_000): Promise<T> {
  const until = Date.now() + limitMs;
  let last: unknown;
  for (;;) {
    try {
      const seen = await look();
      if (seen !== undefined && seen !== false) return seen;
      last = seen;
    } catch (error) {
      last = error;
    }
    if (Date.now() > until)
      throw last instanceof Error ? last : new Error(`did not happen within ${limitMs} ms, last seen: ${String(last)}`);
    await pause(100);
  }
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Longer than the engine and the controller need to notice a change (doorbells and settings are looked at twice a second). */
export const aWhile = 2_500;

/** Does the same with each item, a few at a time. */
export async function forEach<T>(items: readonly T[], work: (item: T) => Promise<void>, atOnce = 8): Promise<void> {
  const left = items[Symbol.iterator]();
  const worker = async () => {
    for (const item of { [Symbol.iterator]: () => left }) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
