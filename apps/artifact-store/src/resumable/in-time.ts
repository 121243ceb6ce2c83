import { setTimeout as sleep } from "node:timers/promises";

/** Answers what the work does, or `late` after so many milliseconds; the work goes on then. */
export async function inTime<T>(ms: number, work: Promise<T>): Promise<T | "late"> {
  const timer = new AbortController();
  try {
    return await Promise.race([work, sleep(ms, "late" as const, { signal: timer.signal, ref: false })]);
  } finally {
    timer.abort();
  }
}
