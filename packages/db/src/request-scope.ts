import { AsyncLocalStorage } from "node:async_hooks";
import { HarrierError } from "@harrier/errors";
import pg from "pg";
import { cancelStatement, wasCancelled } from "./cancel.ts";
import { type Standby, standbyOf } from "./standby.ts";

/** Limits how many statements of one kind run at a time. */
export interface StatementLimiter {
  /** Runs `work` once it is admitted; rejects if the queue is full or the signal aborts. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

/** The state that the statements of one request share. It is read at each statement, so that a request that is over can detach from it. */
export interface RequestScope {
  /** Counts round trips: the `roundTrips` of the request's log line. */
  roundTrips: number;
  /**
   * Aborts when nobody needs the answer any more. Then the running statement is cancelled at the server, waits for a connection end, and nothing
   * further begins. If its reason is a HarrierError, the statement throws that.
   */
  readonly signal?: AbortSignal | undefined;
  /** Limits who may take a connection of a pool. */
  readonly limiter?: StatementLimiter | undefined;
  /** The request reads what a standby may read, too, if the service has one. */
  readonly readsOnly?: boolean | undefined;
}

const scopes = new AsyncLocalStorage<RequestScope>();

/** Runs `work` as part of a request: its statements count in `scope.roundTrips` and end with `scope.signal`. */
export function countRoundTrips<T>(scope: RequestScope, work: () => T): T {
  return scopes.run(scope, work);
}

/** Runs a call of another service: its statements end when the signal aborts, as long as the work runs. */
export async function untilAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const scope: { roundTrips: number; signal?: AbortSignal } = { roundTrips: 0, signal };
  try {
    return await scopes.run(scope, work);
  } finally {
    // what it leaves behind (a woken worker) must not end with the signal
    delete scope.signal;
  }
}

/** Runs work that several requests wait for together: it counts for the request that began it, but does not end with that request. */
export function apart<T>(work: () => T): T {
  const scope = scopes.getStore();
  if (scope === undefined || isPlain(scope)) return work();
  const counting: RequestScope = {
    get roundTrips() {
      return scope.roundTrips;
    },
    set roundTrips(roundTrips) {
      scope.roundTrips = roundTrips;
    },
  };
  return scopes.run(counting, work);
}

const isPlain = (scope: RequestScope): boolean => scope.signal === undefined && scope.limiter === undefined;

/** Counts a round trip; answers the scope if it limits what may run. */
export function beginRoundTrip(): RequestScope | undefined {
  const scope = scopes.getStore();
  if (scope === undefined) return undefined;
  scope.roundTrips += 1;
  return isPlain(scope) ? undefined : scope;
}

/** Answers the scope of the running request, if it limits what may run. */
export function limitingScope(): RequestScope | undefined {
  const scope = scopes.getStore();
  return scope === undefined || isPlain(scope) ? undefined : scope;
}

/** Throws the error of a request that is over. */
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
  const standby = standbyOf(db, scope);
  return standby === undefined ? queryPool<Row>(db, config, scope) : queryStandby<Row>(standby, db, config, scope);
}

/** Executes it on the standby, or on the primary where the standby may not or cannot. */
async function queryStandby<Row extends pg.QueryResultRow>(
  standby: Standby,
  primary: pg.Pool,
  config: pg.QueryConfig,
  scope: RequestScope,
): Promise<pg.QueryResult<Row>> {
  const pool = await standby.poolFor(scope);
  try {
    return await queryPool<Row>(pool, config, scope);
  } catch (error) {
    if (!standby.gaveUp(scope, pool, error)) throw error;
    return queryPool<Row>(primary, config, scope);
  }
}

function queryPool<Row extends pg.QueryResultRow>(
  pool: pg.Pool,
  config: pg.QueryConfig,
  scope: RequestScope,
): Promise<pg.QueryResult<Row>> {
  return withinLimit(scope, async () => {
    const client = await connectWithin(pool, scope.signal);
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

/** Runs `work` within the request's limiter, if it has one. */
export function withinLimit<T>(scope: RequestScope | undefined, work: () => Promise<T>): Promise<T> {
  return scope?.limiter === undefined ? work() : scope.limiter.run(work);
}

/** Takes a connection of the pool. An abort during the wait rejects at once, and the connection that comes later goes straight back to the pool. */
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
