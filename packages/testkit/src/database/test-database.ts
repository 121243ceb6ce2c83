import { randomBytes } from "node:crypto";
import { createDatabase, type Database, type DatabaseService, databaseServices, serviceUrl } from "@harrier/db";
import { ensureTemplate, testPasswords, urlOfDatabase, withClient } from "./template.ts";

/**
 * Answers the administrator's URL of the PostgreSQL that tests/setup/postgres.ts started for this vitest run. vitest is imported late, because
 * testkit also serves programs that run without it, which pass a URL instead.
 */
async function providedPostgresUrl(): Promise<string> {
  const { inject } = await import("vitest");
  const url = (inject as (key: string) => unknown)("postgresUrl");
  if (typeof url !== "string")
    throw new Error("no postgresUrl: is this test in a vitest project with tests/setup/postgres.ts as its globalSetup?");
  return url;
}

export interface TestDatabase {
  /** The superuser's URL of this database, which no grant restricts. */
  readonly adminUrl: string;
  /** Answers a service's own URL: its role, with the grants it has in production. */
  urlOf(service: DatabaseService): string;
  /** Answers connections as the service's role; they are made once per service and closed by `drop`. */
  db(service: DatabaseService): Database;
  /** Closes the connections and removes the database. */
  drop(): Promise<void>;
}

export interface TestDatabaseOptions {
  /** The migrations and views of these services are in it; all four by default. Roles and empty schemas of the others exist too. */
  schemas?: readonly DatabaseService[];
  /** The superuser's URL of the server; in vitest the default is that of the run. */
  postgresUrl?: string;
}

/** Makes a database for one test file alone, copied from a template in about 50 ms. */
export async function testDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const serverUrl = options.postgresUrl ?? (await providedPostgresUrl());
  const template = await ensureTemplate(serverUrl, options.schemas ?? databaseServices);
  const name = `harrier_test_${randomBytes(6).toString("hex")}`;
  await withClient(serverUrl, (client) => client.query(`create database ${name} template ${template}`));
  const adminUrl = urlOfDatabase(serverUrl, name);
  const urlOf = (service: DatabaseService) => serviceUrl(adminUrl, service, testPasswords[service]);
  const open = new Map<DatabaseService, Database>();
  return {
    adminUrl,
    urlOf,
    db(service) {
      let database = open.get(service);
      if (database === undefined) {
        database = createDatabase({ url: urlOf(service), applicationName: `test/${service}` });
        open.set(service, database);
      }
      return database;
    },
    async drop() {
      await Promise.all([...open.values()].map((database) => database.close()));
      await withClient(serverUrl, (client) => client.query(`drop database if exists ${name} with (force)`));
    },
  };
}
