/**
 * Repeats a check until it no longer throws, and returns what it returned; after `limitMs` its last error is thrown. It is for what another process
 * does in its own time, and needs no vitest.
 */
export async function eventually<T>(check: () => T | Promise<T>, limitMs = 20_000, everyMs = 50): Promise<T> {
  const limit = Date.now() + limitMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > limit) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
