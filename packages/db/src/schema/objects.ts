import { join } from "node:path";
import type pg from "pg";
import { inTransaction } from "../statement.ts";
import { ensureFileTable, knowsAllApplied, readFilesInForce, recordFile } from "./files-in-force.ts";
import { limitTableLocks, lockSchema, whenTablesAreFree } from "./lock.ts";
import type { ServiceSchema } from "./migrate.ts";
import { readSqlFiles, type SqlFile, type SqlFolder } from "./sql-files.ts";

// `create or replace view` answers this when a column would be removed or change its name, place or type, and `create or replace function` when the
// type of the answer would change
const INVALID_TABLE_DEFINITION = "42P16";
const INVALID_FUNCTION_DEFINITION = "42P13";

const remedies: Readonly<Record<string, string>> = {
  [INVALID_TABLE_DEFINITION]:
    "; a published view only grows at its end: keep its columns as they are and make a new version (_v2) beside it",
  [INVALID_FUNCTION_DEFINITION]: "; a function keeps its arguments and its answer: make a new one (_v2) beside it, and drop this one later",
};

/**
 * Brings the functions to what the *.sql files of `functions` say (`create or replace function …`), at every start. After
 * the migrations, which make what the functions read. A file that is already in force is left alone, and so is everything by an image that is
 * older than the schema: a function keeps its arguments and what it does for older callers. Returns the names of the files it applied.
 */
export function applyFunctions(service: ServiceSchema): Promise<string[]> {
  // functions may call each other in any order of files
  return applyObjects(service, "functions", "set local check_function_bodies = off");
}

/**
 * Applies the *.sql files of `views` (`create or replace view …; grant select …`) at every start. A file that is already applied is left alone:
 * replacing a view waits for every reader and blocks new readers meanwhile, and a restart during a long rollout statement must not stop the polls.
 * An image that is older than the schema (`migrations` lacks files that have been applied) leaves them as they are: views only grow, so what it
 * needs is there. Returns the names of the files it applied.
 */
export function applyViews(service: ServiceSchema): Promise<string[]> {
  return applyObjects(service, "views");
}

async function applyObjects({ pool, schema, folder }: ServiceSchema, kind: SqlFolder, setting?: string): Promise<string[]> {
  const files = await readSqlFiles(join(folder, kind));
  if (files.length === 0) return [];
  const apply = (): Promise<string[]> =>
    inTransaction(pool, async (tx) => {
      await lockSchema(tx, schema);
      await limitTableLocks(tx);
      await ensureFileTable(tx);
      if (!(await knowsAllApplied(tx, join(folder, "migrations")))) return [];
      if (setting !== undefined) await tx.query(setting);
      const inForce = await readFilesInForce(tx, kind);
      const existing = await readObjectNames(tx, schema);
      const done: string[] = [];
      for (const file of files) {
        if (inForce.get(file.name) === file.sha256 && objectsOf(file).every((name) => existing.has(name))) continue;
        await applyFile(tx, { schema, kind, file });
        done.push(file.name);
      }
      return done;
    });
  return whenTablesAreFree(apply);
}

/** Answers the names of the views and functions that a file creates. */
function objectsOf(file: SqlFile): string[] {
  const made = file.text.matchAll(/^create\s+or\s+replace\s+(?:view|function)\s+(?:\w+\.)?(\w+)/gim);
  return [...made].map((match) => (match[1] ?? "").toLowerCase());
}

async function readObjectNames(tx: pg.PoolClient, schema: string): Promise<Set<string>> {
  const { rows } = await tx.query<{ name: string }>(
    `select c.relname as name from pg_class c where c.relnamespace = $1::regnamespace and c.relkind = 'v'
     union all
     select p.proname from pg_proc p where p.pronamespace = $1::regnamespace`,
    [schema],
  );
  return new Set(rows.map(({ name }) => name));
}

async function applyFile(tx: pg.PoolClient, { schema, kind, file }: { schema: string; kind: SqlFolder; file: SqlFile }): Promise<void> {
  try {
    await tx.query(file.text);
  } catch (error) {
    const { code = "", message } = error as Error & { code?: string };
    throw new Error(`${kind} ${schema}/${file.name}: ${message}${remedies[code] ?? ""}`, { cause: error });
  }
  await recordFile(tx, kind, file);
}
