import { ApiError, NetworkError } from "./errors.ts";
import { type PreparedRequest, type RouteRow, requestOf } from "./request.ts";

/** An event of a `text/event-stream`; `data` is parsed. */
export interface ServerEvent {
  readonly event: string;
  readonly data: unknown;
  /** The cursor behind it, if it has one. */
  readonly id?: string;
}

export interface FollowOptions {
  /** `after`, `types`, `changes`, `rollout` and `target` of the operation. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly signal?: AbortSignal;
  /** A stream that brings nothing for so long is taken for broken, in milliseconds: the server says something every 15 seconds. 45,000 by default. */
  readonly quietMs?: number;
  /** Hears that the stream is open, and that it has ended or broken; it is opened again by itself. */
  readonly onState?: (state: "open" | "broken") => void;
}

interface Sender {
  send(operation: string, request: PreparedRequest, options?: { signal?: AbortSignal | undefined }): Promise<Response>;
}

const firstRestMs = 500;
const longestRestMs = 10_000;
const longestQuietMs = 45_000;
/** An event has less than a hundred kilobytes; what goes on without an end is no stream of events. */
const maxEventLength = 2 ** 20;

/** Ends a connection that has brought nothing for a while: the other side may be gone without a word. */
function watchdog(quietMs: number, signal: AbortSignal | undefined) {
  const quiet = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const alive = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => quiet.abort(), quietMs);
  };
  alive();
  return {
    signal: signal === undefined ? quiet.signal : AbortSignal.any([signal, quiet.signal]),
    alive,
    barked: () => quiet.signal.aborted,
    end: () => clearTimeout(timer),
  };
}

/** Follows the stream, and connects again behind the last event where it ends, breaks or falls silent; what is refused (4xx) ends it. */
export async function* follow(client: Sender, row: RouteRow, options: FollowOptions = {}): AsyncGenerator<ServerEvent> {
  const { query = {}, signal, quietMs = longestQuietMs, onState } = options;
  let after = query["after"];
  for (let failures = 0; !signal?.aborted; ) {
    const began = performance.now();
    const dog = watchdog(quietMs, signal);
    try {
      const answer = await client.send(row.id, requestOf(row, { query: { ...query, after } }), { signal: dog.signal });
      onState?.("open");
      for await (const event of parseEvents(answer.body as ReadableStream<Uint8Array>, { onBytes: dog.alive, signal: dog.signal })) {
        failures = 0;
        after = event.id ?? after;
        // A reader that takes its time is no silence of the server.
        dog.end();
        yield event;
        dog.alive();
      }
      onState?.("broken");
      // A stream that ends as soon as it begins would be opened again without a pause.
      if (performance.now() - began < firstRestMs) await rest(failures++, signal);
    } catch (error) {
      if (signal?.aborted) return;
      onState?.("broken");
      if (dog.barked()) continue;
      const refused = error instanceof ApiError && error.status < 500 && error.status !== 429;
      if (refused || (error instanceof TypeError === false && !(error instanceof ApiError) && !(error instanceof NetworkError)))
        throw error;
      await rest(failures++, signal);
    } finally {
      dog.end();
    }
  }
}

/** Waits twice as long after each failure; an abort ends the wait. */
function rest(failures: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, Math.min(longestRestMs, firstRestMs * 2 ** failures));
    signal?.addEventListener("abort", end, { once: true });
  });
}

interface Reading {
  /** Hears of everything that arrives, comments too. */
  readonly onBytes?: () => void;
  readonly signal?: AbortSignal;
}

/** Reads the events of a stream as they come. Comments, which keep the connection open, are passed over; an abort rejects. */
export async function* parseEvents(body: ReadableStream<Uint8Array>, { onBytes, signal }: Reading = {}): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>;
  const reader = body.pipeThrough(decoder, signal === undefined ? {} : { signal }).getReader();
  let held = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onBytes?.();
      held += value;
      const parts = held.split("\n\n");
      held = parts.pop() ?? "";
      if (held.length > maxEventLength) throw new Error("the server sent an event of more than a megabyte");
      for (const part of parts) {
        const event = eventOf(part);
        if (event !== undefined) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function eventOf(text: string): ServerEvent | undefined {
  const fields = new Map<string, string>();
  for (const line of text.split("\n")) {
    const at = line.indexOf(":");
    if (at <= 0) continue;
    const value = line.slice(at + 1).replace(/^ /, "");
    const name = line.slice(0, at);
    fields.set(name, fields.has(name) ? `${fields.get(name)}\n${value}` : value);
  }
  const data = fields.get("data");
  if (data === undefined) return undefined;
  const id = fields.get("id");
  return { event: fields.get("event") ?? "message", data: JSON.parse(data) as unknown, ...(id === undefined ? {} : { id }) };
}
