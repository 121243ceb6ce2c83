import type pg from "pg";
import { readSqlFiles, type SqlFile, type SqlFolder } from "./sql-files.ts";

/**
 * Creates the table `schema_files`, which stores the applied text of each file of a service. It runs in the caller's transaction, under the
 * schema's lock.
 */
export async function ensureFileTable(tx: pg.PoolClient): Promise<void> {
  await tx.query(
    `create table if not exists schema_files (
       folder text not null, name text not null, sha256 text not null, at timestamptz not null default now(), primary key (folder, name))`,
  );
}

/** Answers the sha256 of each applied file by its name. */
export async function readFilesInForce(tx: pg.PoolClient, folder: SqlFolder): Promise<Map<string, string>> {
  const { rows } = await tx.query<{ name: string; sha256: string }>("select name, sha256 from schema_files where folder = $1", [folder]);
  return new Map(rows.map((row) => [row.name, row.sha256]));
}

export async function recordFile(tx: pg.ClientBase, folder: SqlFolder, file: SqlFile): Promise<void> {
  await tx.query(
    `insert into schema_files (folder, name, sha256) values ($1, $2, $3)
     on conflict (folder, name) do update set sha256 = excluded.sha256, at = now()`,
    [folder, file.name, file.sha256],
  );
}

/** Whether this folder has all applied migrations; false if a newer image has been here. */
export async function knowsAllApplied(tx: pg.PoolClient, migrations: string): Promise<boolean> {
  const known = new Set((await readSqlFiles(migrations)).map(({ name }) => name));
  return [...(await readFilesInForce(tx, "migrations")).keys()].every((name) => known.has(name));
}
