import { createDatabase, createSigner, type Database } from "@harrier/db";
import { type TestDatabase, testDatabase } from "@harrier/testkit";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import type { AuditSchema } from "./anchor.sql.ts";
import type { AnchorKeys } from "./anchor.ts";
import { anchorHeads } from "./anchorer.ts";
import { batchHash, digestOf, type StoredEntry } from "./entry.ts";
import { keepPartitions } from "./seal.sql.ts";
import { sealBatch } from "./sealer.ts";
import { AuditTrail } from "./trail.ts";
import { readBatches, readEntries } from "./verify.sql.ts";
import { type VerifyOptions, verifyChain } from "./verify.ts";

/*
 * Whoever has every right in the database can rewrite a chain so that it is consistent. The signed anchors of the other services reveal that, and
 * show up to when the trail is still original.
 */

const schema: AuditSchema = "management";
const observers = ["rollout-engine", "artifact-store"] as const;
const signers = {
  "rollout-engine": createSigner(Buffer.alloc(32, 1).toString("base64")),
  "artifact-store": createSigner(Buffer.alloc(32, 2).toString("base64")),
};
const keys: AnchorKeys = new Map([
  ["rollout_engine", [signers["rollout-engine"].publicKey]],
  ["artifact_store", [signers["artifact-store"].publicKey]],
]);
let database: TestDatabase;
let db: Database;
let admin: Database;

beforeEach(async () => {
  await close();
  database = await testDatabase();
  db = database.db("management");
  admin = createDatabase({ url: database.adminUrl, applicationName: "test/admin", max: 1 });
  for (const service of ["management", ...observers] as const) await keepPartitions(database.db(service).pool);
});
afterAll(() => close());
async function close(): Promise<void> {
  await admin?.close();
  await database?.drop();
}

const tamper = async (...statements: string[]) => {
  for (const text of ["set session_replication_role = replica", "set search_path = management_audit", ...statements])
    await admin.pool.query(text);
};
const write = (actor: string) =>
  new AuditTrail({ db: db.pool, log: { warn: () => undefined }, now: Date.now }).refused(
    { tenantId: 1, actorKind: "USER", actor, action: "x", entity: "x", entityIds: [], sourceIp: "", requestId: "", details: "{}" },
    { status: 403 },
  );
/** Seals so many batches of two entries each. */
async function seal(batches: number): Promise<void> {
  for (let n = 0; n < batches; n += 1) {
    for (const actor of ["ann", "bob"]) await write(actor);
    await sealBatch({ db, schema });
  }
}
const anchorNow = async () => {
  const found = await Promise.all(
    observers.map((service) =>
      anchorHeads({ db: database.db(service).pool, schema: service.replace("-", "_") as AuditSchema, signer: signers[service] }),
    ),
  );
  return found.flat();
};
const verify = (options: Partial<VerifyOptions> = {}) => verifyChain({ db: db.pool, schema, keptSince: new Date(0), keys, ...options });

/** Makes five batches; the other services anchored after the second and the fourth. */
async function chain(): Promise<void> {
  await seal(2);
  await anchorNow();
  await seal(2);
  await anchorNow();
  await seal(1);
}

/** Rewrites the chain consistently from one batch on, as somebody with every right could. */
async function rewrite(from: number, actor: string): Promise<void> {
  const batches = await readBatches(admin.pool, schema, { from: 1, to: 1_000 });
  let before = batches[from - 2];
  for (const batch of batches.slice(from - 1)) {
    const entries = await readEntries(admin.pool, schema, { from: batch.firstPosition, to: batch.lastPosition });
    const digests = entries.map((entry) => {
      const { position, digest: _digest, sealedAt: _sealedAt, ...stored } = entry;
      return digestOf(schema, position, { ...stored, actor } as StoredEntry);
    });
    const head = { ...batch, previousHash: before?.hash ?? Buffer.alloc(32) };
    const hash = batchHash(schema, head, digests);
    const hex = (bytes: Buffer) => `'\\x${bytes.toString("hex")}'::bytea`;
    await tamper(
      ...entries.map(
        ({ position }, i) =>
          `update audit_entries set actor = '${actor}', digest = ${hex(digests[i] as Buffer)} where position = ${position}`,
      ),
      `update audit_batches set hash = ${hex(hash)}, previous_hash = ${hex(head.previousHash)} where number = ${batch.number}`,
      `update audit_chain set hash = ${hex(hash)}`,
    );
    before = { ...batch, hash };
  }
}

const emptied = [
  "truncate audit_entries, audit_batches, audit_pending",
  "update audit_chain set number = 0, position = 0, hash = decode(repeat('00', 32), 'hex'), sealed_at = null",
];

