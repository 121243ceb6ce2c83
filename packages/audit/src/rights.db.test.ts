import { type AuditedService, auditedServices, auditSchemaOf, createDatabase, type Database, roleOf, schemaOf } from "@harrier/db";
import { type TestDatabase, testDatabase } from "@harrier/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AuditSchema } from "./anchor.sql.ts";
import { anchorHeads } from "./anchorer.ts";
import { againstTable, firstColumns, stateOf, tablesOf } from "./rights.fixture.ts";
import { checkRights } from "./rights.ts";
import { keepPartitions } from "./seal.sql.ts";
import { sealBatch } from "./sealer.ts";
import { AuditTrail } from "./trail.ts";
import { verifyChain } from "./verify.ts";

/* A service may only add to its trail. Whatever else its role tries on its own or another's trail is refused by the database, not by our code. */

let database: TestDatabase;
let admin: Database;
const nextOf = (service: AuditedService): AuditedService =>
  auditedServices[(auditedServices.indexOf(service) + 1) % auditedServices.length] as AuditedService;

beforeAll(async () => {
  database = await testDatabase();
  admin = createDatabase({ url: database.adminUrl, applicationName: "test/admin", max: 2 });
  for (const service of auditedServices) {
    await keepPartitions(database.db(service).pool);
    await fill(service);
  }
  for (const service of auditedServices) await anchorHeads({ db: database.db(service).pool, schema: schemaOf(service) as AuditSchema });
});
afterAll(async () => {
  await admin?.close();
  await database?.drop();
});

const call = {
  tenantId: 1,
  actorKind: "USER",
  actor: "admin",
  action: "x.create",
  entity: "x",
  entityIds: [],
  sourceIp: "10.0.0.1",
  requestId: "r",
  details: "{}",
};
const refuse = async (service: AuditedService) => {
  const trail = new AuditTrail({ db: database.db(service).pool, log: { warn: () => undefined }, now: Date.now });
  await trail.refused(call, { status: 403, errorCode: "insufficientPermission" });
};

async function fill(service: AuditedService): Promise<void> {
  for (let n = 0; n < 3; n += 1) {
    await refuse(service);
    await sealBatch({ db: database.db(service), schema: schemaOf(service) });
  }
}

const partitioned = ["audit_entries", "audit_batches", "audit_anchors"];

