import pg from "pg";
import { createCanceller } from "./cancel.ts";
import { endPool, followConnections } from "./open-connections.ts";
import { type ReadFrom, readFromStandby, Standby } from "./standby.ts";

/** The connections of one service: several pools to one PostgreSQL database, each opened when it is first needed. */
export interface Database {
  /** It is for short statements and transactions, and works behind a transaction pooler. */
  readonly pool: pg.Pool;
  /** These connections keep state between statements: advisory locks, LISTEN. They must reach PostgreSQL itself. */
  readonly session: pg.Pool;
  /** It is for sign-ins: a few connections that nothing else can use up. */
  readonly signIn: pg.Pool;
  /** It is for work that no request waits for, with long limits of its own: migrations, leases, relays, the engine. */
  readonly background: pg.Pool;
  /** It is for commands of other services, of which a chunk may take longer than a request; it is `pool` if none were requested. */
  readonly commands: pg.Pool;
  /** Waits for a second at most for what still runs, and then cuts its connections: the server rolls it back. */
  close(): Promise<void>;
}

/** The database itself enforces these maximums, in milliseconds; 0 stands for none. */
export interface PoolLimits {
  /** The maximum for one statement. A request's own deadline is usually earlier (`RequestScope`). */
  statementMs: number;
  /** The maximum wait for one lock. */
  lockMs: number;
  /** The maximum for an idle transaction, whose process has died or hangs. */
  idleInTransactionMs: number;
}

export interface DatabaseOptions {
  url: string;
  applicationName: string;
  /** The number of connections of `pool`. */
  max?: number;
  /** A standby of the same database, with the same role, where requests that only read lists may be read. Without it the primary reads all. */
  standbyUrl?: string | undefined;
  /** It is told where the readings of such a request run. */
  onRead?: ((from: ReadFrom) => void) | undefined;
  /** The number of connections of `session`: one per leadership that this process holds, and one per listener. */
  sessionMax?: number;
  /** The number of connections of `signIn`. */
  signInMax?: number;
  /** The number of connections of `background`. */
  backgroundMax?: number;
  /** The number of connections of `commands`; with 0, the default, commands share `pool`. */
  commandsMax?: number;
  /** The limits of `pool` that differ from `requestLimits`. */
  limits?: Partial<PoolLimits>;
  /**
   * The maximum for an idle transaction in `pool`, `background` and `commands`, for a service whose transactions wait for something besides the
   * database. The default is a minute.
   */
  idleInTransactionMs?: number;
  /** It is told of an idle connection that broke, for the log. Nothing has to be done, because the pool opens another one. */
  onConnectionError?: (error: Error) => void;
}

/** The longest deadline of a request is 30 s; a request that waits 10 s for a lock is told that the service is busy while its client still waits. */
export const requestLimits: PoolLimits = { statementMs: 30_000, lockMs: 10_000, idleInTransactionMs: 60_000 };
/** A device gives up after 5 s, and then nobody needs what still runs for it. */
export const deviceLimits: PoolLimits = { statementMs: 5_000, lockMs: 5_000, idleInTransactionMs: 60_000 };
/** Nobody may sign in for longer than a device waits. */
const signInLimits: PoolLimits = deviceLimits;
/** The longest call between services, the end of a CSV import, may take ten minutes; its deadline usually comes before these limits. */
const commandLimits: PoolLimits = { statementMs: 600_000, lockMs: 30_000, idleInTransactionMs: 60_000 };
/** The freeze of a million members takes a minute at most, so ten minutes mean that something is wrong. Leases and retries handle locks. */
const backgroundLimits: PoolLimits = { statementMs: 600_000, lockMs: 0, idleInTransactionMs: 60_000 };

/**
 * A host that vanishes closes no connection, and the kernel notices it after a quarter of an hour: a statement whose answer is so much later than the
 * server's own limit (milliseconds) gives its connection up.
 */
const answerGraceMs = 5_000;
/** A connection that says nothing is probed after this time, so that a dead one is noticed before it is needed. */
const keepAliveMs = 30_000;

/**
 * Jobs whose periods meet use so many connections of `background` at a time, over and over: closed after each minute in which they did not meet, they would
 * be opened again, which costs more than all that is asked at rest.
 */
const backgroundKept = 3;

/** The server checks this often whether the client of a statement is still connected. */
const connectionCheckMs = 2_000;

