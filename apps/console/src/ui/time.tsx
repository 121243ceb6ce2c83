import { useSyncExternalStore } from "react";
import { ago, moment } from "./format.ts";

const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

/** All times on a page move on together. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  // While nobody listened, time went on.
  if (timer === undefined) now = Date.now();
  timer ??= setInterval(() => {
    now = Date.now();
    for (const tell of listeners) tell();
  }, 5_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The present moment, every five seconds. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

/** A moment: how long ago it is, and when exactly. */
export function Time({ at }: { at: number | undefined }) {
  const present = useNow();
  if (at === undefined) return null;
  return (
    <time dateTime={new Date(at).toISOString()} title={moment(at)}>
      {ago(at, Math.max(present, at > present && at - present < 10_000 ? at : present))}
    </time>
  );
}
