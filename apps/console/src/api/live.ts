import { useSyncExternalStore } from "react";
import { client, r } from "./client.ts";
import { featuresOf } from "./live.state.ts";
import { invalidate } from "./query-client.ts";

/** How the pages learn of changes: told by the server, or by asking again and again. */
export type LiveMode = "live" | "polling";

type Message = { readonly mode: LiveMode } | { readonly subjects: readonly string[] };

/** Changes within this time ask once, so that a running rollout costs a request a second at most, in milliseconds. */
const gatherMs = 1_000;

let mode: LiveMode = "polling";
const listeners = new Set<() => void>();
const waiting = new Set<string>();
let timer: ReturnType<typeof setTimeout> | undefined;

function become(next: LiveMode): void {
  if (mode === next) return;
  mode = next;
  for (const listener of listeners) listener();
}

/** An event only says what has changed; what it is now is what the next GET answers. A hidden page asks when it is shown again. */
function ring(subjects: readonly string[]): void {
  for (const feature of featuresOf(subjects)) waiting.add(feature);
  if (timer !== undefined || document.hidden) return;
  timer = setTimeout(() => {
    timer = undefined;
    const features = [...waiting];
    waiting.clear();
    void invalidate(...features);
  }, gatherMs);
}

function hear(message: Message): void {
  if ("mode" in message) become(message.mode);
  else ring(message.subjects);
}

/** One page of the browser follows the events for all of them: over HTTP/1.1 a browser has six connections to a server. */
async function lead(tell: (message: Message) => void, signal: AbortSignal): Promise<void> {
  try {
    for await (const { event, data } of client.events(r.events.stream, { query: { changes: true }, signal })) {
      if (event !== "changed") continue;
      tell({ mode: "live" });
      tell({ subjects: (data as { subjects: string[] }).subjects });
    }
  } catch {
    // Whoever may not follow events (403), or finds too many streams open (429), asks instead.
  }
  tell({ mode: "polling" });
}

/** Follows changes until the signal ends it. */
export function startLive(signal: AbortSignal): void {
  const channel = new BroadcastChannel("harrier-live");
  channel.onmessage = ({ data }) => hear(data as Message);
  const tell = (message: Message) => {
    if (signal.aborted) return;
    hear(message);
    channel.postMessage(message);
  };
  const onShown = () => {
    if (!document.hidden && waiting.size > 0) ring([]);
  };
  document.addEventListener("visibilitychange", onShown, { signal });
  signal.addEventListener("abort", () => channel.close(), { once: true });
  void navigator.locks?.request("harrier-live", { signal }, () => lead(tell, signal)).catch(() => undefined);
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
