interface Deps {
  readonly log: { warn(fields: object, message: string): void };
}

/** A round begins when the one before has ended, and of rounds that fail one after the other the first is told of. */
export function alone({ log }: Deps, work: () => Promise<unknown>, failure: string): () => void {
  let running = false;
  let failing = false;
  return () => {
    if (running) return;
    running = true;
    work()
      .then(
        () => {
          failing = false;
        },
        (error: unknown) => {
          if (!failing) log.warn({ err: error }, failure);
          failing = true;
        },
      )
      .finally(() => {
        running = false;
      });
  };
}
