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
}

interface Sender {
  send(operation: string, request: PreparedRequest, options?: { signal?: AbortSignal | undefined }): Promise<Response>;
}

const firstRestMs = 500;
const longestRestMs = 10_000;
/** An event has less than a hundred kilobytes; what goes on without an end is no stream of events. */
const maxEventLength = 2 ** 20;

/** Follows the stream, and connects again behind the last event where it ends or breaks; what is refused (4xx) ends it. */
export async function* follow(client: Sender, row: RouteRow, { query = {}, signal }: FollowOptions = {}): AsyncGenerator<ServerEvent> {
  let after = query["after"];
  for (let failures = 0; !signal?.aborted; ) {
    const began = performance.now();
    try {
      const answer = await client.send(row.id, requestOf(row, { query: { ...query, after } }), { signal });
      for await (const event of parseEvents(answer.body as ReadableStream<Uint8Array>)) {
        failures = 0;
        after = event.id ?? after;
        yield event;
      }
      // A stream that ends as soon as it begins would be opened again without a pause.
      if (performance.now() - began < firstRestMs) await rest(failures++, signal);
    } catch (error) {
      if (signal?.aborted) return;
      const refused = error instanceof ApiError && error.status < 500 && error.status !== 429;
      if (refused || (error instanceof TypeError === false && !(error instanceof ApiError) && !(error instanceof NetworkError)))
        throw error;
      await rest(failures++, signal);
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

/** Reads the events of a stream as they come. Comments, which keep the connection open, are passed over. */
export async function* parseEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>).getReader();
  let held = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
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
