import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { HarrierError } from "@harrier/errors";
import { budgetHeader } from "@harrier/service";
import type { Dispatcher } from "undici";
import { blamesReplica, type Connections, type Lane, type Waiting, wasKept } from "./connections.ts";
import { type Failure, type Forward, type ForwardedRequest, secondReplica } from "./forward.ts";
import { beginAnswer, endWith, isShort } from "./small-bodies.ts";
import type { Replica, Upstreams } from "./upstreams.ts";

interface Options {
  upstreams: Upstreams;
  connections: Connections;
  /** After this many milliseconds without a byte from the service the answer is an error; a client that reads nothing for so long is cut off. */
  idleMs: number;
  /** Called when the service could not be called; nothing has been answered yet. */
  onError(failure: Failure): void;
}

/** What a client says to us about this connection, or its body as it was on the way here. */
const notForwarded: ReadonlySet<string> = new Set(["host", "connection", "transfer-encoding"]);

const busy = new HarrierError("unavailable");
const late = new HarrierError("unavailable");
const gone = new Error("the client has gone");

/**
 * Forwards requests whose bodies are here as a whole, and whose answers come at once: those of devices, which are nearly all. It does the same as the
 * proxy of all other requests (proxy.ts) at half its cost (ADR 60).
 */
export function createSmallForward(options: Options): Forward {
  return (req, res) => new Exchange(options, req, res).begin();
}

function headersOf({ headers, deadline }: ForwardedRequest): string[] {
  const list: string[] = [];
  for (const name in headers) {
    if (notForwarded.has(name)) continue;
    // Time may have passed while it waited, or was with another replica.
    list.push(name, name === budgetHeader ? String(Math.max(0, deadline - Date.now())) : (headers[name] as string));
  }
  return list;
}

const printable = /^[\x20-\x7e]*$/;

/** One attempt at one replica. */
class Exchange implements Dispatcher.DispatchHandler, Waiting {
  readonly #options: Options;
  readonly #req: ForwardedRequest;
  readonly #res: ServerResponse;
  readonly #lane: Lane;
  readonly deadline: number;
  #isWaiting = true;
  #hasAnswer = false;
  /** The parts of a short answer; a long one is passed on as it arrives. */
  #parts: Buffer[] | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  /** Runs while nothing is read of a long answer, because its client takes none of it. */
  #patience: NodeJS.Timeout | undefined;

  constructor(options: Options, req: ForwardedRequest, res: ServerResponse) {
    this.#options = options;
    this.#req = req;
    this.#res = res;
    this.deadline = req.deadline;
    this.#lane = options.connections.to(req.replica);
  }

  begin(): void {
    this.#res.once("close", this.#onClose);
    if (!this.#lane.enter(this)) this.#fail(busy, this.#req.repeated ? undefined : this.#options.upstreams.pickOther(this.#req.replica));
  }

  readonly #onClose = (): void => {
    clearTimeout(this.#patience);
    if (this.#res.writableFinished) return;
    if (this.#isWaiting) this.#lane.drop(this);
    else this.#controller?.abort(gone);
  };

  late(): void {
    this.#fail(late, undefined);
  }

  go(pool: Dispatcher): void {
    this.#isWaiting = false;
    const { url = "/", method = "GET", readBody } = this.#req;
    const { idleMs } = this.#options;
    try {
      pool.dispatch(
        {
          path: url,
          method: method as Dispatcher.HttpMethod,
          headers: headersOf(this.#req),
          body: readBody ?? null,
          headersTimeout: idleMs,
          bodyTimeout: idleMs,
          reset: false, // also behind a HEAD request, and a GET with a body
        },
        this,
      );
    } catch (error) {
      this.onResponseError(undefined, error as Error);
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#res.destroyed) controller.abort(gone);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders, message = ""): void {
    if (status < 200) return;
    this.#hasAnswer = true;
    // The two ends of a connection decide whether it stays open.
    headers.connection = this.#res.shouldKeepAlive ? "keep-alive" : "close";
    beginAnswer(this.#res, { statusCode: status, statusMessage: printable.test(message) ? message : "", headers });
    if (isShort(headers)) this.#parts = [];
  }

  onResponseData(controller: Dispatcher.DispatchController, part: Buffer): void {
    if (this.#parts !== undefined) this.#parts.push(part);
    else if (!this.#res.write(part)) this.#waitForClient(controller);
  }

  /** The service's idle time does not pass while nothing is read of its answer, so the client has one. */
  #waitForClient(controller: Dispatcher.DispatchController): void {
    controller.pause();
    this.#patience = setTimeout(() => this.#res.destroy(), this.#options.idleMs);
    this.#res.once("drain", () => {
      clearTimeout(this.#patience);
      controller.resume();
    });
  }

  onResponseEnd(): void {
    this.#res.off("close", this.#onClose);
    endWith(this.#res, this.#parts ?? []);
    this.#lane.leave();
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.#lane.leave();
    const [req, res] = [this.#req, this.#res];
    if (error === gone || res.destroyed) return;
    const blamed = blamesReplica(error);
    if (blamed) req.replica.ready = false;
    if (this.#hasAnswer) return void res.destroy();
    this.#fail(error, blamed ? secondReplica(this.#options.upstreams, error, req, wasKept(error)) : undefined);
  }

  /** Asks the other replica, if there is one to be asked; otherwise this was the end. */
  #fail(error: Error, other: Replica | undefined): void {
    const [req, res] = [this.#req, this.#res];
    res.off("close", this.#onClose);
    try {
      if (other === undefined) this.#options.onError({ error, req, res, code: "unavailable" });
      else {
        req.replica = other;
        req.repeated = true;
        new Exchange(this.#options, req, res).begin();
      }
    } catch {
      res.destroy(); // An exception here would end the process.
    }
  }
}
