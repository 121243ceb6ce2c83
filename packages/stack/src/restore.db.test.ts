import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  bootstrap,
  createDatabase,
  type Database,
  type DatabaseService,
  databaseServices,
  migrate,
  schemaOf,
  serviceUrl,
} from "@harrier/db";
import pg from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type EmbeddedPostgres, startPostgres } from "./postgres.ts";

// a logical restore puts the rows of an old cluster into a new one, whose transaction ids have just begun
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const root = join(import.meta.dirname, "..", "..", "..");
const passwords = Object.fromEntries(databaseServices.map((service) => [service, "x"])) as Record<DatabaseService, string>;
const servers: EmbeddedPostgres[] = [];
const open: Database[] = [];

async function startCluster(): Promise<EmbeddedPostgres> {
  const server = await startPostgres();
  servers.push(server);
  await bootstrap({ adminUrl: server.url, passwords });
  return server;
}

const databaseOf = (server: EmbeddedPostgres, service: DatabaseService): Database => {
  const db = createDatabase({ url: serviceUrl(server.url, service, "x"), applicationName: "restore-test" });
  open.push(db);
  return db;
};

/** Does what each service does first at its start. */
const start = (db: Database, service: DatabaseService) =>
  migrate({ pool: db.pool, schema: schemaOf(service), folder: join(root, "apps", service) });

/** Answers the statements of the documentation with another number in place of its example. */
function advance(beyond: string): string {
  const text = readFileSync(join(root, "docs", "operations.md"), "utf8");
  const section = text.slice(text.indexOf("### A dump in a new cluster"));
  const [, sql] = /```sql\n([\s\S]*?)```/.exec(section) ?? [];
  if (sql === undefined) throw new Error("docs/operations.md has no statements for a dump in a new cluster");
  return sql.replace(/'\d+'::xid8/, `'${beyond}'::xid8`);
}

async function admin(server: EmbeddedPostgres, ...texts: string[]): Promise<pg.QueryResult["rows"]> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  try {
    let rows: pg.QueryResult["rows"] = [];
    for (const text of texts) ({ rows } = await client.query(text));
    return rows;
  } finally {
    await client.end();
  }
}

/** Runs the statements one by one, as psql does, because a `do` that commits may not stand beside others. */
const runDocumented = (server: EmbeddedPostgres, sql: string) => admin(server, ...sql.split(/(?<=off;)\n/).map((part) => part.trim()));

/** These tables store a place by transaction id, which a dump brings into another cluster. */
const memories = {
  controller: {
    write: "update outbox_cursor set sent = pg_current_snapshot()",
    read: "select sent::text as value from outbox_cursor",
    restore: "update outbox_cursor set sent = $1::pg_snapshot",
  },
  management: {
    write: "insert into credential_changes (tenant_id) values (1)",
    read: "select max(txid)::text as value from credential_changes",
    restore: "insert into credential_changes (tenant_id, txid) values (1, $1::xid8)",
  },
  "rollout-engine": {
    write: "update fleet_cursor set txid = pg_current_xact_id()",
    read: "select txid::text as value from fleet_cursor",
    restore: "update fleet_cursor set txid = $1::xid8",
  },
} as const;
const owners = Object.keys(memories) as (keyof typeof memories)[];

let old: EmbeddedPostgres;
let young: EmbeddedPostgres;
const restored = new Map<DatabaseService, Database>();

beforeAll(async () => {
  old = await startCluster();
  await runDocumented(old, advance("60000"));
  young = await startCluster();
  for (const service of owners) {
    const { write, read, restore } = memories[service];
    const [before, after] = [databaseOf(old, service), databaseOf(young, service)];
    for (const db of [before, after]) await start(db, service);
    await before.pool.query(write);
    expect(await start(before, service)).toEqual([]); // in its own cluster the schema is accepted
    const { rows } = await before.pool.query<{ value: string }>(read);
    await after.pool.query(restore, [rows[0]?.value]);
    restored.set(service, after);
  }
});
afterAll(async () => {
  for (const db of open) await db.close();
  for (const server of servers) await server.stop();
});

/** Answers how the start of a service ends: undefined, or its error. */
async function startAgain(service: DatabaseService): Promise<string | undefined> {
  return start(restored.get(service) as Database, service).then(
    () => undefined,
    (error: Error) => error.message,
  );
}

test("a start in a younger cluster is refused in one line with the remedy, and the documented statements repair it", async () => {
  const named: number[] = [];
  for (const service of owners) {
    const said = (await startAgain(service)) ?? "";
    expect(said).toMatch(/younger than its rows: they know of transaction \d+, the cluster is at \d+.*docs\/operations\.md/);
    expect(said).not.toContain("\n");
    named.push(Number(/of transaction (\d+)/.exec(said)?.[1]));
  }
  await runDocumented(young, advance(String(Math.max(...named))));
  for (const service of owners) expect(await startAgain(service)).toBeUndefined();
  // rows that are written from now on come after the restored place
  const [row] =
    (await restored.get("controller")?.pool.query("select pg_current_xact_id() >= pg_snapshot_xmax(sent) as seen from outbox_cursor"))
      ?.rows ?? [];
  expect(row).toEqual({ seen: true });
});
