import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type pg from "pg";
import { refuseYoungerCluster } from "./cluster.ts";
import { checkedIdentifier } from "./identifier.ts";
import { inTransaction } from "./statement.ts";

export interface SqlFile {
  readonly name: string;
  readonly text: string;
  readonly sha256: string;
}

/** The *.sql files of a folder by name; none where the folder does not exist. */
export async function readSqlFiles(dir: string): Promise<SqlFile[]> {
  let names: string[];
  try {
    names = (await readdir(dir)).filter((name) => name.endsWith(".sql")).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(dir, name), "utf8");
      return { name, text, sha256: createHash("sha256").update(text).digest("hex") };
    }),
  );
}

/**
 * Takes the schema's migration lock until the transaction ends, so that replicas that start at once go one after the other,
 * and directs unqualified names to the schema. A transaction lock, not a session lock: it works behind a transaction pooler.
 */
export async function lockSchema(tx: pg.PoolClient, schema: string): Promise<void> {
  // another replica's migration may take as long as it takes, and so may ours: none of the pool's limits hold here
  await tx.query("set local statement_timeout = 0; set local lock_timeout = 0");
  await tx.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [`harrier migrate ${schema}`]);
  await tx.query(`set local search_path = ${checkedIdentifier(schema)}`);
}

function checkFiles(files: readonly SqlFile[]): void {
  const numbers = new Set<string>();
  for (const { name, text } of files) {
    const number = /^(\d{4})_[a-z0-9_]+\.sql$/.exec(name)?.[1];
    if (number === undefined) throw new Error(`migration ${name}: the name must be NNNN_lower_case.sql`);
    if (numbers.has(number)) throw new Error(`migration ${name}: the number ${number} is used twice`);
    numbers.add(number);
    if (!/^-- (expand|contract)\r?\n/.test(text)) throw new Error(`migration ${name}: line 1 must be "-- expand" or "-- contract"`);
  }
}

async function readApplied(tx: pg.PoolClient): Promise<Map<string, string>> {
  const { rows } = await tx.query<{ name: string; sha256: string }>("select name, sha256 from schema_migrations");
  return new Map(rows.map((row) => [row.name, row.sha256]));
}

/** False when a newer image has been here: the schema has migrations that this folder does not. */
export async function knowsAllApplied(tx: pg.PoolClient, dir: string): Promise<boolean> {
  const known = new Set((await readSqlFiles(dir)).map(({ name }) => name));
  return [...(await readApplied(tx)).keys()].every((name) => known.has(name));
}

function isPending(file: SqlFile, applied: ReadonlyMap<string, string>): boolean {
  const sha256 = applied.get(file.name);
  if (sha256 !== undefined && sha256 !== file.sha256)
    throw new Error(`migration ${file.name} was edited after it had been applied: write a new one instead`);
  return sha256 === undefined;
}

/**
 * Applies the NNNN_*.sql files of `dir` that `<schema>.schema_migrations` does not know, in order, each in a transaction of its own.
 * Applied files that are missing here are no error: an older image must survive a newer schema. Returns the names it applied. Throws,
 * before anything is changed, where the schema was restored from a dump into a younger cluster.
 */
export async function migrate(options: { pool: pg.Pool; schema: string; dir: string }): Promise<string[]> {
  const { pool, schema, dir } = options;
  const files = await readSqlFiles(dir);
  checkFiles(files);
  await refuseYoungerCluster({ pool, schema });
  const pending = await inTransaction(pool, async (tx) => {
    await lockSchema(tx, schema);
    await tx.query(
      `create table if not exists schema_migrations (
         name text primary key, sha256 text not null, at timestamptz not null default now())`,
    );
    const applied = await readApplied(tx);
    return files.filter((file) => isPending(file, applied));
  });
  const done: string[] = [];
  for (const file of pending) if (await applyOne(pool, schema, file)) done.push(file.name);
  return done;
}

async function applyOne(pool: pg.Pool, schema: string, file: SqlFile): Promise<boolean> {
  return inTransaction(pool, async (tx) => {
    await lockSchema(tx, schema);
    // another replica may have been here between our look and our lock
    if (!isPending(file, await readApplied(tx))) return false;
    try {
      await tx.query(file.text);
    } catch (error) {
      throw new Error(`migration ${schema}/${file.name}: ${(error as Error).message}`, { cause: error });
    }
    await tx.query("insert into schema_migrations (name, sha256) values ($1, $2)", [file.name, file.sha256]);
    return true;
  });
}
