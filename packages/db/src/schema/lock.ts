import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { checkedIdentifier } from "../identifier.ts";

/**
 * Takes the schema's migration lock until the transaction ends, so that replicas that start together go one after the other, and sets the schema
 * for unqualified names. It is a transaction lock and not a session lock, so that it works behind a transaction pooler.
 */
export async function lockSchema(tx: pg.PoolClient, schema: string): Promise<void> {
  await withoutLimits(tx);
  await tx.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [`harrier migrate ${schema}`]);
  await tx.query(`set local search_path = ${checkedIdentifier(schema)}`);
}

/** Removes the pool's limits in this transaction, because a migration, ours or another replica's, may take any time. */
export async function withoutLimits(tx: pg.ClientBase): Promise<void> {
  await tx.query("set local statement_timeout = 0; set local lock_timeout = 0; set local idle_in_transaction_session_timeout = 0");
}

/** PostgreSQL's `lock_not_available`. */
const lockNotAvailable = "55P03";
/** Whoever waits for a table's lock makes everybody behind it wait too, polls among them: so long at most (milliseconds). */
const tableLockMs = 2_000;
/** Between two attempts the table is free for others. */
const pauseMs = 1_000;
/** A reader that holds a table for longer has to be ended by the operator; the services' own statements end within ten minutes. */
const attempts = 300;

/** Limits how long each statement of this transaction waits for the lock of a table. */
export async function limitTableLocks(tx: pg.ClientBase): Promise<void> {
  await tx.query(`set local lock_timeout = ${tableLockMs}`);
}

/** Does `work`, a transaction with `limitTableLocks`, again and again while a table that it changes is in use. */
export async function whenTablesAreFree<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isLockNotAvailable(error) || attempt === attempts) throw error;
    }
    await sleep(pauseMs);
  }
}

/** The errors of migrations, functions and views carry PostgreSQL's as their cause. */
function isLockNotAvailable(error: unknown): boolean {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } };
  return code === lockNotAvailable || cause?.code === lockNotAvailable;
}
