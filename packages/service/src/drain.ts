import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { isTransfer, type Route } from "@harrier/contracts";
import type { Handler } from "./mount.ts";

export interface DrainTimes {
  /** Milliseconds between "not ready" and the end of the listener: whoever asks for readiness goes elsewhere meanwhile. */
  readonly pauseMs: number;
  /** Milliseconds that transfers get to end once the listener is closed. */
  readonly transfersMs: number;
}

/** How an HTTP server comes to its end without a failed request: it is announced, waited for, and then cut. */
export class Drain {
  readonly #times: DrainTimes;
  readonly #connections = new Set<Socket>();
  readonly #transfers = new Set<Socket>();
  #server: Server | undefined;
  #announced = false;

  constructor(times: DrainTimes) {
    this.#times = times;
  }

  /** True from the announcement on: readiness is off. */
  get announced(): boolean {
    return this.#announced;
  }

  /** Takes note of the server's connections; before it listens. */
  follow(server: Server, event: "connection" | "secureConnection"): void {
    this.#server = server;
    server.on(event, (socket: Socket) => {
      this.#connections.add(socket);
      socket.once("close", () => this.#connections.delete(socket));
    });
  }

  /** The handler of a route, with its connection noted for as long as the exchange lasts where the route moves files. */
  around<R extends Route>(route: R, handler: Handler<R>): Handler<R> {
    if (!isTransfer(route)) return handler;
    return (ctx) => {
      const { socket } = ctx.req;
      this.#transfers.add(socket);
      ctx.res.once("close", () => this.#transfers.delete(socket));
      return handler(ctx);
    };
  }

  /** Readiness goes off and every answer ends its connection, while requests are still served; resolves after the pause. */
  async announce(): Promise<void> {
    if (this.#announced) return;
    this.#announced = true;
    this.#server?.prependListener("request", (_req, res: ServerResponse) => {
      res.shouldKeepAlive = false;
    });
    await sleep(this.#times.pauseMs);
  }

  /** Stops accepting. Running requests get `graceMs`, transfers their own time; what is open then is cut. */
  close(graceMs: number): Promise<void> {
    this.#announced = true;
    const server = this.#server;
    if (server === undefined) return Promise.resolve();
    return new Promise((resolve) => {
      // keep-alive connections count as open: let go of each as soon as it is idle
      const sweep = setInterval(() => server.closeIdleConnections(), 50);
      const cut = setTimeout(() => this.#cutAllBut(this.#transfers), graceMs);
      const cutTransfers = setTimeout(() => server.closeAllConnections(), Math.max(graceMs, this.#times.transfersMs));
      server.close(() => {
        clearInterval(sweep);
        clearTimeout(cut);
        clearTimeout(cutTransfers);
        resolve();
      });
      server.closeIdleConnections();
    });
  }

  #cutAllBut(spared: ReadonlySet<Socket>): void {
    for (const socket of this.#connections) if (!spared.has(socket)) socket.destroy();
  }
}
