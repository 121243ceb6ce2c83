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
