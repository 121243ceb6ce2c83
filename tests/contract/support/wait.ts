import { eventually as repeated } from "@harrier/testkit";

/** Resolves with the result of `view` once it is neither undefined nor false; fails with the last error or value. */
export function eventually<T>(view: () => Promise<T | undefined | false>, limitMs = 40_000): Promise<T> {
  const seen = async (): Promise<T> => {
    const last = await view();
    if (last === undefined || last === false) throw new Error(`did not happen within ${limitMs} ms, last seen: ${String(last)}`);
    return last;
  };
  return repeated(seen, limitMs, 100);
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The engine and the controller need less than this to notice a change (they poll change feeds and settings twice a second). */
export const aWhile = 2_500;

/** Does the same with each item, a few at a time. */
export async function forEach<T>(items: readonly T[], work: (item: T) => Promise<void>, concurrency = 8): Promise<void> {
  const left = items[Symbol.iterator]();
  const worker = async () => {
    for (const item of { [Symbol.iterator]: () => left }) await work(item);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}
