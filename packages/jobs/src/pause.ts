/** Resolves after so many milliseconds, or as soon as `signal` aborts; it never rejects. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end, { once: true });
  });
}

/** Resolves when `work` has ended, and after `limitMs` in any case; answers whether it has ended. */
export async function within(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  const limit = new AbortController();
  const ended = await Promise.race([work.then(() => true), pause(limitMs, limit.signal).then(() => false)]);
  limit.abort();
  return ended;
}
