import pg from "pg";
import { createCanceller } from "./cancel.ts";

/** What one service holds open: a few kinds of connections to one PostgreSQL database, each opened when it is first needed. */
export interface Database {
  /** Short statements and transactions. Works behind a transaction pooler. */
  readonly pool: pg.Pool;
  /** Connections that keep state between statements: advisory locks, LISTEN. Must reach PostgreSQL itself. */
  readonly session: pg.Pool;
  /** Who signs in: a few connections that nothing else may use up. */
  readonly signIn: pg.Pool;
  /** Work that nobody waits for, with long limits of its own: migrations, leases, relays, the engine. */
  readonly background: pg.Pool;
  /** Commands of other services, of which a chunk may take longer than a request; `pool` where none were asked for. */
  readonly commands: pg.Pool;
  close(): Promise<void>;
}

/** Upper limits that the database itself keeps, in milliseconds; 0 is none. */
export interface PoolLimits {
  /** Of one statement. A request's own deadline is usually earlier (`RequestScope`). */
  statementMs: number;
  /** Of waiting for one lock. */
  lockMs: number;
  /** Of a transaction that says nothing: whoever holds it has died or hangs. */
  idleInTransactionMs: number;
}

export interface DatabaseOptions {
  url: string;
  applicationName: string;
  /** Connections of `pool`. */
  max?: number;
  /** Connections of `session`: one per leadership that this process holds, and one per listener. */
  sessionMax?: number;
  /** Connections of `signIn`. */
  signInMax?: number;
  /** Connections of `background`. */
  backgroundMax?: number;
  /** Connections of `commands`; 0, the default: commands share `pool`. */
  commandsMax?: number;
  /** Of `pool`, where they differ from `requestLimits`. */
  limits?: Partial<PoolLimits>;
  /**
   * Of a transaction that says nothing, in `pool`, `background` and `commands`: where one may wait for something else than the database.
   * Otherwise a minute.
   */
  idleInTransactionMs?: number;
  /** An idle connection that broke. Nothing has to be done about it (the pool opens another): it is there to be logged. */
  onConnectionError?: (error: Error) => void;
}

/** The longest budget of a request is 30 s; who waits 10 s for a lock hears that the service is busy while it still listens. */
export const requestLimits: PoolLimits = { statementMs: 30_000, lockMs: 10_000, idleInTransactionMs: 60_000 };
/** A device has given up after 5 s, and whatever still runs for it is for nobody. */
export const deviceLimits: PoolLimits = { statementMs: 5_000, lockMs: 5_000, idleInTransactionMs: 60_000 };
/** Nobody may sign in for longer than a device waits. */
const signInLimits: PoolLimits = deviceLimits;
/** The longest call between services, the end of a CSV import, may take ten minutes; its deadline usually comes before these. */
const commandLimits: PoolLimits = { statementMs: 600_000, lockMs: 30_000, idleInTransactionMs: 60_000 };
/** The freeze of a million members takes a minute at most; ten mean that something is wrong. Leases and retries look after locks. */
const backgroundLimits: PoolLimits = { statementMs: 600_000, lockMs: 0, idleInTransactionMs: 60_000 };

/** So often the server looks whether whoever asked for a statement is still connected. */
const connectionCheckMs = 2_000;

type TypeParser = (value: string) => unknown;
const parserOf = pg.types.getTypeParser as unknown as (oid: number, format?: string) => TypeParser;

const INT8 = 20;
const INT8_ARRAY = 1016;
const INT4_ARRAY = 1007; // the same text form as int8[], parsed to numbers

// Every bigint of ours (ids, sizes, counts) stays far below 2^53, and callers want to calculate with them.
// Given per pool, not set in pg.types: that table is shared by the whole process.
const types = {
  getTypeParser(oid: number, format?: "text" | "binary"): TypeParser {
    if (format === "binary") return parserOf(oid, format);
    if (oid === INT8) return Number;
    return parserOf(oid === INT8_ARRAY ? INT4_ARRAY : oid);
  },
};

/**
 * Opens nothing yet: connections are made when they are first needed. The limits go along in the startup message of each connection, so
 * that they cost no round trip; a pooler must let them pass (docs/operations.md).
 */
export function createDatabase(options: DatabaseOptions): Database {
  const { max = 10, sessionMax = 3, signInMax = 4, backgroundMax = 4, commandsMax = 0 } = options;
  const idle = options.idleInTransactionMs === undefined ? {} : { idleInTransactionMs: options.idleInTransactionMs };
  const limits = { ...requestLimits, ...options.limits, ...idle };
  const pool = openPool(options, "", { size: max, limits });
  const session = openPool(options, "/session", { size: sessionMax, limits: { ...backgroundLimits, idleInTransactionMs: 0 } });
  const signIn = openPool(options, "/sign-in", { size: signInMax, limits: signInLimits });
  const background = openPool(options, "/background", { size: backgroundMax, limits: { ...backgroundLimits, ...idle } });
  const commands = commandsMax === 0 ? pool : openPool(options, "/commands", { size: commandsMax, limits: { ...commandLimits, ...idle } });
  return {
    pool,
    session,
    signIn,
    background,
    commands,
    async close() {
      await Promise.all([...new Set([pool, session, signIn, background, commands])].map((one) => one.end()));
    },
  };
}

/** The same database for work that nobody waits for: its `pool` is `background`. Closing it closes all. */
export function backgroundOf(db: Database): Database {
  return { ...db, pool: db.background };
}

/** The same database for commands of other services: its `pool` is `commands`. Closing it closes all. */
export function commandsOf(db: Database): Database {
  return { ...db, pool: db.commands };
}

function openPool(options: DatabaseOptions, suffix: string, { size, limits }: { size: number; limits: PoolLimits }): pg.Pool {
  const config: pg.PoolConfig = {
    connectionString: options.url,
    application_name: `${options.applicationName}${suffix}`,
    max: size,
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
    // a new connection costs a process of the database and all its statements prepared again
    idleTimeoutMillis: 300_000,
    // a statement whose service was killed, or has cut the connection, ends as well
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
  return pool;
}
