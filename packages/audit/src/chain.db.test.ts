import { createDatabase, type Database } from "@harrier/db";
import { type TestDatabase, testDatabase } from "@harrier/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { AuditCall } from "./entry.ts";
import { giveUpCutOff, keepPartitions } from "./seal.sql.ts";
import { sealBatch } from "./sealer.ts";
import { AuditTrail } from "./trail.ts";
import { type VerifyOptions, verifyChain } from "./verify.ts";

const schema = "management";
let database: TestDatabase;
let db: Database;
let owner: Database;
let trail: AuditTrail;

beforeAll(async () => {
  database = await testDatabase();
  db = database.db("management");
  owner = createDatabase({ url: database.adminUrl, applicationName: "test/tamper", max: 1 });
  await keepPartitions(db.pool);
});
afterAll(async () => {
  await owner.close();
  await database.drop();
});

/** Tampers as somebody with every right, past triggers and grants. */
const tamper = async (...statements: string[]) => {
  for (const text of ["set session_replication_role = replica", "set search_path = management_audit", ...statements])
    await owner.pool.query(text);
};

beforeEach(async () => {
  await tamper("truncate audit_entries, audit_batches, audit_pending");
  await tamper("update audit_chain set number = 0, position = 0, hash = decode(repeat('00', 32), 'hex'), sealed_at = null");
  trail = new AuditTrail({ db: db.pool, log: { warn: () => undefined }, now: Date.now });
});

const call = (members: Partial<AuditCall> = {}): AuditCall => ({
  tenantId: 1,
  actorKind: "USER",
  actor: "admin",
  action: "targets.create",
  entity: "target",
  entityIds: ["a", 'ü"\\'],
  sourceIp: "10.0.0.1",
  requestId: "r-1",
  details: '{"items":1}',
  ...members,
});
const write = (n: number) =>
  trail.refused(call({ requestId: `r-${n}`, tenantId: 1 + (n % 2) }), { status: 403, errorCode: "insufficientPermission" });
const seal = (limit?: number) => sealBatch({ db, schema }, limit);
const verify = (options: Partial<VerifyOptions> = {}) => verifyChain({ db: db.pool, schema, ...options });
const count = async (from: string) => Number((await db.pool.query(`select count(*) as n from ${from}`)).rows[0].n);

/** Makes four batches of three. */
async function chain(): Promise<void> {
  for (let n = 1; n <= 12; n += 1) {
    await write(n);
    if (n % 3 === 0) await seal();
  }
}

describe("an audited call", () => {
  test("is in the database before its work, and shown when it has ended", async () => {
    const end = await trail.begin(call());
    expect([await count("audit_pending"), await count("audit_v1")]).toEqual([1, 0]);
    expect(await seal()).toBeUndefined();
    await end({ status: 201, entityIds: ["made"] });
    const { rows } = await db.pool.query("select result, status, entity_ids, position from audit_v1");
    expect(rows).toEqual([{ result: "SUCCESS", status: 201, entity_ids: ["made"], position: null }]);
    expect(await seal()).toMatchObject({ number: 1, entries: 1 });
    expect([await count("audit_pending"), await count("audit_v1")]).toEqual([0, 1]);
    expect(await verify()).toMatchObject({ valid: true, complete: true, entries: 1 });
  });

  test("is given up two minutes after its process died, and stays so", async () => {
    const end = await trail.begin(call());
    await giveUpCutOff(db.pool);
    expect(await count("audit_v1")).toBe(0);
    await tamper("update audit_pending set seen_at = now() - interval '121 seconds'");
    await giveUpCutOff(db.pool);
    await end({ status: 200 });
    expect((await db.pool.query("select result, status from audit_v1")).rows).toEqual([{ result: "UNKNOWN", status: null }]);
    expect(await seal()).toMatchObject({ entries: 1 });
    expect((await verify()).valid).toBe(true);
  });

  test("is kept alive if it takes long", async () => {
    const began = Date.now();
    let now = began;
    const slow = new AuditTrail({ db: db.pool, log: { warn: () => undefined }, now: () => now });
    const end = await slow.begin(call());
    await tamper("update audit_pending set seen_at = now() - interval '121 seconds'");
    now = began + 31_000;
    await slow.vouch();
    await giveUpCutOff(db.pool);
    await end({ status: 200 });
    expect((await db.pool.query("select result from audit_v1")).rows).toEqual([{ result: "SUCCESS" }]);
  });
});

