import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { HarrierError } from "@harrier/errors";
import type { Dispatcher } from "undici";
import { type Connections, wasKept } from "./connections.ts";
import { type Failure, type Forward, type ForwardedRequest, secondReplica } from "./forward.ts";
import { beginAnswer, endWith, isShort } from "./small-bodies.ts";
import type { Upstreams } from "./upstreams.ts";

interface Options {
  upstreams: Upstreams;
  connections: Connections;
  /** After this many milliseconds without a byte from the service the answer is an error. */
  idleMs: number;
  /** So many requests may wait for a connection; one more is answered at once. */
  maxWaiting?: number;
  /** Called when the service could not be called; nothing has been answered yet. */
  onError(failure: Failure): void;
}

/** Devices that hang up leave their requests behind until a connection is free, so connected clients are no limit of them. */
const defaultMaxWaiting = 4_096;

/** What a client says to us about this connection, or its body as it was on the way here. */
const notForwarded: ReadonlySet<string> = new Set(["host", "connection", "transfer-encoding"]);

const busy = new HarrierError("unavailable");
const gone = new Error("the client has gone");
const late = new Error("no connection became free in time");

/**
 * Forwards requests whose bodies are here as a whole, and whose answers come at once: those of devices, which are nearly all. It does the same as the
 * proxy of all other requests (proxy.ts) at half its cost, a tenth of a poll (ADR 60).
 */
export function createSmallForward(options: Options): Forward {
  const { connections, idleMs, maxWaiting = defaultMaxWaiting } = options;
  const queue = { waiting: 0 };
  const send: Forward = (req, res) => {
    if (queue.waiting >= maxWaiting) return options.onError({ error: busy, req, res, code: "unavailable" });
    const exchange = new Exchange(options, req, res, queue, send);
    const { url = "/", method = "GET", readBody } = req;
    const request: Dispatcher.DispatchOptions = {
      path: url,
      method: method as Dispatcher.HttpMethod,
      headers: headersOf(req.headers),
      body: readBody ?? null,
      headersTimeout: idleMs,
      bodyTimeout: idleMs,
    };
    queue.waiting += 1;
    try {
      connections.to(req.replica).dispatch(request, exchange);
    } catch (error) {
      exchange.onResponseError(undefined, error as Error);
    }
  };
  return send;
}

function headersOf(headers: IncomingHttpHeaders): string[] {
  const list: string[] = [];
  for (const name in headers) if (!notForwarded.has(name)) list.push(name, headers[name] as string);
  return list;
}

/** One attempt at one replica. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #options: Options;
  readonly #req: ForwardedRequest;
  readonly #res: ServerResponse;
  readonly #queue: { waiting: number };
  readonly #send: Forward;
  #isWaiting = true;
  #hasAnswer = false;
  /** The parts of a short answer; a long one is passed on as it arrives. */
  #parts: Buffer[] | undefined;
  #controller: Dispatcher.DispatchController | undefined;

  constructor(options: Options, req: ForwardedRequest, res: ServerResponse, queue: { waiting: number }, send: Forward) {
    this.#options = options;
    this.#req = req;
    this.#res = res;
    this.#queue = queue;
    this.#send = send;
    res.once("close", this.#onClose);
  }

  readonly #onClose = (): void => {
    if (!this.#res.writableFinished) this.#controller?.abort(gone);
  };

  #isCalled(): void {
    if (!this.#isWaiting) return;
    this.#isWaiting = false;
    this.#queue.waiting -= 1;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#isCalled();
    this.#controller = controller;
    if (this.#res.destroyed) controller.abort(gone);
    else if (Date.now() >= this.#req.deadline) controller.abort(late);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders, message?: string): void {
    if (status < 200) return;
    this.#hasAnswer = true;
    // The two ends of a connection decide whether it stays open.
    headers.connection = this.#res.shouldKeepAlive ? "keep-alive" : "close";
    beginAnswer(this.#res, { statusCode: status, statusMessage: message, headers });
    if (isShort(headers)) this.#parts = [];
  }

  onResponseData(controller: Dispatcher.DispatchController, part: Buffer): void {
    if (this.#parts !== undefined) this.#parts.push(part);
    else if (!this.#res.write(part)) {
      controller.pause();
      this.#res.once("drain", () => controller.resume());
    }
  }

  onResponseEnd(): void {
    this.#leave();
    endWith(this.#res, this.#parts ?? []);
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.#isCalled();
    this.#leave();
    const [req, res] = [this.#req, this.#res];
    if (error === gone || res.destroyed) return;
    // A connection that does not become free is no fault of this replica's.
    if (error !== late) req.replica.ready = false;
    if (this.#hasAnswer) return void res.destroy();
    const other = error === late ? undefined : secondReplica(this.#options.upstreams, error, req, wasKept(error));
    if (other === undefined) this.#options.onError({ error, req, res, code: "unavailable" });
    else {
      req.replica = other;
      req.repeated = true;
      this.#send(req, res);
    }
  }

  #leave(): void {
    this.#res.off("close", this.#onClose);
  }
}
