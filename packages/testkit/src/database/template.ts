import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  applyFunctions,
  applyViews,
  bootstrap,
  createDatabase,
  type Database,
  type DatabaseService,
  databaseServices,
  migrate,
  type RolePasswords,
  schemaOf,
  serviceUrl,
} from "@harrier/db";
import pg from "pg";
import { appDir } from "../workspace.ts";

/** Roles belong to the whole server, so every test database of a run shares these passwords. */
export const testPasswords: RolePasswords = {
  controller: "test-controller",
  management: "test-management",
  "artifact-store": "test-artifact-store",
  "rollout-engine": "test-rollout-engine",
};

/** Answers the URL of another database of the same server. */
export function urlOfDatabase(url: string, name: string): string {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
}

export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: "harrier/testkit" });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const shared = new Map<string, Promise<pg.Client>>();

/**
 * Like `withClient`, on one connection per database that stays open as long as this process has something else to do: for short questions that
 * are asked hundreds of times. Work at the same time shares it, so it must not open transactions.
 */
export async function withSharedClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = shared.get(url) ?? openShared(url);
  shared.set(url, client);
  return work(await client);
}

async function openShared(url: string): Promise<pg.Client> {
  // Its statements are long and their tables small, so that a plan of its own for each would take longer than the answer.
  const options = "-c plan_cache_mode=force_generic_plan";
  const client = new pg.Client({ connectionString: url, application_name: "harrier/testkit", options });
  const forget = (): boolean => shared.delete(url);
  client.on("error", forget);
  client.on("end", forget);
  try {
    await client.connect();
  } catch (error) {
    forget();
    throw error;
  }
  (client as unknown as { unref(): void }).unref(); // pg has it, its types do not
  return client;
}

/** Named after the content of all SQL files it is made from, so that an edited file (watch mode) makes another template. */
function templateName(services: readonly DatabaseService[]): string {
  const hash = createHash("sha256");
  for (const service of services) {
    for (const kind of ["migrations", "functions", "views"] as const) {
      for (const file of sqlFilesIn(join(appDir(service), kind))) hash.update(service).update(file).update(readFileSync(file));
    }
  }
  return `harrier_template_${hash.update(services.join()).digest("hex").slice(0, 16)}`;
}

function sqlFilesIn(dir: string): string[] {
  try {
    return readdirSync(dir)
      .filter((name) => name.endsWith(".sql"))
      .sort()
      .map((name) => join(dir, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** Answers the name of a database with these services migrated. The first caller creates it, and the other test files of the run wait for it. */
export async function ensureTemplate(adminUrl: string, schemas: readonly DatabaseService[]): Promise<string> {
  const services = databaseServices.filter((service) => schemas.includes(service));
  const name = templateName(services);
  await withClient(adminUrl, async (client) => {
    await client.query("select pg_advisory_lock(hashtextextended('harrier test template', 0))");
    const { rows } = await client.query<{ datistemplate: boolean }>("select datistemplate from pg_database where datname = $1", [name]);
    if (rows[0]?.datistemplate) return;
    if (rows[0] !== undefined) await client.query(`drop database ${name} with (force)`); // its creator was interrupted
    await client.query(`create database ${name} template template0`);
    await fill(urlOfDatabase(adminUrl, name), services);
    await client.query(`alter database ${name} is_template true`);
  });
  return name;
}

/**
 * Prepares the database like the services at their start: as the owning role, and all migrations before all views, because a view may read another
 * service's view.
 */
async function fill(url: string, services: readonly DatabaseService[]): Promise<void> {
  await bootstrap({ adminUrl: url, passwords: testPasswords });
  const databases = services.map((service) =>
    createDatabase({ url: serviceUrl(url, service, testPasswords[service]), applicationName: "harrier/testkit" }),
  );
  const open = services.map((service, n) => ({
    pool: (databases[n] as Database).pool,
    schema: schemaOf(service),
    folder: appDir(service),
  }));
  try {
    for (const service of open) await migrate(service);
    for (const service of open) await applyFunctions(service);
    for (const service of open) await applyViews(service);
  } finally {
    await Promise.all(databases.map((db) => db.close()));
  }
}
