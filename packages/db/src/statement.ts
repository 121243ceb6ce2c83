import knex, { type Knex } from "knex";
import type pg from "pg";
import { wasCancelled } from "./cancel.ts";
import { mapConnectionError } from "./connection-error.ts";
import { beginTrip, connectWithin, inTurn, limitingScope, queryWithin, throwIfOver } from "./request-scope.ts";

/** A pool, or the connection of a transaction. */
export interface Queryable {
  query<Row extends pg.QueryResultRow>(config: pg.QueryConfig): Promise<pg.QueryResult<Row>>;
}

/** One literal statement = one round trip (architecture rule 7). The name makes it a prepared statement of each connection. */
export interface Statement<Values extends readonly unknown[], Row> {
  readonly name: string;
  readonly text: string;
  /** Never set: carries the types from the declaration to `run`. */
  readonly types?: { values: (values: Values) => void; row: Row };
}

/** A statement whose text is made per call (lists with free filters and sorting). Not prepared. */
export interface CompiledQuery<Row = unknown> {
  readonly sql: string;
  readonly bindings: readonly unknown[];
  readonly types?: { row: Row };
}

// PostgreSQL cuts identifiers at 63 bytes, and two cut names would meet
const MAX_NAME = 63;

/** Declares a named statement: `const findTarget = statement<[tenantId: number, id: string], TargetRow>("controller.find_target", "select …")`. */
export function statement<Values extends readonly unknown[], Row>(name: string, text: string): Statement<Values, Row> {
  if (Buffer.byteLength(name) > MAX_NAME) throw new Error(`statement name over ${MAX_NAME} bytes: ${name}`);
  return { name, text };
}

/** knex as a text builder only: it has no connection. Compile its queries with `compile` and execute them with `run`. */
export function createQueryBuilder(): Knex {
  return knex({ client: "pg" });
}

/** The text and the bindings of a knex query, in the form that `run` takes. */
export function compile<Row = unknown>(query: { toSQL(): Knex.Sql }): CompiledQuery<Row> {
  const native = query.toSQL().toNative();
  return { sql: native.sql, bindings: native.bindings };
}

async function execute<Row>(db: Queryable, config: pg.QueryConfig): Promise<pg.QueryResult<Row & pg.QueryResultRow>> {
  const scope = beginTrip();
  try {
    // most statements are of requests without a signal (devices): they go the short way
    return await (scope === undefined
      ? db.query<Row & pg.QueryResultRow>(config)
      : queryWithin<Row & pg.QueryResultRow>(db, config, scope));
  } catch (error) {
    throw mapConnectionError(error);
  }
}

function toConfig(query: Statement<readonly unknown[], unknown> | CompiledQuery, values: readonly unknown[] | undefined): pg.QueryConfig {
  // pg takes the array as it is and never writes to it
  if ("sql" in query) return { text: query.sql, values: query.bindings as unknown[] };
  return { name: query.name, text: query.text, values: (values ?? []) as unknown[] };
}

/** Executes a statement in one round trip and returns its rows. */
export async function run<Values extends readonly unknown[], Row>(
  db: Queryable,
  statement: Statement<Values, Row>,
  values: Values,
): Promise<Row[]>;
export async function run<Row>(db: Queryable, query: CompiledQuery<Row>): Promise<Row[]>;
export async function run(
  db: Queryable,
  query: Statement<readonly unknown[], unknown> | CompiledQuery,
  values?: readonly unknown[],
): Promise<unknown[]> {
  return (await execute(db, toConfig(query, values))).rows;
}

/** Like `run`, for a statement that returns at most one row that matters: the first, or undefined. */
export async function runOne<Values extends readonly unknown[], Row>(
  db: Queryable,
  statement: Statement<Values, Row>,
  values: Values,
): Promise<Row | undefined>;
export async function runOne<Row>(db: Queryable, query: CompiledQuery<Row>): Promise<Row | undefined>;
export async function runOne(
  db: Queryable,
  query: Statement<readonly unknown[], unknown> | CompiledQuery,
  values?: readonly unknown[],
): Promise<unknown> {
  return (await execute(db, toConfig(query, values))).rows[0];
}

/** Like `run`, for a statement without rows: how many it inserted, updated or deleted. */
export async function runCount<Values extends readonly unknown[]>(
  db: Queryable,
  statement: Statement<Values, unknown>,
  values: Values,
): Promise<number> {
  return (await execute(db, toConfig(statement as Statement<readonly unknown[], unknown>, values))).rowCount ?? 0;
}

/**
 * Runs `work` between BEGIN and COMMIT on one connection (two round trips more than the work itself).
 * Any error rolls back and is thrown on; a connection whose state is unknown is thrown away, not given back.
 */
export function inTransaction<T>(pool: pg.Pool, work: (tx: pg.PoolClient) => Promise<T>): Promise<T> {
  return bracket(pool, "begin", work);
}

/** Like `inTransaction`, for several reads that must all see the same: what commits meanwhile stays unseen. */
export function inSnapshot<T>(pool: pg.Pool, work: (tx: pg.PoolClient) => Promise<T>): Promise<T> {
  return bracket(pool, "begin isolation level repeatable read read only", work);
}

/** A request whose statements wait for their turn takes one for the whole transaction. */
function bracket<T>(pool: pg.Pool, begin: string, work: (tx: pg.PoolClient) => Promise<T>): Promise<T> {
  return inTurn(limitingScope(), () => transact(pool, begin, work));
}

async function transact<T>(pool: pg.Pool, begin: string, work: (tx: pg.PoolClient) => Promise<T>): Promise<T> {
  let tx: pg.PoolClient;
  try {
    tx = await connectWithin(pool, limitingScope()?.signal);
  } catch (error) {
    throw mapConnectionError(error);
  }
  let broken: Error | undefined;
  // a checked-out connection that breaks between two statements has no query to reject: without a listener it ends the process
  const onError = (error: Error) => {
    broken = error;
  };
  tx.on("error", onError);
  try {
    await execute(tx, { text: begin });
    const result = await work(tx);
    await commit(tx);
    return result;
  } catch (error) {
    await tx.query("rollback").catch((rollbackError: Error) => {
      broken = rollbackError;
    });
    throw error;
  } finally {
    tx.off("error", onError);
    tx.release(broken ?? wasCancelled(tx));
  }
}

/** Not begun for a request that is over, and never cancelled: a commit that is cut off leaves open whether it was one. */
async function commit(tx: pg.PoolClient): Promise<void> {
  throwIfOver(beginTrip()?.signal);
  try {
    await tx.query("commit");
  } catch (error) {
    throw mapConnectionError(error);
  }
}