describe("a sealed chain", () => {
  test("contains late commits in a later batch and skips none, whichever replica seals", async () => {
    const late = await owner.pool.connect();
    await late.query("set session_replication_role = origin");
    await late.query("begin");
    await late.query(
      `insert into management_audit.audit_pending (tenant_id, id, at, actor_kind, actor, action, entity, entity_ids, source_ip, request_id, details, ended_at, result)
       values (1, gen_random_uuid(), now(), 'USER', 'late', 'x', 'x', '{}', '', '', '{}', now(), 'SUCCESS')`,
    );
    const writers = Array.from({ length: 40 }, (_, n) => write(n));
    const sealers = Array.from({ length: 3 }, async () => {
      for (let i = 0; i < 15; i += 1) await seal(4);
    });
    await Promise.all([...writers, ...sealers]);
    while ((await seal(4)) !== undefined);
    expect(await count("audit_entries")).toBe(40);
    await late.query("commit");
    late.release();
    expect(await seal()).toMatchObject({ entries: 1 });
    expect(await verify()).toMatchObject({ valid: true, complete: true, entries: 41 });
    expect(await verify({ tenantId: 2 })).toMatchObject({ valid: true, entries: 20 });
    const newest = await verify({ newest: 2 });
    expect(newest).toMatchObject({ valid: true, complete: false, firstBatch: newest.lastBatch - 1 });
    expect(await verify({ deadline: 0 })).toMatchObject({ valid: true, complete: false, entries: 0 });
  });

  test("can be neither changed nor removed by its service", async () => {
    await chain();
    await write(13);
    const partition = (await db.pool.query("select tableoid::regclass::text as name from audit_entries limit 1")).rows[0].name;
    for (const text of [
      "update audit_entries set actor = 'x'",
      "delete from audit_entries",
      "truncate audit_entries",
      `update ${partition} set actor = 'x'`,
      `delete from ${partition}`,
      "update audit_batches set entries = 3",
      "delete from audit_batches",
      "update audit_pending set actor = 'x'",
      "update audit_pending set status = 200",
      "truncate audit_pending",
      "delete from audit_chain",
      `truncate ${partition}`,
      `alter table ${partition} disable trigger all`,
      "alter table audit_entries disable trigger all",
      `alter table audit_entries detach partition ${partition}`,
      `drop table ${partition}`,
      "drop trigger audit_entries_stay on audit_entries",
      "update audit_chain set number = 0, position = 0, hash = decode(repeat('00', 32), 'hex'), sealed_at = null",
      "drop table audit_entries, audit_batches",
    ])
      await expect(db.pool.query(text), text).rejects.toMatchObject({ code: "42501" });
    expect((await verify()).valid).toBe(true);
  });

  const entry = (position: number) => `position = ${position}`;
  test.each<[what: string, batch: number, statements: string[]]>([
    ["a changed entry", 2, [`update audit_entries set actor = 'nobody' where ${entry(5)}`]],
    ["another moment", 2, [`update audit_entries set at = at + interval '1 microsecond' where ${entry(5)}`]],
    ["another tenant", 2, [`update audit_entries set tenant_id = 7 where ${entry(5)}`]],
    ["a changed entry with its digest", 2, [`update audit_entries set actor = 'x', digest = sha256('x') where ${entry(5)}`]],
    ["a removed entry", 3, [`delete from audit_entries where ${entry(7)}`]],
    ["the last entry of a batch removed", 3, [`delete from audit_entries where ${entry(9)}`]],
    [
      "an added entry",
      2,
      [
        `insert into audit_entries select tenant_id, gen_random_uuid(), at, actor_kind, actor, action, entity, entity_ids, source_ip, request_id, times, details, ended_at, result, status, error_code, position, digest, sealed_at from audit_entries where ${entry(5)}`,
      ],
    ],
    [
      "an added entry at the end",
      4,
      [
        `insert into audit_entries select tenant_id, gen_random_uuid(), at, actor_kind, actor, action, entity, entity_ids, source_ip, request_id, times, details, ended_at, result, status, error_code, 13, digest, sealed_at from audit_entries where ${entry(5)}`,
      ],
    ],
    [
      "entries in another order",
      2,
      [`update audit_entries set position = case position when 4 then 5 else 4 end where position in (4, 5)`],
    ],
    [
      "entries moved between batches",
      2,
      [`update audit_entries set position = case position when 6 then 7 else 6 end where position in (6, 7)`],
    ],
    [
      "a removed batch with its entries",
      2,
      ["delete from audit_batches where number = 2", "delete from audit_entries where position between 4 and 6"],
    ],
    ["a removed end", 4, ["delete from audit_batches where number = 4", "delete from audit_entries where position > 9"]],
    ["a removed end and what the chain says of it", 4, ["delete from audit_batches where number = 4", "update audit_chain set number = 3"]],
    ["a removed beginning", 1, ["delete from audit_batches where number = 1", "delete from audit_entries where position < 4"]],
    ["everything removed", 1, ["truncate audit_batches, audit_entries"]],
    ["a batch with another hash", 3, ["update audit_batches set hash = sha256('x') where number = 3"]],
    ["a batch that follows another", 3, ["update audit_batches set previous_hash = sha256('x') where number = 3"]],
    ["a batch moved in time", 2, ["update audit_batches set sealed_at = sealed_at - interval '1 hour' where number = 2"]],
  ])("reveals %s", async (_what, batch, statements) => {
    await chain();
    expect(await verify()).toMatchObject({ valid: true, entries: 12, firstBatch: 1, lastBatch: 4 });
    await tamper(...statements);
    const found = await verify({ keptSince: new Date(0) });
    expect([found.valid, found.broken?.batch]).toEqual([false, batch === 4 && found.broken?.batch === 3 ? 3 : batch]);
  });

  test("may lose its beginning to the retention, by whole batches, and nothing later", async () => {
    await chain();
    await tamper("delete from audit_batches where number <= 2", "delete from audit_entries where position <= 6");
    const later = new Date(Date.now() + 1_000);
    expect(await verify({ keptSince: later })).toMatchObject({ valid: true, complete: true, firstBatch: 3, entries: 6 });
    expect(await verify({ keptSince: new Date(0) })).toMatchObject({ valid: false, broken: { batch: 2 } });
    await tamper("truncate audit_batches, audit_entries");
    expect((await verify({ keptSince: later })).valid).toBe(true);
  });
});
