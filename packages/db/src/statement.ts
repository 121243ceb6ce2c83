import { createRequire } from "node:module";
import { tracer } from "@harrier/tracing";
import type { Knex } from "knex";
import type pg from "pg";
import { wasCancelled } from "./cancel.ts";
import { isReadTimeout, mapConnectionError } from "./connection-error.ts";
import { closeConnection } from "./open-connections.ts";
import { beginRoundTrip, connectWithin, limitingScope, queryWithin, throwIfOver, withinLimit } from "./request-scope.ts";
import { traceStatement } from "./trace-statement.ts";

/** It is a pool, or the connection of a transaction. */
export interface Queryable {
  query<Row extends pg.QueryResultRow>(config: pg.QueryConfig): Promise<pg.QueryResult<Row>>;
}

/** One literal statement takes one round trip (architecture rule 7). The name makes it a prepared statement of each connection. */
export interface Statement<Values extends readonly unknown[], Row> {
  readonly name: string;
  readonly text: string;
  /** It is never set and only carries the types from the declaration to `run`. */
  readonly types?: { values: (values: Values) => void; row: Row };
}

/** A statement whose text is made per call (lists with free filters and sorting). It is not prepared. */
export interface CompiledQuery<Row = unknown> {
  readonly sql: string;
  readonly bindings: readonly unknown[];
  readonly types?: { row: Row };
}

// PostgreSQL truncates identifiers to 63 bytes, and two truncated names could collide
const MAX_NAME = 63;

/** Declares a named statement: `const findTarget = statement<[tenantId: number, id: string], TargetRow>("controller.find_target", "select …")`. */
export function statement<Values extends readonly unknown[], Row>(name: string, text: string): Statement<Values, Row> {
  if (Buffer.byteLength(name) > MAX_NAME) throw new Error(`statement name over ${MAX_NAME} bytes: ${name}`);
  return { name, text };
}

const require = createRequire(import.meta.url);

/** Makes knex a text builder without a connection. Compile its queries with `compile` and execute them with `run`. */
export function createQueryBuilder(): Knex {
  // it is loaded where it is used: most services compose no texts, and with what it needs it takes ten megabytes of each
  const { knex } = require("knex") as typeof import("knex");
  return knex({ client: "pg" });
}

/** Answers the text and the bindings of a knex query, in the form that `run` takes. */
export function compile<Row = unknown>(query: { toSQL(): Knex.Sql }): CompiledQuery<Row> {
  const native = query.toSQL().toNative();
  return { sql: native.sql, bindings: native.bindings };
}

function execute<Row>(db: Queryable, config: pg.QueryConfig): Promise<pg.QueryResult<Row & pg.QueryResultRow>> {
  return tracer === undefined ? executeNow<Row>(db, config) : traceStatement(config, () => executeNow<Row>(db, config));
}

async function executeNow<Row>(db: Queryable, config: pg.QueryConfig): Promise<pg.QueryResult<Row & pg.QueryResultRow>> {
  const scope = beginRoundTrip();
  try {
    // most statements belong to requests without a signal (devices) and take this short way
    return await (scope === undefined
      ? db.query<Row & pg.QueryResultRow>(config)
      : queryWithin<Row & pg.QueryResultRow>(db, config, scope));
  } catch (error) {
    // the rollback of a transaction would wait as long again
    if (isReadTimeout(error)) closeConnection(db);
    throw mapConnectionError(error);
  }
}

function toConfig(query: Statement<readonly unknown[], unknown> | CompiledQuery, values: readonly unknown[] | undefined): pg.QueryConfig {
  // pg takes the array without a copy and never writes to it
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

/** Like `run`, for a statement of which only the first row matters: answers it, or undefined. */
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

/** Like `run`, for a statement without rows: answers how many it inserted, updated or deleted. */
export async function runCount<Values extends readonly unknown[]>(
  db: Queryable,
  statement: Statement<Values, unknown>,
  values: Values,
): Promise<number> {
  return (await execute(db, toConfig(statement as Statement<readonly unknown[], unknown>, values))).rowCount ?? 0;
}

/**
 * Runs `work` between BEGIN and COMMIT on one connection (two round trips more than the work itself). Any error rolls back and is thrown on; a
 * connection whose state is unknown is closed, not released.
 */
export function inTransaction<T>(pool: pg.Pool, work: (tx: pg.PoolClient) => Promise<T>): Promise<T> {
  return bracket(pool, "begin", work);
}

/** Like `inTransaction`, for several reads that must see the same snapshot: what commits meanwhile stays invisible. */
export function inSnapshot<T>(pool: pg.Pool, work: (tx: pg.PoolClient) => Promise<T>): Promise<T> {
  return bracket(pool, "begin isolation level repeatable read read only", work);
}

/** Runs a transaction, for which a request with a limiter takes one slot. */
function bracket<T>(pool: pg.Pool, begin: string, work: (tx: pg.PoolClient) => Promise<T>): Promise<T> {
  return withinLimit(limitingScope(), () => transact(pool, begin, work));
}

async function transact<T>(pool: pg.Pool, begin: string, work: (tx: pg.PoolClient) => Promise<T>): Promise<T> {
  let tx: pg.PoolClient;
  try {
    tx = await connectWithin(pool, limitingScope()?.signal);
  } catch (error) {
    throw mapConnectionError(error);
  }
  let broken: Error | undefined;
  // a connection that breaks between two statements has no query to reject, and without a listener it would end the process
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

/** Commits, but not for a request that is over. It is never cancelled, because after an aborted commit nobody knows whether it took effect. */
async function commit(tx: pg.PoolClient): Promise<void> {
  throwIfOver(beginRoundTrip()?.signal);
  try {
    const end = { text: "commit" };
    await (tracer === undefined ? tx.query(end) : traceStatement(end, () => tx.query(end)));
  } catch (error) {
    throw mapConnectionError(error);
  }
}