describe.each(auditedServices)("the role of %s", (service) => {
  const [schema, role] = [auditSchemaOf(service), roleOf(service)];
  const attempt = async (text: string) => {
    // without a right to grant, but with one of its own on the object, GRANT does nothing but warn
    if (text.startsWith("grant ") && text.includes(" on "))
      return database
        .db(service)
        .pool.query(text)
        .catch(() => undefined);
    await expect(database.db(service).pool.query(text), text).rejects.toMatchObject({
      code: expect.stringMatching(/^(42501|42P16|42809|0A000)$/),
    });
  };
  const inAll = async (texts: readonly string[]) => {
    const before = await stateOf(admin);
    for (const text of texts) await attempt(text);
    expect(await stateOf(admin)).toEqual(before);
    await checkRights(database.db(service).pool, schemaOf(service));
  };

  test("cannot change a table or partition of its own trail or another's, in any way", async () => {
    const [own, others] = [await tablesOf(admin, schema), await tablesOf(admin, auditSchemaOf(nextOf(service)))];
    // there are six tables, of which three have a default partition and those of three months
    expect([own.length, others.length]).toEqual([17, 17]);
    await inAll(own.flatMap((table) => againstTable(table, role)));
    const columns = await firstColumns(admin, auditSchemaOf(nextOf(service)));
    await inAll(
      others.flatMap((table) => [
        `delete from ${table}`,
        `truncate ${table}`,
        `drop table ${table}`,
        `update ${table} set ${columns[table]} = ${columns[table]}`,
      ]),
    );
  });

  test("cannot detach a partition, nor attach one", async () => {
    const tables = await tablesOf(admin, schema);
    await inAll(
      partitioned.flatMap((parent) => [
        ...tables
          .filter((name) => name.startsWith(`${schema}.${parent}_`))
          .flatMap((name) => [`alter table ${schema}.${parent} detach partition ${name}`]),
        `create table ${schemaOf(service)}.mine partition of ${schema}.${parent} for values from ('2001-01-01') to ('2001-02-01')`,
      ]),
    );
  });

  test("cannot write an entry, batch, end or anchor directly, nor rewrite a call that has ended", async () => {
    await refuse(service);
    const month = new Date().toISOString().slice(0, 7).replace("-", "");
    await inAll([
      `insert into ${schema}.audit_entries select * from ${schema}.audit_entries limit 1`,
      `insert into ${schema}.audit_entries_p${month} select * from ${schema}.audit_entries limit 1`,
      `insert into ${schema}.audit_batches select * from ${schema}.audit_batches limit 1`,
      `insert into ${schema}.audit_anchors select * from ${schema}.audit_anchors limit 1`,
      `update ${schema}.audit_entries set actor = 'x'`,
      `update ${schema}.audit_entries_p${month} set actor = 'x'`,
      `update ${schema}.audit_batches set hash = previous_hash`,
      `update ${schema}.audit_anchors set hash = hash`,
      `update ${schema}.audit_chain set number = 0, position = 0, hash = decode(repeat('00', 32), 'hex'), sealed_at = null`,
      `insert into ${schema}.audit_chain default values`,
      `update ${schema}.audit_pending set actor = 'x'`,
      `update ${schema}.audit_pending set details = '{}'`,
      `update ${schema}.audit_pending set result = 'SUCCESS'`,
      `update ${schema}.audit_pending set status = 200`,
    ]);
    await sealBatch({ db: database.db(service), schema: schemaOf(service) });
  });

  test("can seal only what follows the end of its chain, and only now", async () => {
    await refuse(service);
    const [end] = (await admin.pool.query(`select number, position, hash from ${schema}.audit_chain`)).rows;
    const [entry] = (await admin.pool.query(`select id from ${schema}.audit_pending`)).rows;
    const [n, p, h] = [end.number, end.position, `'\\x${end.hash.toString("hex")}'::bytea`];
    const zero = "decode(repeat('00', 32), 'hex')";
    const seal = (of: { id?: string; at?: string; number?: number; first?: number; previous?: string; digests?: string; hash?: string }) =>
      `select ${schema}.audit_seal('{1}', array['${of.id ?? entry.id}'::uuid], ${of.digests ?? `array[${zero}]`}, ${of.at ?? "clock_timestamp()"},
                                   ${of.number ?? n + 1}, ${of.first ?? p + 1}, ${of.previous ?? h}, ${of.hash ?? zero})`;
    await inAll([
      seal({ number: n }),
      seal({ number: 1, first: 1, previous: zero }),
      seal({ number: n + 2 }),
      seal({ first: p }),
      seal({ first: p + 2 }),
      seal({ previous: zero }),
      seal({ at: "now() - interval '2 hours'" }),
      seal({ at: "now() - interval '3 years'" }),
      seal({ at: "clock_timestamp() + interval '2 hours'" }),
      seal({ at: "null" }),
      seal({ digests: `array[${zero}, ${zero}]` }),
      seal({ hash: "null" }),
      seal({ id: "00000000-0000-7000-8000-000000000000" }),
    ]);
    expect(await sealBatch({ db: database.db(service), schema: schemaOf(service) })).toMatchObject({ entries: 1 });
  });

  test("can anchor only existing batches of other services, and only now", async () => {
    const other = nextOf(service);
    const [batch] = (await admin.pool.query(`select * from ${auditSchemaOf(other)}.audit_batches order by number desc limit 1`)).rows;
    const hash = (bytes: Buffer) => `'\\x${bytes.toString("hex")}'::bytea`;
    const anchor = (of: { service?: string; number?: number; hash?: Buffer; at?: string }) =>
      `select ${schema}.audit_anchor('${of.service ?? schemaOf(other)}', ${of.number ?? batch.number}, ${batch.last_position},
              ${hash(of.hash ?? batch.hash)}, (select sealed_at from ${auditSchemaOf(other)}.audit_batches_v1 where number = ${batch.number}), ${of.at ?? "clock_timestamp()"}, null, null)`;
    await inAll([
      anchor({ service: schemaOf(service) }),
      anchor({ service: "public" }),
      anchor({ number: 77 }),
      anchor({ hash: Buffer.alloc(32, 7) }),
      anchor({ at: "now() - interval '1 hour'" }),
      anchor({ at: "clock_timestamp() + interval '1 hour'" }),
    ]);
  });

  test("cannot take another role, and gets neither schema nor functions", async () => {
    const [owner] = (await admin.pool.query("select pg_get_userbyid(nspowner) as name from pg_namespace where nspname = $1", [schema]))
      .rows;
    expect((await admin.pool.query("select rolcanlogin from pg_roles where rolname = $1", [owner.name])).rows).toEqual([
      { rolcanlogin: false },
    ]);
    await inAll([
      `set role ${owner.name}`,
      `set session authorization ${owner.name}`,
      `grant ${owner.name} to ${role}`,
      "set session_replication_role = replica",
      `drop schema ${schema} cascade`,
      `alter schema ${schema} owner to ${role}`,
      `alter schema ${schema} rename to gone`,
      `grant create on schema ${schema} to ${role}`,
      `create table ${schema}.mine (x int)`,
      `create or replace function ${schema}.audit_stays() returns trigger language plpgsql as 'begin return old; end'`,
      `create or replace function ${schema}.audit_seal(int[], uuid[], bytea[], timestamptz, bigint, bigint, bytea, bytea) returns int language sql as 'select 1'`,
      `alter function ${schema}.audit_partitions() owner to ${role}`,
      `alter function ${schema}.audit_partitions() security invoker`,
      `alter function ${schema}.audit_partitions() set search_path = public`,
      `drop function ${schema}.audit_partitions()`,
      `create or replace view ${schema}.audit_v1 as select 1 as x`,
      `drop view ${schema}.audit_v1`,
      `drop trigger audit_entries_stay on ${schema}.audit_entries`,
      `drop trigger audit_pending_ended on ${schema}.audit_pending`,
      `select ${auditSchemaOf(nextOf(service))}.audit_partitions()`,
      `select ${auditSchemaOf(nextOf(service))}.audit_lock_chain()`,
      `insert into ${auditSchemaOf(nextOf(service))}.audit_pending (tenant_id) values (1)`,
      ...(service === "management" ? [] : [`select * from ${auditSchemaOf(nextOf(service))}.audit_v1`]),
    ]);
  });

  test("gets partitions of this month and the next two created and old ones dropped, but cannot choose which", async () => {
    const { pool } = database.db(service);
    const old = "create table {s}.audit_batches_p202001 partition of {s}.audit_batches for values from ('2020-01-01') to ('2020-02-01')";
    await admin.pool.query(old.replaceAll("{s}", schema));
    const before = await stateOf(admin);
    // the session has a remote time zone and another search path
    const client = await pool.connect();
    try {
      await client.query(`set timezone = 'Pacific/Kiritimati'`);
      await client.query(`set datestyle = 'SQL, DMY'`);
      await client.query(`set search_path = ${schemaOf(service)}, pg_catalog`);
      await client.query(`create table if not exists ${schemaOf(service)}.audit_chain (number bigint)`);
      await client.query(`select ${schema}.audit_partitions()`);
      await client.query(`drop table ${schemaOf(service)}.audit_chain`);
      await client.query("reset all");
    } finally {
      client.release(true);
    }
    const months = [0, 1, 2].map((n) => {
      const now = new Date();
      return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + n, 1)).toISOString().slice(0, 7).replace("-", "");
    });
    const found = (await tablesOf(admin, schema)).filter((name) => /_p\d{6}$/.test(name)).sort();
    expect(found).toEqual(partitioned.flatMap((parent) => months.map((month) => `${schema}.${parent}_p${month}`)).sort());
    expect(await stateOf(admin)).toEqual(before);
  });

  test("has the rights that the start requires; a role that owns or may change its trail is refused in one line", async () => {
    const { pool } = database.db(service);
    const own = schemaOf(service);
    await checkRights(pool, own);
    await expect(checkRights(admin.pool, own)).rejects.toThrow(/^audit: the database role of \w+ is a superuser/);
    await expect(checkRights(pool, "nobody")).rejects.toThrow(/^audit: nobody_audit lacks audit_anchor, audit_anchors, .*: run the set-up/);
    const [owner] = (await admin.pool.query("select pg_get_userbyid(nspowner) as name from pg_namespace where nspname = $1", [schema]))
      .rows;
    for (const [give, take, what] of [
      [
        `grant truncate on ${schema}.audit_entries to ${role}`,
        `revoke truncate on ${schema}.audit_entries from ${role}`,
        "may change audit_entries",
      ],
      [
        `grant update (hash) on ${schema}.audit_chain to ${role}`,
        `revoke update (hash) on ${schema}.audit_chain from ${role}`,
        "may change audit_chain",
      ],
      [
        `grant delete on ${schema}.audit_pending to ${role}`,
        `revoke delete on ${schema}.audit_pending from ${role}`,
        "may change audit_pending",
      ],
      [
        `alter table ${schema}.audit_batches_default owner to ${role}`,
        `alter table ${schema}.audit_batches_default owner to ${owner.name}`,
        "owns audit_batches_default",
      ],
      [`grant create on schema ${schema} to ${role}`, `revoke create on schema ${schema} from ${role}`, `may change ${schema}`],
    ] as const) {
      await admin.pool.query(give);
      await expect(checkRights(pool, own), give).rejects.toThrow(what);
      await admin.pool.query(take);
      await checkRights(pool, own);
    }
  });

  test("has not changed its chain, and anchors of others confirm it", async () => {
    const found = await verifyChain({
      db: database.db("management").pool,
      schema: schemaOf(service) as AuditSchema,
      keptSince: new Date(0),
    });
    expect(found).toMatchObject({ valid: true, complete: true, missingMonths: [], vouched: { batch: 3, position: 3, signed: false } });
    expect(found.vouched?.by).toEqual(
      auditedServices
        .filter((other) => other !== service)
        .map(schemaOf)
        .sort(),
    );
  });
});
