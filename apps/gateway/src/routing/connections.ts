import type { RpcTls } from "@harrier/rpc";
import { buildConnector, type Dispatcher, Pool } from "undici";
import type { Replica } from "./upstreams.ts";

/** A replica has at most so many connections for short requests; further ones wait for a free one. */
const maxPerReplica = 512;
/** So many requests may wait for one replica. */
const maxWaitingPerReplica = 4_096;
/** Services close an idle connection after 75 s and say so; this is for one that does not. */
const idleMs = 60_000;

/** A request that needs a connection. */
export interface Waiting {
  /** The time in epoch ms until which it may wait. */
  readonly deadline: number;
  /** Called when it has a place; the place is held until `leave`. */
  go(pool: Dispatcher): void;
  /** Called in place of `go` when its deadline has come. */
  late(): void;
}

export interface ConnectionLimits {
  readonly perReplica?: number;
  readonly waiting?: number;
}

/**
 * The connections of one replica. Requests wait here and not in the pool, which cannot drop one that waits: a client that has gone would still take a
 * connection, and end it.
 */
export class Lane {
  readonly #pool: Pool;
  readonly #limits: Required<ConnectionLimits>;
  readonly #waiting = new Map<Waiting, NodeJS.Timeout>();
  #running = 0;

  constructor(pool: Pool, limits: Required<ConnectionLimits>) {
    this.#pool = pool;
    this.#limits = limits;
  }

  /** Returns false if too many wait already; otherwise `go` or `late` is called once, unless `drop` comes first. */
  enter(request: Waiting): boolean {
    if (this.#running < this.#limits.perReplica) this.#go(request);
    else if (this.#waiting.size >= this.#limits.waiting) return false;
    else {
      const late = (): void => {
        this.#waiting.delete(request);
        request.late();
      };
      this.#waiting.set(request, setTimeout(late, Math.max(0, request.deadline - Date.now())));
    }
    return true;
  }

  /** Forgets a request that waits. */
  drop(request: Waiting): void {
    clearTimeout(this.#waiting.get(request));
    this.#waiting.delete(request);
  }

  /** Ends a request that had a place. */
  leave(): void {
    this.#running -= 1;
    const [next] = this.#waiting.keys();
    if (next === undefined) return;
    this.drop(next);
    this.#go(next);
  }

  #go(request: Waiting): void {
    this.#running += 1;
    request.go(this.#pool);
  }

  stop(): void {
    for (const [request] of this.#waiting) this.drop(request);
    void this.#pool.destroy();
  }
}

/** An error of a connection that had answered a request before. */
interface ConnectionError extends Error {
  onKeptConnection?: boolean;
  readonly socket?: { readonly bytesRead?: number };
}

/** Keeps the connections for short requests open, for each replica from its first request on. */
export class Connections {
  readonly #lanes = new Map<Replica, Lane>();
  readonly #connect: buildConnector.connector;
  readonly #limits: Required<ConnectionLimits>;

  /** @param connectMs A replica that accepts no connection for so long counts as absent. */
  constructor(tls: RpcTls | undefined, connectMs: number, limits: ConnectionLimits = {}) {
    this.#limits = { perReplica: maxPerReplica, waiting: maxWaitingPerReplica, ...limits };
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

  to(replica: Replica): Lane {
    let lane = this.#lanes.get(replica);
    if (lane === undefined) {
      const connections = this.#limits.perReplica;
      const pool = new Pool(replica.url, { connections, pipelining: 1, keepAliveTimeout: idleMs, connect: this.#connect });
      lane = new Lane(pool, this.#limits);
      this.#lanes.set(replica, lane);
    }
    return lane;
  }

  stop(): void {
    for (const lane of this.#lanes.values()) lane.stop();
  }
}

/** Returns true if the connection that broke had answered a request before. */
export function wasKept(error: ConnectionError): boolean {
  return error.onKeptConnection ?? (error.socket?.bytesRead ?? 0) > 0;
}

const ofConnection: ReadonlySet<unknown> = new Set([
  "UND_ERR_SOCKET",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
]);

/** Returns true if it is the replica that failed, or the way to it: no client must be able to blame a replica by what it sends. */
export function blamesReplica(error: Error): boolean {
  const code = (error as NodeJS.ErrnoException).code ?? "";
  return code !== "" && (!code.startsWith("UND_ERR_") || ofConnection.has(code));
}
