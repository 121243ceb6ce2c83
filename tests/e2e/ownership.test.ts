import { randomBytes } from "node:crypto";
import { type DatabaseService, databaseServices, roleOf, schemaOf } from "@harrier/db";
import type { Stack } from "@harrier/stack";
import { twoOfEach } from "@harrier/testkit";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { adminOf, replicasOf, urlOf } from "./support/replicas.ts";
import { serving, startAnsweringStack } from "./support/serving.ts";

// There is one database, one schema per service, and one writer per table; others read published views only (architecture §2).

interface Relation {
  schema: string;
  name: string;
  kind: "table" | "view" | "sequence";
  column: string;
  /** The roles that were granted SELECT. */
  readers: string[];
}

const refused = "42501"; // insufficient_privilege
const targetToken = `token-${randomBytes(9).toString("hex")}`;
const gatewayKey = `gateway-${randomBytes(9).toString("hex")}`;
let stack: Stack;
let admin: pg.Client;
const clients = new Map<DatabaseService, pg.Client>();
let relations: Relation[];

const clientOf = (service: DatabaseService): pg.Client => clients.get(service) as pg.Client;

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: "harrier/e2e" });
  await client.connect();
  return client;
}

/** Returns the SQLSTATE of a statement's error, or "done". The statement is rolled back. */
async function outcomeOf(client: pg.Client, text: string): Promise<string> {
  await client.query("begin");
  try {
    await client.query(text);
    return "done";
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  } finally {
    await client.query("rollback");
  }
}

beforeAll(async () => {
  stack = await startAnsweringStack({ replicas: twoOfEach });
  admin = await connected(stack.adminDatabaseUrl as string);
  for (const service of databaseServices) clients.set(service, await connected(stack.databaseUrls[service]));
  const { rows } = await admin.query<Relation>(
    `select n.nspname as schema, c.relname as name,
            case c.relkind when 'v' then 'view' when 'S' then 'sequence' else 'table' end as kind,
            coalesce((select quote_ident(a.attname) from pg_attribute a
                       where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and a.attidentity = '' order by a.attnum limit 1), '') as column,
            coalesce((select array_agg(distinct r.rolname::text) from aclexplode(c.relacl) x join pg_roles r on r.oid = x.grantee
                       where x.privilege_type = 'SELECT' and x.grantee <> c.relowner), '{}') as readers
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = any ($1) and c.relkind in ('r', 'p', 'v', 'm', 'S')
      order by 1, 2`,
    [databaseServices.map(schemaOf)],
  );
  relations = rows;
});

afterAll(async () => {
  await Promise.all([admin, ...clients.values()].map((client) => client?.end()));
  await stack?.stop();
});

describe.each(databaseServices)("the role of %s", (service) => {
  const own = schemaOf(service);
  const foreign = (kind: Relation["kind"]) => relations.filter((relation) => relation.kind === kind && relation.schema !== own);

  test("uses its own tables", async () => {
    const mine = relations.filter((relation) => relation.kind === "table" && relation.schema === own);
    expect(mine.length).toBeGreaterThan(3);
    for (const { schema, name } of mine)
      expect(await outcomeOf(clientOf(service), `select 1 from ${schema}.${name} limit 1`), name).toBe("done");
  });

  test("reads and writes no table of another service", async () => {
    const tables = foreign("table");
    expect(tables.length).toBeGreaterThan(20);
    const allowed: string[] = [];
    for (const { schema, name, column } of tables) {
      const table = `${schema}.${name}`;
      for (const text of [
        `select 1 from ${table} limit 1`,
        `insert into ${table} default values`,
        `update ${table} set ${column} = ${column} where false`,
        `delete from ${table} where false`,
        `truncate ${table}`,
        `lock table ${table} in access share mode`,
      ]) {
        const outcome = await outcomeOf(clientOf(service), text);
        if (outcome !== refused) allowed.push(`${text}: ${outcome}`);
      }
    }
    expect(allowed).toEqual([]);
  });

  test("takes no id of another service", async () => {
    for (const { schema, name } of foreign("sequence"))
      expect(await outcomeOf(clientOf(service), `select nextval('${schema}.${name}')`), name).toBe(refused);
  });

  test("reads the published views it was granted, and writes through none", async () => {
    const views = foreign("view");
    const readable = views.filter(({ readers }) => readers.includes(roleOf(service)));
    expect(readable.length).toBeGreaterThan(0);
    for (const view of views) {
      const name = `${view.schema}.${view.name}`;
      expect(name).toMatch(/_v\d+$/);
      const expected = readable.includes(view) ? "done" : refused;
      expect(await outcomeOf(clientOf(service), `select * from ${name} limit 1`), name).toBe(expected);
      for (const text of [
        `insert into ${name} default values`,
        `update ${name} set ${view.column} = ${view.column} where false`,
        `delete from ${name} where false`,
      ]) {
        // 55000 and 0A000 mean a view that cannot be written through, whatever the rights.
        expect([refused, "55000", "0A000"], text).toContain(await outcomeOf(clientOf(service), text));
      }
    }
  });

  test("makes, changes and removes nothing outside its schema, and cannot become another", async () => {
    const other = databaseServices.find((one) => one !== service) as DatabaseService;
    const table = relations.find((relation) => relation.kind === "table" && relation.schema === schemaOf(other)) as Relation;
    for (const text of [
      `create table ${schemaOf(other)}.mine (x int)`,
      "create table public.mine (x int)",
      "create schema mine",
      `alter table ${table.schema}.${table.name} add column mine int`,
      `drop table ${table.schema}.${table.name}`,
      `set role ${roleOf(other)}`,
      `grant select on ${table.schema}.${table.name} to ${roleOf(service)}`,
      "create role mine",
    ]) {
      expect(await outcomeOf(clientOf(service), text), text).toBe(refused);
    }
  });
});

