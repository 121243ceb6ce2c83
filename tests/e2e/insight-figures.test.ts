import type { ServiceName, Stack } from "@harrier/stack";
import { type Admin, eventually, send, withClient } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { figuresOf } from "./support/insight-figures.ts";
import { kindsOfSteps, passesBySql } from "./support/insight-history.ts";
import { numbersFrom, testSeed } from "./support/random-kills.ts";
import { adminOf, allowTargetTokens } from "./support/replicas.ts";
import { answering, startAnsweringStack } from "./support/serving.ts";

// The figures of insights equal a brute-force count over a random history in which services are killed (contract management.md §10.6, console.md M19).

const kills = 4;
/** So many steps at most before each kill, and as many after the last one: none of them may fail. */
const stepsBetween = 12;
/** So many steps while the killed service starts again. */
const stepsInKill = 8;
const settleMs = 90_000;
/** Those that change what insights count, or count it. */
const victims: readonly ServiceName[] = ["controller", "management", "rollout-engine", "artifact-store"];

let stack: Stack;
let admin: Admin;

beforeAll(async () => {
  stack = await startAnsweringStack();
  admin = adminOf(stack);
  await allowTargetTokens(stack);
  const earlier = "update controller.monthly_counts_folded set began_at = began_at - $1::interval";
  await withClient(stack.adminDatabaseUrl as string, (client) => client.query(earlier, [passesBySql]));
});
afterAll(() => stack?.stop());

/** Waits until a request of each kind is answered again: by every owner, to an administrator and to a device. */
async function isOver(): Promise<void> {
  await answering(stack);
  await eventually(async () => {
    await admin.get("rollouts?limit=1");
    const { controllerId, securityToken } = await admin.createTarget();
    const headers = { authorization: `TargetToken ${securityToken}` };
    expect((await send(`${stack.baseUrl}/DEFAULT/controller/v1/${controllerId}`, { headers })).status).toBe(200);
  });
}

test("whatever happens, and whichever service dies meanwhile, each figure is that of a count by hand", async () => {
  const seed = testSeed();
  const random = numbersFrom(seed);
  const below = (n: number) => Math.floor(random() * n);
  const sent = { bytes: 0, cut: 0 };
  const kinds = await kindsOfSteps({ stack, admin, random, sent });
  const { told, counted, traffic } = figuresOf(stack, admin);
  const names = Object.keys(kinds) as (keyof typeof kinds)[];
  const done = new Map<string, number>();
  const run = async (name: keyof typeof kinds) => {
    await kinds[name]();
    done.set(name, (done.get(name) ?? 0) + 1);
  };
  const anyKind = () => names[below(names.length)] as keyof typeof kinds;

  /** What had been sent and was not written when artifact-store was killed last: as much of it as the process had in memory is lost. */
  let unwritten = 0;
  const kill = async () => {
    const victim = victims[below(victims.length)] as ServiceName;
    const written = victim === "artifact-store" ? await traffic() : undefined;
    stack.kill(victim, 0, "SIGKILL");
    if (written !== undefined) unwritten = sent.bytes - written;
  };

  for (const name of names) await run(name);
  for (let n = 0; n < kills; n++) {
    for (let step = below(stepsBetween); step >= 0; step--) await run(anyKind());
    await kill();
    // What meets a dead service is refused, or done without an answer: the count by hand knows which.
    for (let step = 0; step < stepsInKill; step++) await run(anyKind()).catch(() => undefined);
    await isOver();
  }
  for (let step = 0; step < stepsBetween; step++) await run(anyKind());
  await eventually(async () => expect(await told(), `seed ${seed}`).toEqual(await counted()), settleMs, 250);
  await eventually(async () => expect(await traffic(), `seed ${seed}`).toBeGreaterThanOrEqual(sent.bytes - unwritten), settleMs, 50);
  expect(await traffic(), `seed ${seed}`).toBeLessThanOrEqual(sent.bytes + sent.cut);
  expect([...done.keys()].sort()).toEqual(names.toSorted());
  expect((await counted()).actionsOfMonth.count).toBeGreaterThan(0);
});