describe("the anchors of other services", () => {
  test("confirm a chain up to their batch, once for each batch, however often it is read", async () => {
    expect(await verify()).toMatchObject({ valid: true, lastBatch: 0 });
    await chain();
    const found = await verify();
    expect(found).toMatchObject({ valid: true, complete: true, lastBatch: 5, entries: 10, missingMonths: [] });
    expect(found.vouched).toMatchObject({ batch: 4, position: 8, by: ["artifact_store", "rollout_engine"], signed: true });
    expect(await anchorNow()).toEqual([]);
    expect(await anchorNow()).toEqual([]);
    expect((await verify()).vouched).toMatchObject({ batch: 5, position: 10 });
    const rows = await admin.pool.query("select number from rollout_engine_audit.audit_anchors order by 1");
    expect(rows.rows.map(({ number }) => number)).toEqual([2, 4, 5]);
    expect((await verify({ newest: 2 })).vouched).toMatchObject({ batch: 5 });
  });

  test("are absent for a chain that no other service has read, and the answer says so", async () => {
    await seal(3);
    const found = await verify();
    expect(found).toMatchObject({ valid: true, lastBatch: 3 });
    expect(found).not.toHaveProperty("vouched");
  });

  test.each<[what: string, batch: number, vouched: number | undefined, change: () => Promise<void>]>([
    [
      "cut",
      4,
      2,
      () =>
        tamper(
          "delete from audit_entries where position > 6",
          "delete from audit_batches where number > 3",
          "update audit_chain c set number = 3, position = 6, hash = b.hash, sealed_at = b.sealed_at from audit_batches b where b.number = 3",
        ),
    ],
    ["emptied and begun anew", 1, undefined, () => tamper(...emptied)],
    [
      "emptied, and grown past where it was",
      2,
      undefined,
      async () => {
        await tamper(...emptied);
        await seal(7);
      },
    ],
    ["rewritten from its beginning", 2, undefined, () => rewrite(1, "nobody")],
    ["rewritten behind the first look", 4, 2, () => rewrite(3, "nobody")],
  ])("reveal a chain that was %s, and up to when it can be trusted", async (_what, batch, vouched, change) => {
    await chain();
    const [seen] = (await admin.pool.query("select sealed_at from management_audit.audit_batches where number = 2")).rows;
    await change();
    const found = await verify();
    expect([found.valid, found.broken?.batch]).toEqual([false, batch]);
    expect(found.vouched?.batch).toBe(vouched);
    if (vouched !== undefined) expect(found.vouched?.sealedAt).toBe(seen.sealed_at.getTime());
    // verifying only the newest part reveals it as well, if it reaches that far
    expect((await verify({ newest: 100 })).valid).toBe(false);
    // the verifier reports it at once
    expect((await anchorNow()).map(({ service }) => service)).toEqual([schema, schema]);
    expect((await verify()).valid).toBe(false);
  });

  test("leave later entries to the rights of the database alone, and say from when on", async () => {
    await chain();
    await rewrite(5, "nobody");
    const found = await verify();
    expect(found).toMatchObject({ valid: true, lastBatch: 5, vouched: { batch: 4 } });
  });

  test("count only with a valid signature if the keys are known, and must not be changed", async () => {
    await chain();
    await rewrite(3, "nobody");
    // somebody who also rewrites the anchors does not have the others' keys
    const [batch] = (await admin.pool.query("select hash from management_audit.audit_batches where number = 4")).rows;
    for (const of of ["rollout_engine", "artifact_store"])
      await tamper(`update ${of}_audit.audit_anchors set hash = '\\x${batch.hash.toString("hex")}' where number = 4`);
    expect(await verify()).toMatchObject({
      valid: false,
      broken: { batch: 4, reason: expect.stringContaining("was changed") },
      vouched: { batch: 2 },
    });
    expect(await verify({ keys: new Map() })).toMatchObject({ valid: false, vouched: { batch: 2 } });
    // neither unsigned anchors nor ones with another key replace them
    await tamper(
      ...["rollout_engine", "artifact_store"].map((of) => `update ${of}_audit.audit_anchors set public_key = null, signature = null`),
    );
    expect(await verify()).toMatchObject({ valid: true });
    expect(await verify()).not.toHaveProperty("vouched");
    const own = new Map([...keys].map(([service]) => [service, [Buffer.alloc(32, 9)]]));
    await anchorNow();
    expect(await verify({ keys: own })).toMatchObject({
      valid: false,
      broken: { batch: 5, reason: expect.stringContaining("not its own") },
    });
  });
});

test("an empty trail of a service that has been used is invalid, whatever else was removed", async () => {
  await chain();
  await tamper(...emptied, "truncate rollout_engine_audit.audit_anchors, artifact_store_audit.audit_anchors");
  expect(await verify({ used: false })).toMatchObject({ valid: true, lastBatch: 0 });
  expect(await verify({ used: true })).toMatchObject({ valid: false, broken: { batch: 1, reason: expect.stringContaining("empty") } });
});

test("a month whose partition is missing is reported", async () => {
  await seal(1);
  const month = new Date().toISOString().slice(0, 7).replace("-", "");
  await tamper(
    "update audit_batches set sealed_at = sealed_at",
    `alter table audit_entries detach partition audit_entries_p${month}`,
    `insert into audit_entries select * from audit_entries_p${month}`,
  );
  expect(await verify()).toMatchObject({ valid: true, missingMonths: [month] });
});
