import pg from "pg";

/** What one service holds open: two kinds of connections to one PostgreSQL database. */
export interface Database {
  /** Short statements and transactions. Works behind a transaction pooler. */
  readonly pool: pg.Pool;
  /** Connections that keep state between statements: advisory locks, LISTEN. Must reach PostgreSQL itself. */
  readonly session: pg.Pool;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  url: string;
  applicationName: string;
  /** Connections of `pool`. */
  max?: number;
  /** Connections of `session`: one per leadership that this process holds, and one per listener. */
  sessionMax?: number;
  /** An idle connection that broke. Nothing has to be done about it (the pool opens another): it is there to be logged. */
  onConnectionError?: (error: Error) => void;
}

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

/** Opens nothing yet: connections are made when they are first needed. */
export function createDatabase(options: DatabaseOptions): Database {
  const { url, applicationName, max = 10, sessionMax = 6, onConnectionError } = options;
  const open = (size: number, suffix: string): pg.Pool => {
    const pool = new pg.Pool({
      connectionString: url,
      application_name: `${applicationName}${suffix}`,
      max: size,
      keepAlive: true,
      connectionTimeoutMillis: 10_000,
      // a new connection costs a process of the database and all its statements prepared again
      idleTimeoutMillis: 300_000,
      types: types as pg.CustomTypesConfig,
    });
    // without a listener an idle connection that the server closes would end the process
    pool.on("error", (error) => onConnectionError?.(error));
    return pool;
  };
  const pool = open(max, "");
  const session = open(sessionMax, "/session");
  return {
    pool,
    session,
    async close() {
      await Promise.all([pool.end(), session.end()]);
    },
  };
}