type TypeParser = (value: string) => unknown;
const parserOf = pg.types.getTypeParser as unknown as (oid: number, format?: string) => TypeParser;

const INT8 = 20;
const INT8_ARRAY = 1016;
const INT4_ARRAY = 1007; // the text form is that of int8[], parsed to numbers

// Every bigint of ours (ids, sizes, counts) stays far below 2^53, and callers want to calculate with them. The parsers are set per pool and not in
// pg.types, because that table is shared by the whole process.
const types = {
  getTypeParser(oid: number, format?: "text" | "binary"): TypeParser {
    if (format === "binary") return parserOf(oid, format);
    if (oid === INT8) return Number;
    return parserOf(oid === INT8_ARRAY ? INT4_ARRAY : oid);
  },
};

/**
 * Makes the pools without opening a connection: connections are made when they are first needed. The startup message of each connection carries the
 * limits, so that they cost no round trip; a pooler must let them pass (docs/operations.md).
 */
export function createDatabase(options: DatabaseOptions): Database {
  const { max = 10, sessionMax = 3, signInMax = 4, backgroundMax = 4, commandsMax = 0 } = options;
  const idle = options.idleInTransactionMs === undefined ? {} : { idleInTransactionMs: options.idleInTransactionMs };
  const limits = { ...requestLimits, ...options.limits, ...idle };
  const pool = openPool(options, "", { size: max, limits, bounded: true });
  const session = openPool(options, "/session", { size: sessionMax, limits: { ...backgroundLimits, idleInTransactionMs: 0 } });
  const signIn = openPool(options, "/sign-in", { size: signInMax, limits: signInLimits, bounded: true });
  const background = openPool(options, "/background", {
    size: backgroundMax,
    limits: { ...backgroundLimits, ...idle },
    keep: backgroundKept,
  });
  const commands =
    commandsMax === 0 ? pool : openPool(options, "/commands", { size: commandsMax, limits: { ...commandLimits, ...idle }, bounded: true });
  const pools = new Set([pool, session, signIn, background, commands]);
  if (options.standbyUrl !== undefined) {
    const standby = openPool({ ...options, url: options.standbyUrl }, "/standby", { size: max, limits, bounded: true });
    readFromStandby(pool, new Standby({ primary: background, standby, onRead: options.onRead }));
    pools.add(standby);
  }
  return {
    pool,
    session,
    signIn,
    background,
    commands,
    async close() {
      await Promise.all([...pools].map(endPool));
    },
  };
}

/** Answers the same database for work that no request waits for: its `pool` is `background`. Closing it closes all pools. */
export function backgroundOf(db: Database): Database {
  return { ...db, pool: db.background };
}

/** Answers the same database for commands of other services: its `pool` is `commands`. Closing it closes all pools. */
export function commandsOf(db: Database): Database {
  return { ...db, pool: db.commands };
}

interface PoolSettings {
  size: number;
  limits: PoolLimits;
  /** So many connections stay open although they are idle; none is opened before it is needed. */
  keep?: number;
  /** Whether a statement waits for its answer no longer than the server may take for it. Migrations and locks lift that limit, and wait on. */
  bounded?: boolean;
}

function openPool(options: DatabaseOptions, suffix: string, { size, limits, keep = 0, bounded = false }: PoolSettings): pg.Pool {
  const config: pg.PoolConfig = {
    connectionString: options.url,
    application_name: `${options.applicationName}${suffix}`,
    max: size,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    ...(bounded && limits.statementMs > 0 ? { query_timeout: limits.statementMs + answerGraceMs } : {}),
    connectionTimeoutMillis: 10_000,
    // a new connection costs the database a process, and all statements must be prepared again; one that a burst has left costs it 5 to 10 MB
    idleTimeoutMillis: 60_000,
    min: keep,
    // a statement whose service was killed, or has closed the connection, ends as well
    options: `-c client_connection_check_interval=${connectionCheckMs}`,
    statement_timeout: limits.statementMs,
    lock_timeout: limits.lockMs,
    idle_in_transaction_session_timeout: limits.idleInTransactionMs,
    types: types as pg.CustomTypesConfig,
  };
  const pool = new pg.Pool(config);
  // without a listener an idle connection that the server closes would end the process
  pool.on("error", (error) => options.onConnectionError?.(error));
  createCanceller(pool, config);
  followConnections(pool);
  return pool;
}
