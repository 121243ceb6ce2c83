import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { verifyChain } from "@harrier/audit";
import { createDatabase, type Database } from "@harrier/db";
import type { Stack } from "@harrier/stack";
import { eventually, uniqueName } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { adminOf, basicOf } from "./support/replicas.ts";
import { answering, serving, startAnsweringStack } from "./support/serving.ts";

// A committed change has its entry in the audit trail, whatever happens to the process afterwards (contract extensions.md, Audit).

let stack: Stack;
let db: Database;

beforeAll(async () => {
  stack = await startAnsweringStack();
  db = createDatabase({ url: stack.databaseUrls.management, applicationName: "harrier/e2e", max: 2 });
});
afterAll(async () => {
  await db?.close();
  await stack?.stop();
});

const rowsOf = async (from: string, rid: string) =>
  (await db.pool.query(`select action, actor, result, source_ip from ${from} where request_id = $1`, [rid])).rows;

test("a process that is killed between a change and its answer leaves the change and its entry", { timeout: 240_000 }, async () => {
  const [name, rid] = [uniqueName("user"), uniqueName("rid")];
  await stack.restart("management", 0, "management.audit.before-end:1");
  await serving(stack.services);
  // The gateway must have reached management again, or the request does not reach the fault; a reading does not spend it.
  await eventually(() => adminOf(stack).get("users?limit=1"), 20_000);
  const answer = await fetch(`${stack.baseUrl}/api/mgmt/v1/users`, {
    method: "POST",
    headers: { authorization: basicOf(stack), "content-type": "application/json", "x-request-id": rid },
    body: JSON.stringify([{ name }]),
  });
  expect(answer.status).toBeGreaterThanOrEqual(500);
  // The process restarts without the fault.
  await answering(stack);
  // The change was committed, and its caller never got an answer.
  expect(await adminOf(stack).get(`users?q=name==${name}`)).toMatchObject({ total: 1 });
  expect(await rowsOf("audit_pending", rid)).toEqual([{ action: "users.create", actor: "admin", result: null, source_ip: "127.0.0.1" }]);
  // The two minutes are over in which the call might still have ended.
  await db.pool.query("update audit_pending set seen_at = now() - interval '3 minutes' where request_id = $1", [rid]);
  await eventually(async () => expect(await rowsOf("audit_entries", rid)).toMatchObject([{ action: "users.create", result: "UNKNOWN" }]));
  expect(await adminOf(stack).get(`audit?q=requestid==${rid}`)).toMatchObject({ total: 1, content: [{ result: "UNKNOWN", sealed: true }] });
  for (const schema of ["management", "rollout_engine", "artifact_store"] as const)
    expect(await verifyChain({ db: db.pool, schema })).toMatchObject({ valid: true, complete: true });
});

interface Answer {
  valid: boolean;
  services: {
    service: string;
    valid: boolean;
    lastBatch: number;
    reason?: string;
    vouched?: { batch: number; by: string[]; signed: boolean };
  }[];
}
const verified = async () => (await adminOf(stack).get("audit/verify")) as unknown as Answer;
const change = () => adminOf(stack).post("users", [{ name: uniqueName("user") }]);

test("emptying a trail with every right in the database is detected, and nothing of it is reported as verified", {
  timeout: 120_000,
}, async () => {
  await change();
  // The other services check every ten seconds.
  await eventually(async () => {
    const [management] = (await verified()).services;
    expect(management?.vouched?.batch).toBe(management?.lastBatch);
    expect(management?.vouched).toMatchObject({ by: ["artifact-store", "rollout-engine"], signed: true });
  }, 40_000);
  const before = await verified();
  expect(before.valid).toBe(true);
  // The service itself cannot empty it.
  await expect(db.pool.query("truncate management_audit.audit_entries")).rejects.toMatchObject({ code: "42501" });
  const admin = createDatabase({ url: stack.adminDatabaseUrl as string, applicationName: "harrier/e2e", max: 1 });
  try {
    await admin.pool.query(
      `begin; set local session_replication_role = replica;
       truncate management_audit.audit_entries, management_audit.audit_batches;
       update management_audit.audit_chain set number = 0, position = 0, hash = decode(repeat('00', 32), 'hex'), sealed_at = null; commit`,
    );
  } finally {
    await admin.close();
  }
  const after = await verified();
  expect(after.valid).toBe(false);
  expect(after.services[0]).toMatchObject({ service: "management", valid: false });
  expect(after.services[0]).not.toHaveProperty("vouched");
  // The chain continues consistently, and the loss stays detected, by the operator's command as well.
  await change();
  expect((await verified()).valid).toBe(false);
  const told = await promisify(execFile)(process.execPath, ["apps/management/dist/audit-verify.js"], {
    env: { ...process.env, HARRIER_DATABASE_URL: stack.databaseUrls.management },
  }).then(
    () => ({ code: 0, stdout: "" }),
    (error: { code: number; stdout: string }) => error,
  );
  expect(told.code).toBe(1);
  expect(JSON.parse(told.stdout.split("\n")[0] as string)).toMatchObject({
    schema: "management",
    valid: false,
    broken: { batch: expect.any(Number) },
  });
});
