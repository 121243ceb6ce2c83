import type { ClientReadableStream } from "@grpc/grpc-js";
import type { Watch, WatchState } from "./types.ts";

export interface WatchDeps<Message> {
  open(): ClientReadableStream<Message>;
  readonly silentAfterMs: number;
  onMessage(message: Message): void;
  onState(state: WatchState): void;
  onError(error: Error): void;
}

const firstDelayMs = 100;
const maxDelayMs = 2_000;

/** Keeps one stream open until stopped. It reopens it with doubling, jittered delays; a message resets the delay. */
export function openWatch<Message>(deps: WatchDeps<Message>): Watch {
  let stopped = false;
  let stream: ClientReadableStream<Message> | undefined;
  let reopening: NodeJS.Timeout | undefined;
  let delayMs = firstDelayMs;
  let state: WatchState | undefined;
  const moveTo = (to: WatchState) => {
    if (state === to) return;
    state = to;
    deps.onState(to);
  };
  const silence = setInterval(() => {
    moveTo("silent");
    // the replica behind the stream may hang, so the next stream goes to another one
    stream?.cancel();
  }, deps.silentAfterMs);

  const ended = (which: ClientReadableStream<Message>, hadMessage: boolean) => {
    // a failed stream reports both its error and its end
    if (stopped || stream !== which) return;
    stream = undefined;
    if (hadMessage && state !== "silent") moveTo("interrupted");
    reopening = setTimeout(start, delayMs * (0.5 + Math.random() / 2));
    delayMs = Math.min(delayMs * 2, maxDelayMs);
  };

  const start = () => {
    const opened = deps.open();
    let hadMessage = false;
    stream = opened;
    opened.on("data", (message: Message) => {
      if (stopped || stream !== opened) return;
      delayMs = firstDelayMs;
      silence.refresh();
      hadMessage = true;
      moveTo("alive");
      deps.onMessage(message);
    });
    opened.on("error", (error: Error) => {
      if (!stopped) deps.onError(error);
      ended(opened, hadMessage);
    });
    opened.on("end", () => ended(opened, hadMessage));
  };

  start();
  return {
    stop() {
      stopped = true;
      clearInterval(silence);
      clearTimeout(reopening);
      stream?.cancel();
    },
  };
}
