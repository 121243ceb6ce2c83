import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  applyViews,
  bootstrap,
  createDatabase,
  type DatabaseService,
  databaseServices,
  migrate,
  type RolePasswords,
  schemaOf,
  serviceUrl,
} from "@harrier/db";
import pg from "pg";
import { appDir } from "../workspace.ts";

/** Roles belong to the whole server, so every test database of a run shares these. */
export const testPasswords: RolePasswords = {
  controller: "test-controller",
  management: "test-management",
  "artifact-store": "test-artifact-store",
  "rollout-engine": "test-rollout-engine",
};

/** The URL of another database of the same server. */
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

/** Named after the content of all migrations and views it is made from, so that an edited file (watch mode) makes another template. */
function templateName(services: readonly DatabaseService[]): string {
  const hash = createHash("sha256");
  for (const service of services) {
    for (const kind of ["migrations", "views"] as const) {
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

/** The name of a database with these services migrated, made by the first who asks; the other test files of the run wait for it. */
export async function ensureTemplate(adminUrl: string, schemas: readonly DatabaseService[]): Promise<string> {
  const services = databaseServices.filter((service) => schemas.includes(service));
  const name = templateName(services);
  await withClient(adminUrl, async (client) => {
    await client.query("select pg_advisory_lock(hashtextextended('harrier test template', 0))");
    const { rows } = await client.query<{ datistemplate: boolean }>("select datistemplate from pg_database where datname = $1", [name]);
    if (rows[0]?.datistemplate) return;
    if (rows[0] !== undefined) await client.query(`drop database ${name} with (force)`); // its maker did not get to the end
    await client.query(`create database ${name} template template0`);
    await fill(urlOfDatabase(adminUrl, name), services);
    await client.query(`alter database ${name} is_template true`);
  });
  return name;
}

/** The way the services do it at their start: as the owning role; all migrations before all views, for a view may read another service's view. */
async function fill(url: string, services: readonly DatabaseService[]): Promise<void> {
  await bootstrap({ adminUrl: url, passwords: testPasswords });
  const open = services.map((service) => ({
    service,
    db: createDatabase({ url: serviceUrl(url, service, testPasswords[service]), applicationName: "harrier/testkit" }),
  }));
  try {
    for (const { service, db } of open)
      await migrate({ pool: db.pool, schema: schemaOf(service), dir: join(appDir(service), "migrations") });
    for (const { service, db } of open)
      await applyViews({
        pool: db.pool,
        schema: schemaOf(service),
        dir: join(appDir(service), "views"),
        migrations: join(appDir(service), "migrations"),
      });
  } finally {
    await Promise.all(open.map(({ db }) => db.close()));
  }
}
