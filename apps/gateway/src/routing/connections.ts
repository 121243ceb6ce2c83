import type { RpcTls } from "@harrier/rpc";
import { buildConnector, type Dispatcher, Pool } from "undici";
import type { Replica } from "./upstreams.ts";

/** A replica has at most so many connections for short requests; further ones wait for a free one. */
const maxPerReplica = 512;
/** Services close an idle connection after 75 s and say so; this is for one that does not. */
const idleMs = 60_000;

/** An error of a connection that had answered a request before. */
interface ConnectionError extends Error {
  onKeptConnection?: boolean;
  readonly socket?: { readonly bytesRead?: number };
}

/** Keeps the connections for short requests open, for each replica from its first request on. */
export class Connections {
  readonly #pools = new Map<Replica, Pool>();
  readonly #connect: buildConnector.connector;
  readonly #perReplica: number;

  /** @param connectMs A replica that accepts no connection for so long counts as absent. */
  constructor(tls: RpcTls | undefined, connectMs: number, perReplica = maxPerReplica) {
    this.#perReplica = perReplica;
    const connect = buildConnector({ ...tls, allowH2: false, timeout: connectMs });
    this.#connect = (options, callback) =>
      connect(options, (...[error, socket]) => {
        if (error !== null) return callback(error, null);
        const before = socket.bytesRead;
        // This listener comes before the pool's own, so that whoever gets the error can tell.
        socket.on("error", (broken: ConnectionError) => {
          broken.onKeptConnection = socket.bytesRead > before;
        });
        callback(null, socket);
      });
  }

  to(replica: Replica): Dispatcher {
    let pool = this.#pools.get(replica);
    if (pool === undefined) {
      pool = new Pool(replica.url, { connections: this.#perReplica, pipelining: 1, keepAliveTimeout: idleMs, connect: this.#connect });
      this.#pools.set(replica, pool);
    }
    return pool;
  }

  stop(): void {
    for (const pool of this.#pools.values()) void pool.destroy();
  }
}

/** Returns true if the connection that broke had answered a request before. */
export function wasKept(error: ConnectionError): boolean {
  return error.onKeptConnection ?? (error.socket?.bytesRead ?? 0) > 0;
}
