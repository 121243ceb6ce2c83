import type { Response } from "express";

/** A line without meaning is sent so often, so that everybody on the way knows that the stream lives. */
const heartbeatMs = 15_000;

/**
 * Server-sent events to one client. What it does not read in time is bounded: whoever writes looks at `full` and waits, or drops and says so.
 */
export class EventStream {
  readonly #res: Response;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #end: NodeJS.Timeout;
  readonly #ended = Promise.withResolvers<void>();

  /** It ends by itself after `seconds`, so that the client signs in again. */
  constructor(res: Response, seconds: number) {
    this.#res = res;
    res.writeHead(200, {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      // some proxies hold answers back unless they are told
      "x-accel-buffering": "no",
    });
    res.write("retry: 1000\n\n");
    this.#heartbeat = setInterval(() => {
      if (!this.full) res.write(":\n\n");
    }, heartbeatMs);
    this.#end = setTimeout(() => this.end(), seconds * 1_000);
    res.once("close", () => this.#close());
    if (res.destroyed) this.#close();
  }

  /** Resolves when the stream has ended, for whatever reason. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** The client has not read what was sent before. */
  get full(): boolean {
    return this.#res.writableNeedDrain;
  }

  get open(): boolean {
    return !this.#res.writableEnded && !this.#res.destroyed;
  }

  /** Calls `then` when the client has read what was sent. */
  whenRead(then: () => void): void {
    this.#res.once("drain", then);
  }

  send(event: string, data: unknown, id?: string): void {
    if (this.open) this.#res.write(`${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /** Tells where the stream is without an event, for the case that the client connects again before there is one. */
  sendPosition(id: string): void {
    if (this.open) this.#res.write(`id: ${id}\n\n`);
  }

  readonly end = (): void => {
    if (this.open) this.#res.end();
    this.#close();
  };

  #close(): void {
    clearInterval(this.#heartbeat);
    clearTimeout(this.#end);
    this.#ended.resolve();
  }
}
