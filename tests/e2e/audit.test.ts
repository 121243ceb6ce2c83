import { verifyChain } from "@harrier/audit";
import { createDatabase, type Database } from "@harrier/db";
import type { Stack } from "@harrier/stack";
import { eventually, uniqueName } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { adminOf, basicOf } from "./support/replicas.ts";
import { answering, serving, startAnsweringStack } from "./support/serving.ts";

// contract extensions.md, Audit: a change that was committed has its entry, whatever happens to the process then

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
  const answer = await fetch(`${stack.baseUrl}/api/mgmt/v1/users`, {
    method: "POST",
    headers: { authorization: basicOf(stack), "content-type": "application/json", "x-request-id": rid },
    body: JSON.stringify([{ name }]),
  });
  expect(answer.status).toBeGreaterThanOrEqual(500);
  // it comes back without the fault
  await answering(stack);
  // it was committed, and its caller was never told
  expect(await adminOf(stack).get(`users?q=name==${name}`)).toMatchObject({ total: 1 });
  expect(await rowsOf("audit_pending", rid)).toEqual([{ action: "users.create", actor: "admin", result: null, source_ip: "127.0.0.1" }]);
  // the two minutes in which it might still have come back
  await db.pool.query("update audit_pending set seen_at = now() - interval '3 minutes' where request_id = $1", [rid]);
  await eventually(async () => expect(await rowsOf("audit_entries", rid)).toMatchObject([{ action: "users.create", result: "UNKNOWN" }]));
  expect(await adminOf(stack).get(`audit?q=requestid==${rid}`)).toMatchObject({ total: 1, content: [{ result: "UNKNOWN", sealed: true }] });
  for (const schema of ["management", "rollout_engine", "artifact_store"] as const)
    expect(await verifyChain({ db: db.pool, schema })).toMatchObject({ valid: true, complete: true });
});
