import { useSyncExternalStore } from "react";

/** How the pages learn of changes: told by the server, or by asking again and again. */
export type LiveMode = "live" | "polling";

let mode: LiveMode = "polling";
const listeners = new Set<() => void>();

/** Says how the pages learn of changes from now on. */
export function become(next: LiveMode): void {
  if (mode === next) return;
  mode = next;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** How the pages learn of changes at present. */
export function useLiveMode(): LiveMode {
  return useSyncExternalStore(subscribe, () => mode);
}

/** How often something that moves is asked for, in milliseconds: seldom where the server tells of changes. */
export function usePollMs(whenPolling: number): number {
  return useLiveMode() === "live" ? Math.max(5_000, whenPolling) : whenPolling;
}
