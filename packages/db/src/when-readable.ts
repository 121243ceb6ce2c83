import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { checkNeeds } from "./schema/index.ts";

export interface WhenReadableOptions {
  readonly pool: pg.Pool;
  /** The views of other services that `start` begins to read. */
  readonly needs: readonly { schema: string; view: string }[];
  readonly start: () => unknown;
  /** The milliseconds between two checks; the default is 250. */
  readonly everyMs?: number;
}

export interface WhenReadable {
  /** Resolves when `start` has been called and has ended, or never will be called. */
  readonly started: Promise<void>;
  /** After this `start` is not called any more. */
  stop(): Promise<void>;
}

/**
 * Starts what reads the views of other services once all of them exist. At the first start of an installation the services create their schemas at
 * the same time, and earlier reads would only log failures. If the views exist already, `start` has ended when this resolves; otherwise it is
 * called later. The readiness of the service says what is missing meanwhile.
 */
export async function startWhenReadable({ pool, needs, start, everyMs = 250 }: WhenReadableOptions): Promise<WhenReadable> {
  const stopping = new AbortController();
  // a database that does not answer is checked again, like one without the views
  const readable = async (): Promise<boolean> => (await checkNeeds(pool, needs).catch(() => undefined))?.length === 0;
  const wait = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await sleep(everyMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted || !(await readable())) continue;
      if (!stopping.signal.aborted) await start();
      return;
    }
  };
  let started: Promise<void> = Promise.resolve();
  if (await readable()) await start();
  else started = wait();
  return {
    started,
    stop() {
      stopping.abort();
      return started;
    },
  };
}
