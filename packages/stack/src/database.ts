import { join } from "node:path";
import { bootstrap, type DatabaseService, databaseServices, serviceUrl, unsuitableText } from "@harrier/db";
import pg from "pg";
import type { Secrets } from "./data-dir.ts";
import { type EmbeddedPostgres, startPostgres } from "./postgres.ts";
import type { DatabaseSettings } from "./settings.ts";
import { StartError } from "./start-error.ts";

/** The services' database, whoever runs it. */
export interface StackDatabase {
  readonly urls: Readonly<Record<DatabaseService, string>>;
  /** The superuser's URL, if we run the server ourselves or were given it. */
  readonly adminUrl?: string;
  /** Answers the process id of the embedded server. */
  pid(): number | undefined;
  stop(limitMs: number): Promise<void>;
}

const OLDEST_VERSION = 150_000;
const DATABASE_NAME = "harrier";
const REPAIR_DELAYS_MS = [200, 1_000, 5_000];

/** Fails, before anything is started, if a given database cannot be used. */
export async function checkDatabase(settings: DatabaseSettings): Promise<void> {
  if (settings.kind === "one") await checkServer("HARRIER_DATABASE_URL", settings.url);
  if (settings.kind !== "per-service") return;
  for (const service of databaseServices) {
    await checkServer(`HARRIER_${service.toUpperCase().replaceAll("-", "_")}_DATABASE_URL`, settings.urls[service]);
  }
}

async function checkServer(name: string, url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000, application_name: "harrier/start" });
  try {
    await client.connect();
    const { rows } = await client.query<{ version: number }>("select current_setting('server_version_num')::int as version");
    if ((rows[0]?.version ?? 0) < OLDEST_VERSION) throw new StartError(`${name}: PostgreSQL 15 or newer is needed`);
    const unsuitable = await unsuitableText(client);
    if (unsuitable !== undefined) throw new StartError(`${name}: ${unsuitable}`);
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`${name}: cannot reach the database at ${new URL(url).host} (${reasonOf(error)})`);
  } finally {
    await client.end().catch(() => undefined);
  }
}

// a refused connection to "localhost" is an AggregateError without a message of its own
function reasonOf(error: unknown): string {
  const { message, code } = error as Error & { code?: string };
  return (message || code || String(error)).split("\n")[0] ?? "";
}

/** Starts the embedded server or takes the given one, and creates roles and schemas unless they are given. */
export async function openDatabase(
  settings: DatabaseSettings,
  dataDir: string,
  secrets: Secrets,
  print: (line: string) => void,
): Promise<StackDatabase> {
  if (settings.kind === "per-service") return { urls: settings.urls, pid: () => undefined, stop: async () => {} };
  if (settings.kind === "one") {
    await bootstrap({ adminUrl: settings.url, passwords: secrets.rolePasswords }).catch((error: unknown) => {
      throw new StartError(
        `HARRIER_DATABASE_URL: cannot make the roles and schemas (${reasonOf(error)}); the user needs CREATEROLE and must own the database`,
      );
    });
    return { urls: urlsOf(settings.url, secrets), adminUrl: settings.url, pid: () => undefined, stop: async () => {} };
  }
  return openEmbedded(dataDir, secrets, print);
}

function urlsOf(adminUrl: string, secrets: Secrets): Record<DatabaseService, string> {
  const entries = databaseServices.map((service) => [service, serviceUrl(adminUrl, service, secrets.rolePasswords[service])]);
  return Object.fromEntries(entries) as Record<DatabaseService, string>;
}

async function openEmbedded(dataDir: string, secrets: Secrets, print: (line: string) => void): Promise<StackDatabase> {
  const options = {
    dataDir: join(dataDir, "postgres"),
    password: secrets.databasePassword,
    logFile: join(dataDir, "logs", "postgres.log"),
  };
  let server = await startPostgres(options).catch((error: Error) => {
    throw new StartError(`the embedded PostgreSQL does not start: ${reasonOf(error)} (see ${options.logFile})`);
  });
  const adminUrl = new URL(server.url);
  adminUrl.pathname = `/${DATABASE_NAME}`;
  let stopping = false;
  // the port stays the same, so that the services reconnect by themselves
  const keepUp = (current: EmbeddedPostgres, failures: number): void => {
    const began = Date.now();
    void current.ended.then(async () => {
      if (stopping) return;
      const round = Date.now() - began > 30_000 ? 0 : failures;
      const delay = REPAIR_DELAYS_MS[Math.min(round, REPAIR_DELAYS_MS.length - 1)] ?? 0;
      print(`[postgres] ended, starting again in ${delay / 1000} s`);
      await new Promise((resolve) => setTimeout(resolve, delay));
      if (stopping) return;
      try {
        server = await startPostgres({ ...options, port: Number(adminUrl.port) });
        if (stopping) await server.stop();
        else keepUp(server, round + 1);
      } catch (error) {
        print(`[postgres] ${reasonOf(error)}`);
        keepUp(current, round + 1);
      }
    });
  };
  try {
    await ensureDatabase(server.url);
    await bootstrap({ adminUrl: adminUrl.href, passwords: secrets.rolePasswords });
  } catch (error) {
    await server.stop();
    throw error;
  }
  keepUp(server, 0);
  return {
    urls: urlsOf(adminUrl.href, secrets),
    adminUrl: adminUrl.href,
    pid: () => server.pid,
    async stop(limitMs) {
      stopping = true;
      await server.stop(limitMs);
    },
  };
}

async function ensureDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rowCount } = await client.query("select from pg_database where datname = $1", [DATABASE_NAME]);
    if (rowCount === 0) await client.query(`create database ${DATABASE_NAME}`);
  } finally {
    await client.end();
  }
}
