import { setTimeout as sleep } from "node:timers/promises";
import { type Database, runOne, withLeadership } from "@harrier/db";
import { foldDeltas } from "./fold.sql.ts";

interface Deps {
  db: Database;
  log: { warn(fields: object, message: string): void };
  everyMs?: number;
}

const most = 10_000;

/** One replica folds the deltas of all rollouts about every two seconds; readers are exact with or without it. */
export class ProgressFold {
  readonly #deps: Deps;
  readonly #stop = new AbortController();
  #done: Promise<void> | undefined;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  start(): void {
    const { db, log } = this.#deps;
    this.#done = withLeadership({
      session: db.session,
      key: "controller progress",
      signal: this.#stop.signal,
      lead: (signal) => this.#lead(signal),
      onError: (error) => log.warn({ err: error }, "progress could not be folded"),
      retryMs: 2_000,
    });
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }

  async #lead(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const folded = (await runOne(this.#deps.db.pool, foldDeltas, [most]))?.folded ?? 0;
      if (folded < most) await sleep(this.#deps.everyMs ?? 2_000, undefined, { signal }).catch(() => undefined);
    }
  }
}
