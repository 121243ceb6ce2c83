import { join } from "node:path";
import type { Knex } from "knex";
import type pg from "pg";
import { refuseYoungerCluster } from "../cluster.ts";
import { checkedIdentifier } from "../identifier.ts";
import { inTransaction } from "../statement.ts";
import { ensureFileTable, readFilesInForce, recordFile } from "./files-in-force.ts";
import { limitTableLocks, lockSchema, whenTablesAreFree, withoutLimits } from "./lock.ts";
import { readSqlFiles, type SqlFile } from "./sql-files.ts";

/** The schema of one service, and the folder of the service that holds `migrations`, `functions` and `views`. */
export interface ServiceSchema {
  readonly pool: pg.Pool;
  readonly schema: string;
  readonly folder: string;
}

/**
 * Applies the NNNN_*.sql files of `migrations` that the schema does not have, in order, each in a transaction of its own. knex runs them and
 * keeps the list of those that are done; replicas that start at once wait for each other, and need one connection each. Applied files that are
 * missing here are no error: an older image must survive a newer schema. Returns the names it applied. Throws, before anything is changed,
 * where a file was edited after it had been applied, where the schema is of a version before the first release, and where it was restored
 * from a dump into a younger cluster.
 */
export async function migrate({ pool, schema, folder }: ServiceSchema): Promise<string[]> {
  const files = await readSqlFiles(join(folder, "migrations"));
  checkFiles(files);
  await refuseYoungerCluster({ pool, schema });
  const pending = await inTransaction(pool, async (tx) => {
    await lockSchema(tx, schema);
    await refuseUnreleased(tx, schema);
    await ensureFileTable(tx);
    await ensureKnexTables(tx);
    const applied = await readFilesInForce(tx, "migrations");
    for (const file of files) refuseEdited(schema, file, applied);
    return files.some(({ name }) => !applied.has(name));
  });
  // no transaction is open here: behind a pooler it would hold the connection that the migrations need
  return pending ? runPending(pool, schema, files) : [];
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

/** Before the first release each service had a list of migrations of its own kind, which this version can neither read nor follow. */
async function refuseUnreleased(tx: pg.PoolClient, schema: string): Promise<void> {
  const { rows } = await tx.query<{ old: boolean }>("select to_regclass($1) is not null and to_regclass($2) is null as old", [
    `${schema}.schema_migrations`,
    `${schema}.schema_files`,
  ]);
  if (rows[0]?.old === true) throw unreleased(schema);
}

const unreleased = (schema: string): Error =>
  new Error(
    `the schema ${schema} was made before the first release and cannot be brought up to date: start with an empty database (npm start: delete ` +
      "the data directory)",
  );

/** Until the first release the migrations of each service are joined to one baseline now and then; from then on it never changes. */
const baseline = "0001_baseline.sql";

function refuseEdited(schema: string, file: SqlFile, applied: ReadonlyMap<string, string>): void {
  const sha256 = applied.get(file.name);
  if (sha256 === undefined || sha256 === file.sha256) return;
  if (file.name === baseline) throw unreleased(schema);
  throw new Error(`migration ${file.name} was edited after it had been applied: write a new one instead`);
}

/** knex makes its tables before it locks anything: replicas that start at once would meet there, so they are made under the schema's lock. */
async function ensureKnexTables(tx: pg.PoolClient): Promise<void> {
  await tx.query(
    `create table if not exists knex_migrations (id serial primary key, name varchar(255), batch integer, migration_time timestamptz);
     create table if not exists knex_migrations_lock (index serial primary key, is_locked integer);
     insert into knex_migrations_lock (is_locked) select 0 where not exists (select from knex_migrations_lock)`,
  );
}

/** Each migration locks knex's row in its transaction. A replica that has waited for it finds the migration done, and goes on to the next. */
async function runPending(pool: pg.Pool, schema: string, files: readonly SqlFile[]): Promise<string[]> {
  // it is loaded where there is something to apply: with what it needs it takes ten megabytes
  const { default: knex } = await import("knex");
  const runner = knex({
    client: "pg",
    connection: { ...pool.options, statement_timeout: 0, lock_timeout: 0 } as Knex.PgConnectionConfig,
    pool: { min: 0, max: 1 },
    log: silent, // what fails is thrown
    migrations: {
      schemaName: schema,
      migrationSource: sourceOf(schema, files),
      disableMigrationsListValidation: true, // a newer image may have been here
    },
  });
  try {
    const done: string[] = [];
    for (;;) {
      const [, pending] = (await runner.migrate.list()) as [unknown, unknown[]];
      if (pending.length === 0) return done;
      const [, names] = (await whenTablesAreFree(() => runner.migrate.up())) as [number, string[]];
      done.push(...names);
    }
  } finally {
    await runner.destroy();
  }
}

function sourceOf(schema: string, files: readonly SqlFile[]): Knex.MigrationSource<SqlFile> {
  return {
    getMigrations: async () => [...files],
    getMigrationName: ({ name }) => name,
    getMigration: async (file) => ({
      async up(trx) {
        // the driver's own connection is used, because knex reads question marks as bindings and repeats the whole text in its errors
        const connection = (await trx.client.acquireConnection()) as pg.ClientBase;
        await withoutLimits(connection);
        await limitTableLocks(connection);
        await connection.query(`set local search_path = ${checkedIdentifier(schema)}`);
        try {
          await connection.query(file.text);
        } catch (error) {
          throw new Error(`migration ${schema}/${file.name}: ${(error as Error).message}`, { cause: error });
        }
        await recordFile(connection, "migrations", file);
      },
      async down() {
        throw new Error("migrations only go forward");
      },
    }),
  };
}

const silent: Knex.Logger = { warn() {}, error() {}, deprecate() {}, debug() {} };
