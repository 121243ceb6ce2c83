import { setTimeout as sleep } from "node:timers/promises";
import type { Stack } from "@harrier/stack";
import { type Admin, basic, createAdmin, eventually, uniqueName, withClient } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { adminOf, basicOf, replicaOf } from "./support/replicas.ts";
import { startAnsweringStack } from "./support/serving.ts";

// One tenant asks for the most expensive lists that it can; other tenants must not notice.

const fleet = 20_000;
/** In this half kilobyte every part of the pattern is found again and again, except its end. */
const description = "ab zq".repeat(100);
const pattern = "description==*a*b*zz*q*i";
const attackers = 12;
const bystanders = 8;
let stack: Stack;
let hostile: { authorization: string; admin: Admin };

beforeAll(async () => {
  stack = await startAnsweringStack({});
  const name = uniqueName("hostile");
  const [made] = await adminOf(stack).post<{ administrator: { password: string } }[]>("system/tenants", [
    { name, administrator: { name: "boss" } },
  ]);
  const user = `${name}\\boss`;
  const password = made?.administrator.password as string;
  const admin = createAdmin({ baseUrl: stack.baseUrl, user, password });
  hostile = { admin, authorization: basic(user, password) };
  for (let first = 0; first < fleet; first += 1_000) {
    const targets = Array.from({ length: 1_000 }, (_, i) => ({ controllerId: `t${first + i}`, name: `t${first + i}`, description }));
    await admin.post("targets", targets);
  }
  // These users sign in for the first time below.
  const users = Array.from({ length: bystanders }, (_, n) => ({
    name: `bystander-${n}`,
    password: "a-quiet-bystander",
    permissions: ["READ_TARGET"],
  }));
  await adminOf(stack).post("users", users);
  await adminOf(stack).createTarget();
}, 180_000);
afterAll(() => stack?.stop());

const api = "/api/mgmt/v1";
const urlOf = (q: string): string => `${stack.baseUrl}${api}/targets?q=${encodeURIComponent(q)}`;
const asHostile = (q: string, signal?: AbortSignal): Promise<Response> =>
  fetch(urlOf(q), { headers: { authorization: hostile.authorization }, ...(signal && { signal }) });

/** Reads the statements of the attack that the database executes now, each by its process and its begin. */
async function executed(): Promise<string[]> {
  const rows = await withClient(stack.adminDatabaseUrl as string, async (client) => {
    const found = await client.query<{ one: string }>(
      `select pid || ' ' || query_start as one from pg_stat_activity
        where state = 'active' and backend_type = 'client backend' and pid <> pg_backend_pid() and query like '%like lower(%' and query like '%description%'`,
    );
    return found.rows;
  });
  return rows.map(({ one }) => one);
}

test("a query of patterns that no index supports is denied before it is executed", async () => {
  const answer = await asHostile(Array(200).fill(pattern).join(","));
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({
    errorCode: "hawkbit.server.error.rest.param.rsqlParamSyntax",
    message: expect.stringContaining("more than 10 patterns"),
  });
});

test("expensive lists that one tenant requests and abandons repeatedly delay no other tenant, and leave nothing behind", async () => {
  const dearest = Array.from({ length: 10 }, (_, n) => `description==*a*b*zz*q*${n}`).join(",");
  let over = false;
  let max = 0;
  const attack = Array.from({ length: attackers }, async () => {
    while (!over)
      await asHostile(dearest, AbortSignal.timeout(500)).then(
        (answer) => answer.body?.cancel(),
        () => undefined,
      );
  });
  const watch = (async () => {
    let before: string[] = [];
    while (!over) {
      const now = await executed();
      // A process that just ends a cancelled statement is still active for a moment, so a statement counts only if the next reading finds it too.
      max = Math.max(max, now.filter((one) => before.includes(one)).length);
      before = now;
      await sleep(50);
    }
  })();
  await eventually(async () => expect((await executed()).length).toBeGreaterThan(0));

  const outcomes: number[] = [];
  for (let n = 0; n < bystanders; n += 1) {
    // A user of another tenant reads a list, and another user of it signs in for the first time.
    const list = await fetch(`${stack.baseUrl}${api}/targets?q=createdat=gt=0`, { headers: { authorization: basicOf(stack) } });
    const authorization = basic(`bystander-${n}`, "a-quiet-bystander");
    const signIn = await fetch(`${stack.baseUrl}${api}/userinfo`, { headers: { authorization } });
    const ready = await fetch(`http://127.0.0.1:${replicaOf(stack, "management").httpPort}/readyz`);
    outcomes.push(list.status, signIn.status, ready.status);
  }
  over = true;
  await Promise.all([...attack, watch]);

  expect(outcomes).toEqual(Array(bystanders * 3).fill(200));
  // At most three of the ten connections of management are in use.
  expect(max).toBeGreaterThan(0);
  expect(max).toBeLessThanOrEqual(3);
  await eventually(async () => expect(await executed()).toEqual([]), 3_000);
  // The tenant itself is served as before.
  expect((await asHostile("name==t1*")).status).toBe(200);
}, 60_000);
