import type { Server } from "node:net";
import { networkOf, plainAddress } from "../client/address-list.ts";

export interface ConnectionLimitOptions {
  /** The maximum of connections at once on all ports; 0 means no limit. */
  readonly total: number;
  /** The maximum for one client address, of IPv6 by network of 64 bits; 0 means no limit. */
  readonly address: number;
  /** Returns true for addresses to which only the total applies: our proxies, and clients that are never limited. */
  isFree(address: string): boolean;
  /** Called with the number of closed connections, at most every ten seconds. */
  onRefused(refused: number): void;
  now(): number;
}

const tellEveryMs = 10_000;

/** Closes connections beyond a limit before a byte of them is read, so that no client can take all of them. */
export class ConnectionLimits {
  readonly #options: ConnectionLimitOptions;
  readonly #byNetwork = new Map<string, number>();
  #open = 0;
  #refused = 0;
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(options: ConnectionLimitOptions) {
    this.#options = options;
  }

  /** Counts the connections of a server; with TLS before its handshake. */
  watch(server: Server): void {
    server.on("connection", (socket) => {
      const address = plainAddress(socket.remoteAddress ?? "");
      const leave = this.enter(address);
      if (leave === undefined) socket.destroy();
      else socket.once("close", leave);
    });
  }

  /** Counts a connection; returns what releases it, or undefined if there is no room for it. */
  enter(address: string): (() => void) | undefined {
    const { total, address: max, isFree } = this.#options;
    if (total > 0 && this.#open >= total) return this.#refuse();
    const network = max === 0 || isFree(address) ? undefined : networkOf(address);
    if (network !== undefined) {
      const open = this.#byNetwork.get(network) ?? 0;
      if (open >= max) return this.#refuse();
      this.#byNetwork.set(network, open + 1);
    }
    this.#open += 1;
    return () => this.#leave(network);
  }

  #leave(network: string | undefined): void {
    this.#open -= 1;
    if (network === undefined) return;
    const left = (this.#byNetwork.get(network) ?? 1) - 1;
    if (left === 0) this.#byNetwork.delete(network);
    else this.#byNetwork.set(network, left);
  }

  #refuse(): undefined {
    const { now, onRefused } = this.#options;
    this.#refused += 1;
    if (now() - this.#toldAt < tellEveryMs) return;
    this.#toldAt = now();
    onRefused(this.#refused);
    this.#refused = 0;
  }
}
