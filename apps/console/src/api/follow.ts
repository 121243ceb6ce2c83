import { follow } from "@harrier/client";
import { client, r } from "./client.ts";
import { featuresOf } from "./live.state.ts";
import { become, type LiveMode } from "./live.ts";
import { invalidate } from "./query-client.ts";

type Message = { readonly mode: LiveMode } | { readonly subjects: readonly string[] } | { readonly asks: true };

/** Changes within this time ask once, so that a running rollout costs a request a second at most, in milliseconds. */
const gatherMs = 1_000;
/** The server says something every 15 seconds; two times unheard, the stream is broken. */
const quietMs = 31_000;
/** A page that takes the stream over from another one has been there for longer. */
const justLoadedMs = 5_000;
/** A page that was just hidden may be shown again at once: so long it keeps the stream, in milliseconds. */
const keptHiddenMs = 5_000;

const waiting = new Set<string>();
let opened = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

/** An event only says what has changed; what it is now is what the next GET answers. A hidden page asks when it is shown again. */
function ring(subjects: readonly string[]): void {
  for (const feature of featuresOf(subjects)) waiting.add(feature);
  if (timer !== undefined || document.hidden || waiting.size === 0) return;
  timer = setTimeout(() => {
    timer = undefined;
    const features = [...waiting];
    waiting.clear();
    void invalidate(...features);
  }, gatherMs);
}

/** Follows the stream until the signal ends it, or the server refuses it. */
async function listen(tell: (message: Message) => void, signal: AbortSignal): Promise<void> {
  const onState = (state: "open" | "broken") => {
    tell({ mode: state === "open" ? "live" : "polling" });
    // What has changed while nobody listened is not told again: everything that moves is asked for once, but by a page that has just asked for all.
    if (state === "open" && (opened++ > 0 || performance.now() > justLoadedMs)) tell({ subjects: ["*"] });
  };
  try {
    for await (const { event, data } of follow(client, r.events.stream, { query: { changes: true }, signal, quietMs, onState }))
      if (event === "changed") tell({ subjects: (data as { subjects: string[] }).subjects });
  } catch {
    // Whoever may not follow events asks instead.
  }
  tell({ mode: "polling" });
}

/** Waits for the turn of this page, and follows the stream in it. A browser has six connections to a server over HTTP/1.1, so one page does it for all. */
function takeTurn(tell: (message: Message) => void, signal: AbortSignal): void {
  void navigator.locks?.request("harrier-live", { signal }, () => listen(tell, signal)).catch(() => undefined);
}

/** Follows changes until the signal ends it. A hidden page hands the stream on: whoever looks at nothing costs nothing. */
export function startLive(ending: AbortSignal): void {
  const channel = new BroadcastChannel("harrier-live");
  let leads = false;
  let turn: AbortController | undefined;
  let leaving: ReturnType<typeof setTimeout> | undefined;
  let mode: LiveMode = "polling";
  const hear = (message: Message) => {
    if ("mode" in message) become(message.mode);
    else if ("subjects" in message) ring(message.subjects);
    else if (leads) channel.postMessage({ mode });
  };
  const tell = (message: Message) => {
    if (ending.aborted) return;
    if ("mode" in message) mode = message.mode;
    leads = mode === "live";
    hear(message);
    channel.postMessage(message);
  };
  const begin = () => {
    turn = new AbortController();
    takeTurn(tell, AbortSignal.any([turn.signal, ending]));
  };
  const onVisibility = () => {
    clearTimeout(leaving);
    if (document.hidden) {
      leaving = setTimeout(() => turn?.abort(), keptHiddenMs);
      return;
    }
    if (navigator.onLine && (turn === undefined || turn.signal.aborted)) begin();
    channel.postMessage({ asks: true });
    ring([]);
  };
  // Without a network the stream brings nothing, though its connection may look open for a while.
  const onOffline = () => {
    turn?.abort();
    become("polling");
  };
  channel.onmessage = ({ data }) => hear(data as Message);
  document.addEventListener("visibilitychange", onVisibility, { signal: ending });
  addEventListener("offline", onOffline, { signal: ending });
  addEventListener("online", onVisibility, { signal: ending });
  ending.addEventListener("abort", () => channel.close(), { once: true });
  channel.postMessage({ asks: true });
  if (!document.hidden) begin();
}
