import type pg from "pg";
import { knowsAllApplied, lockSchema, readSqlFiles, type SqlFile } from "./migrate.ts";
import { inTransaction } from "./statement.ts";

// what `create or replace view` answers when a column would go, or change its name, place or type
const INVALID_TABLE_DEFINITION = "42P16";

/**
 * Brings the published views and their grants to what the *.sql files of `dir` say (`create or replace view …; grant select …`), at every start.
 * A file that is already in force is left alone: replacing a view waits for every reader and keeps new readers waiting behind it,
 * and a restart during a long rollout statement must not stop the polls. An image that is older than the schema (`migrations` lacks files
 * that have been applied) leaves them as they are: views only grow, so what it needs is there.
 */
export async function applyViews(options: { pool: pg.Pool; schema: string; dir: string; migrations: string }): Promise<string[]> {
  const { pool, schema, dir } = options;
  const files = await readSqlFiles(dir);
  if (files.length === 0) return [];
  return inTransaction(pool, async (tx) => {
    await lockSchema(tx, schema);
    await tx.query(
      "create table if not exists schema_views (name text primary key, sha256 text not null, at timestamptz not null default now())",
    );
    const { rows } = await tx.query<{ name: string; sha256: string }>("select name, sha256 from schema_views");
    if (!(await knowsAllApplied(tx, options.migrations))) return [];
    const inForce = new Map(rows.map((row) => [row.name, row.sha256]));
    const existing = await readViewNames(tx, schema);
    const done: string[] = [];
    for (const file of files) {
      if (inForce.get(file.name) === file.sha256 && viewsOf(file).every((view) => existing.has(view))) continue;
      await applyFile(tx, schema, file);
      done.push(file.name);
    }
    return done;
  });
}

function viewsOf(file: SqlFile): string[] {
  return [...file.text.matchAll(/create\s+or\s+replace\s+view\s+(?:\w+\.)?(\w+)/gi)].map((match) => (match[1] ?? "").toLowerCase());
}

async function readViewNames(tx: pg.PoolClient, schema: string): Promise<Set<string>> {
  const { rows } = await tx.query<{ relname: string }>(
    "select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relkind = 'v'",
    [schema],
  );
  return new Set(rows.map((row) => row.relname));
}

async function applyFile(tx: pg.PoolClient, schema: string, file: SqlFile): Promise<void> {
  try {
    await tx.query(file.text);
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    const remedy =
      code === INVALID_TABLE_DEFINITION
        ? "; a published view only grows at its end: keep its columns as they are and make a new version (_v2) beside it"
        : "";
    throw new Error(`view ${schema}/${file.name}: ${message}${remedy}`, { cause: error });
  }
  await tx.query(
    "insert into schema_views (name, sha256) values ($1, $2) on conflict (name) do update set sha256 = excluded.sha256, at = now()",
    [file.name, file.sha256],
  );
}

/** Which of the views that a service declares as needed it cannot read now, as `schema.view`. Part of its readiness. */
export async function checkNeeds(pool: pg.Pool, needs: readonly { schema: string; view: string }[]): Promise<string[]> {
  if (needs.length === 0) return [];
  // by the catalogue, not by to_regclass: that fails where USAGE on the schema is missing
  const { rows } = await pool.query<{ name: string }>(
    `select need.schema || '.' || need.view as name
       from unnest($1::text[], $2::text[]) as need(schema, view)
      where not exists (
        select from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where n.nspname = need.schema and c.relname = need.view
           and has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select'))
      order by 1`,
    [needs.map((need) => need.schema), needs.map((need) => need.view)],
  );
  return rows.map((row) => row.name);
}
