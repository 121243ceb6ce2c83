/** The outcomes of one kind of request: the number of answers, by status or by the connection's error. */
export type Outcomes = Readonly<Record<string, number>>;

/**
 * Sends requests, one after the other for each kind, until the returned function is called; `take` returns the outcomes by kind since its last call.
 */
export function askSteadily(kinds: Readonly<Record<string, () => Promise<{ status: number }>>>, everyMs = 50) {
  let seen: Record<string, Record<string, number>> = {};
  let over = false;
  const running = Object.entries(kinds).map(async ([kind, ask]) => {
    while (!over) {
      const outcome = await ask().then(
        ({ status }) => String(status),
        (error: Error & { cause?: { code?: string } }) => error.cause?.code ?? error.name,
      );
      seen[kind] ??= {};
      const of = seen[kind];
      of[outcome] = (of[outcome] ?? 0) + 1;
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  });
  return {
    take(): Readonly<Record<string, Outcomes>> {
      const taken = seen;
      seen = {};
      return taken;
    },
    async stop(): Promise<void> {
      over = true;
      await Promise.all(running);
    },
  };
}

/** Lists all outcomes of all kinds, without their counts. */
export const outcomesOf = (seen: Readonly<Record<string, Outcomes>>): string[] =>
  [...new Set(Object.values(seen).flatMap(Object.keys))].sort();
