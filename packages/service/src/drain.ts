import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { isTransfer, type Route } from "@harrier/contracts";
import type { Handler } from "./mount.ts";

export interface DrainTimes {
  /** The milliseconds between "not ready" and the end of the listener, in which balancers notice it. */
  readonly pauseMs: number;
  /** Transfers get so many milliseconds to end once the listener is closed. */
  readonly transfersMs: number;
}

/** Ends an HTTP server without a failed request: it announces the end, waits, and then closes what is left. */
export class Drain {
  readonly #times: DrainTimes;
  readonly #connections = new Set<Socket>();
  readonly #transfers = new Set<Socket>();
  readonly #probes = new Set<Socket>();
  #server: Server | undefined;
  #announced = false;

  constructor(times: DrainTimes) {
    this.#times = times;
  }

  /** Whether the end was announced; then the service is not ready. */
  get announced(): boolean {
    return this.#announced;
  }

  /** Tracks the server's connections; it is called before the server listens. */
  follow(server: Server, event: "connection" | "secureConnection"): void {
    this.#server = server;
    server.on(event, (socket: Socket) => {
      this.#connections.add(socket);
      socket.once("close", () => this.#connections.delete(socket));
    });
  }

  /** Wraps the handler of a route; if the route moves files, its connection is tracked during the exchange. */
  around<R extends Route>(route: R, handler: Handler<R>): Handler<R> {
    if (!isTransfer(route)) return handler;
    return (ctx) => {
      const { socket } = ctx.req;
      this.#transfers.add(socket);
      ctx.res.once("close", () => this.#transfers.delete(socket));
      return handler(ctx);
    };
  }

  /** Notes a connection over which readiness is asked: its end is the announcement, which the gateway notices at once. */
  probedOver(socket: Socket): void {
    if (this.#probes.has(socket)) return;
    this.#probes.add(socket);
    socket.once("close", () => this.#probes.delete(socket));
  }

  /** Turns readiness off, ends the connections over which it was asked, and closes each connection after its answer, while requests are still served; resolves after the pause. */
  async announce(): Promise<void> {
    if (this.#announced) return;
    this.#announced = true;
    this.#server?.prependListener("request", (_req, res: ServerResponse) => {
      res.shouldKeepAlive = false;
    });
    for (const socket of this.#probes) socket.end();
    await sleep(this.#times.pauseMs);
  }

  /** Stops accepting. Running requests get `graceMs`, transfers their own time; then open connections are closed. */
  close(graceMs: number): Promise<void> {
    this.#announced = true;
    const server = this.#server;
    if (server === undefined) return Promise.resolve();
    return new Promise((resolve) => {
      // keep-alive connections count as open, so each is closed as soon as it is idle
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
