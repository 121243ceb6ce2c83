import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Database, type DatabaseService, migrate, schemaOf } from "@harrier/db";
import { appDir } from "../workspace.ts";
import { testDatabase } from "./test-database.ts";

/** A database as an older release has left it. */
export interface OlderDatabase {
  /** The connections of the service, as its role. */
  db: Database;
  /** Applies the migrations that are missing, as the service does at its start. */
  catchUp(): Promise<void>;
  drop(): Promise<void>;
}

/** Makes a database with the tables of one service as they were before a migration; it has neither functions nor views. */
export async function databaseBefore(service: DatabaseService, migration: string): Promise<OlderDatabase> {
  const database = await testDatabase({ schemas: [] });
  const db = database.db(service);
  const target = { pool: db.pool, schema: schemaOf(service) };
  const older = await mkdtemp(join(tmpdir(), "harrier-older-"));
  try {
    const migrations = join(appDir(service), "migrations");
    const before = (await readdir(migrations)).filter((name) => name < migration);
    for (const name of before) await cp(join(migrations, name), join(older, "migrations", name));
    await migrate({ ...target, folder: older });
  } finally {
    await rm(older, { recursive: true });
  }
  return {
    db,
    async catchUp() {
      await migrate({ ...target, folder: appDir(service) });
    },
    drop: () => database.drop(),
  };
}
