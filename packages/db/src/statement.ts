import { AsyncLocalStorage } from "node:async_hooks";
import knex, { type Knex } from "knex";
import type pg from "pg";
import { mapConnectionError } from "./connection-error.ts";

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

const trips = new AsyncLocalStorage<{ trips: number }>();

/** Adds to `counter.trips` for every round trip that `run` and `inTransaction` make inside `work`: the `trips` of a request's log line. */
export function countTrips<T>(counter: { trips: number }, work: () => T): T {
  return trips.run(counter, work);
}

function countTrip(): void {
  const counter = trips.getStore();
  if (counter !== undefined) counter.trips += 1;
}

async function execute<Row>(db: Queryable, config: pg.QueryConfig): Promise<pg.QueryResult<Row & pg.QueryResultRow>> {
  countTrip();
  try {
    return await db.query<Row & pg.QueryResultRow>(config);
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

async function bracket<T>(pool: pg.Pool, begin: string, work: (tx: pg.PoolClient) => Promise<T>): Promise<T> {
  let tx: pg.PoolClient;
  try {
    tx = await pool.connect();
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
    await execute(tx, { text: "commit" });
    return result;
  } catch (error) {
    await tx.query("rollback").catch((rollbackError: Error) => {
      broken = rollbackError;
    });
    throw error;
  } finally {
    tx.off("error", onError);
    tx.release(broken);
  }
}
