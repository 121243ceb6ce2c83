import type { Server } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { closeServer } from "./listen.ts";

export interface DrainOptions {
  /** Milliseconds in which balancers notice that this gateway accepts no new clients, while it goes on serving. */
  readonly pauseMs: number;
  /** Milliseconds that running requests have after that, transfers above all. */
  readonly endMs: number;
}

/** Ends the gateway in order: first it reports not ready, then it accepts nothing new, then it waits for running requests. */
export class Drain {
  readonly #options: DrainOptions;
  readonly #servers: Server[] = [];
  #draining = false;

  constructor(options: DrainOptions) {
    this.#options = options;
  }

  /** Returns true from the signal to stop on. */
  readonly isDraining = (): boolean => this.#draining;

  /** Adds a server that ends with it. */
  add(server: Server): void {
    this.#servers.push(server);
  }

  async stop(): Promise<void> {
    const { pauseMs, endMs } = this.#options;
    this.#draining = true;
    await sleep(pauseMs);
    await Promise.all(this.#servers.map((server) => closeServer(server, endMs)));
  }
}
