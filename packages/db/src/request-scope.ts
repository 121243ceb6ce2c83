import { AsyncLocalStorage } from "node:async_hooks";
import { HarrierError } from "@harrier/errors";
import pg from "pg";
import { cancelStatement, wasCancelled } from "./cancel.ts";

/** Lets only so many statements of one kind run at once. */
export interface StatementTurns {
  /** Runs `work` when its turn has come; rejects where the queue is full or the signal aborts. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

/** What the statements of one request have in common. Read at each statement, so that a request that is over can let go of it. */
export interface RequestScope {
  /** Counts round trips: the `trips` of the request's log line. */
  trips: number;
  /**
   * Aborts when nobody wants the answer any more. Then the statement that runs is cancelled at the server, whoever waits for a connection
   * stops waiting, and nothing further begins. Its reason, where it is a HarrierError, is what the statement throws.
   */
  readonly signal?: AbortSignal | undefined;
  /** Whose turn it must be to take a connection of a pool. */
  readonly turns?: StatementTurns | undefined;
}

const scopes = new AsyncLocalStorage<RequestScope>();

/** Runs `work` as part of a request: its statements count in `scope.trips` and end with `scope.signal`. */
export function countTrips<T>(scope: RequestScope, work: () => T): T {
  return scopes.run(scope, work);
}

/** Runs a call of another service: its statements end when the signal aborts, as long as the work runs. */
export async function untilAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const scope: { trips: number; signal?: AbortSignal } = { trips: 0, signal };
  try {
    return await scopes.run(scope, work);
  } finally {
    // what it leaves behind it (a nudged worker) is free of that
    delete scope.signal;
  }
}

/** Runs work that several requests wait for together: it is counted for who began it, but does not end with that request. */
export function apart<T>(work: () => T): T {
  const scope = scopes.getStore();
  if (scope === undefined || isPlain(scope)) return work();
  const counting: RequestScope = {
    get trips() {
      return scope.trips;
    },
    set trips(trips) {
      scope.trips = trips;
    },
  };
  return scopes.run(counting, work);
}

const isPlain = (scope: RequestScope): boolean => scope.signal === undefined && scope.turns === undefined;

/** Counts a round trip; answers the scope where it limits what may run. */
export function beginTrip(): RequestScope | undefined {
  const scope = scopes.getStore();
  if (scope === undefined) return undefined;
  scope.trips += 1;
  return isPlain(scope) ? undefined : scope;
}

/** The scope of the request that runs, where it limits what may run. */
export function limitingScope(): RequestScope | undefined {
  const scope = scopes.getStore();
  return scope === undefined || isPlain(scope) ? undefined : scope;
}

/** Throws what a request that is over has to throw. */
export function throwIfOver(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw reasonOf(signal);
}

function reasonOf(signal: AbortSignal, cause?: unknown): HarrierError {
  if (signal.reason instanceof HarrierError) return signal.reason;
  return new HarrierError("deadlineExceeded", undefined, { headers: { "retry-after": "1" }, cause });
}

/** Executes one statement of a request on a pool or on the connection of a transaction. */
export function queryWithin<Row extends pg.QueryResultRow>(
  db: { query: pg.Pool["query"] } | object,
  config: pg.QueryConfig,
  scope: RequestScope,
): Promise<pg.QueryResult<Row>> {
  if (!(db instanceof pg.Pool)) return cancellable<Row>(db as pg.PoolClient, config, scope.signal);
  return inTurn(scope, async () => {
    const client = await connectWithin(db, scope.signal);
    let failed = true;
    // a connection that breaks also rejects its query; without a listener the event would end the process
    client.on("error", ignore);
    try {
      const result = await cancellable<Row>(client, config, scope.signal);
      failed = false;
      return result;
    } finally {
      client.off("error", ignore);
      client.release(failed || wasCancelled(client));
    }
  });
}

const ignore = (): void => {};

/** Waits for the request's turn, where it has to. */
export function inTurn<T>(scope: RequestScope | undefined, work: () => Promise<T>): Promise<T> {
  return scope?.turns === undefined ? work() : scope.turns.run(work);
}

/** A connection of the pool. Who aborts while waiting hears so at once; the connection whose turn comes later goes straight to the next. */
export function connectWithin(pool: pg.Pool, signal: AbortSignal | undefined): Promise<pg.PoolClient> {
  if (signal === undefined) return pool.connect();
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(reasonOf(signal));
    const onAbort = (): void => reject(reasonOf(signal));
    signal.addEventListener("abort", onAbort, { once: true });
    pool.connect((error, client, release) => {
      signal.removeEventListener("abort", onAbort);
      if (client === undefined) reject(error);
      else if (signal.aborted) release();
      else resolve(client);
    });
  });
}

async function cancellable<Row extends pg.QueryResultRow>(
  client: pg.PoolClient,
  config: pg.QueryConfig,
  signal: AbortSignal | undefined,
): Promise<pg.QueryResult<Row>> {
  if (signal === undefined) return client.query<Row>(config);
  throwIfOver(signal);
  let running = true;
  const onAbort = (): void => cancelStatement(client, () => running);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await client.query<Row>(config);
  } catch (error) {
    throw signal.aborted ? reasonOf(signal, error) : error;
  } finally {
    running = false;
    signal.removeEventListener("abort", onAbort);
  }
}