test("no function runs with its owner's rights, and no table is open to everybody", async () => {
  const { rows } = await admin.query(
    `select p.oid::regprocedure::text as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where n.nspname = any ($1) and p.prosecdef`,
    [databaseServices.map(schemaOf)],
  );
  expect(rows).toEqual([]);
  expect(relations.filter(({ kind, readers }) => kind !== "view" && readers.length > 0)).toEqual([]);
});

test("no foreign key crosses schemas", async () => {
  const { rows } = await admin.query(
    `select k.conname from pg_constraint k join pg_class a on a.oid = k.conrelid join pg_class b on b.oid = k.confrelid
      where k.contype = 'f' and a.relnamespace <> b.relnamespace`,
  );
  expect(rows).toEqual([]);
});

test("no view that others read shows a secret", async () => {
  const api = adminOf(stack);
  await api.configure("authentication.gatewaytoken.key", gatewayKey);
  await api.createTarget({ securityToken: targetToken });
  const secrets = [targetToken, gatewayKey, stack.adminPassword].flatMap((secret) => [
    secret,
    Buffer.from(secret).toString("hex"),
    Buffer.from(secret).toString("base64"),
  ]);
  for (const { schema, name } of relations.filter(({ kind, readers }) => kind === "view" && readers.length > 0)) {
    const { rows } = await admin.query<{ row: string }>(`select v::text as row from ${schema}.${name} v`);
    const found = rows.filter(({ row }) => secrets.some((secret) => row.includes(secret)));
    expect(found, `${schema}.${name}`).toEqual([]);
  }
});

describe("a service declares the views it needs", () => {
  const needed: [DatabaseService, string, string][] = [
    ["controller", "rollout_engine", "group_members_v1"],
    ["management", "controller", "targets_v1"],
    ["artifact-store", "controller", "artifact_grants_v1"],
    ["rollout-engine", "controller", "group_progress_v1"],
  ];

  const readiness = async (service: DatabaseService | "gateway", index = 0) => {
    const replica = replicasOf(stack, service)[index];
    if (replica === undefined) throw new Error(`no ${service}-${index}`);
    const answer = await fetch(`${urlOf(replica)}/readyz`);
    return { status: answer.status, text: await answer.text() };
  };
  const waitFor = async (check: () => Promise<void>) => {
    await expect.poll(() => check().then(() => "ok", String), { timeout: 10_000, interval: 200 }).toBe("ok");
  };

  test.each(needed)("without one %s is not ready (%s.%s)", async (service, schema, view) => {
    const hidden = async (hide: string, restore: string) => {
      await admin.query(hide);
      try {
        for (const { index } of replicasOf(stack, service)) {
          await waitFor(async () => {
            const { status, text } = await readiness(service, index);
            expect(status).toBe(503);
            expect(text).toContain(`${schema}.${view}`);
          });
        }
        await waitFor(async () => {
          const { status, text } = await readiness("gateway");
          expect(status).toBe(503);
          expect(JSON.parse(text)).toMatchObject({ ready: false, services: { [service]: false } });
        });
      } finally {
        await admin.query(restore);
      }
      await serving(stack.services, 15_000);
    };
    await hidden(`alter view ${schema}.${view} rename to hidden`, `alter view ${schema}.hidden rename to ${view}`);
    const role = roleOf(service);
    await hidden(`revoke select on ${schema}.${view} from ${role}`, `grant select on ${schema}.${view} to ${role}`);
  });
});
