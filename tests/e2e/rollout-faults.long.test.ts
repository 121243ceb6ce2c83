import { setTimeout as sleep } from "node:timers/promises";
import type { Stack } from "@harrier/stack";
import { twoOfEach } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ChaosRollout, startCommands } from "./support/chaos-commands.ts";
import { chaosEvidence, chaosSafety, seedFleet, startDevices } from "./support/chaos-fleet.ts";
import { countedEnds, nothingAwaited, violatedInvariants } from "./support/chaos-invariants.ts";
import { startKiller, testSeed } from "./support/random-kills.ts";
import { adminOf } from "./support/replicas.ts";
import { type ResilientAdmin, resilientAdmin } from "./support/resilient-admin.ts";
import { answering, startAnsweringStack } from "./support/serving.ts";

// `npm run e2e:faults`: a large rollout ends although everything that it depends on is killed, and although other commands interfere.
// All of its rollouts have a safety policy: claims are proven or refuted, silent devices are counted, and failures are tried again.
// HARRIER_TEST_SEED repeats the kills and the commands of an earlier run (not their exact moments, which depend on the machine).

const fromEnv = (name: string, otherwise: number) => Number(process.env[name] || otherwise);
const targets = fromEnv("HARRIER_TEST_TARGETS", 50_000);
const kills = fromEnv("HARRIER_TEST_KILLS", 20);
const victims = ["rollout-engine-0", "rollout-engine-1", "controller-0", "controller-1", "postgres"];
const setsForOthers = 30;
const limitMs = 600_000;

let stack: Stack;

beforeAll(async () => {
  // The deaths are intended, so only the table reports them.
  stack = await startAnsweringStack({ replicas: twoOfEach, print: () => undefined });
});
afterAll(() => stack?.stop());

interface View {
  id: number;
  status: string;
  totalTargetsPerStatus?: Record<string, number>;
  lastError?: unknown;
}
const over = new Set(["finished", "stopped", "deleted"]);

async function start(api: ResilientAdmin, setId: number): Promise<ChaosRollout> {
  const body = {
    name: "chaos",
    distributionSetId: setId,
    targetFilterQuery: "controllerid==chaos-*",
    amountGroups: 5,
    successCondition: { condition: "THRESHOLD", expression: "60" },
    errorCondition: { condition: "THRESHOLD", expression: "50" },
    startAt: 1,
    safety: chaosSafety,
  };
  const { id } = await api.create<View>("rollouts", body, async () => undefined);
  return { id, setId };
}

/** Reads the status; a rollout that was deleted before it began is gone. */
async function statusOf(api: ResilientAdmin, id: number): Promise<string> {
  const { answer } = await api.settle<View>(`rollouts/${id}`);
  return answer.status === 404 ? "deleted" : answer.body.status;
}

/** Resumes what the chaos left paused; resolves when no work is left. */
async function calmDown(api: ResilientAdmin, rollouts: readonly ChaosRollout[]): Promise<Record<string, number>> {
  const until = Date.now() + limitMs;
  for (;;) {
    const statuses: Record<string, number> = {};
    for (const { id } of rollouts) {
      const status = await statusOf(api, id);
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status === "paused") await api.settle(`rollouts/${id}/resume`, { method: "POST" });
    }
    if (Object.keys(statuses).every((status) => over.has(status))) return statuses;
    if (Date.now() > until) throw new Error(`not over: ${JSON.stringify(statuses)}`);
    await sleep(500);
  }
}

test(`${kills} times kill -9 in a rollout of ${targets.toLocaleString("en")} targets`, async () => {
  const seed = testSeed();
  const admin = adminOf(stack);
  await admin.configure("evidence.default", JSON.stringify(chaosEvidence));
  const module = await admin.createModule();
  const sets: number[] = [];
  for (let n = 0; n <= setsForOthers; n += 1) sets.push((await admin.createSet([module.id])).id);
  await seedFleet(stack, targets);
  const api = resilientAdmin(stack);
  const began = Date.now();
  const main = await start(api, sets[0] as number);
  const killer = startKiller(stack, { seed, count: kills, among: victims, cooldownMs: [500, 6_000] });
  // The work lasts as long as the kills, so that these are spread over the whole life of the rollout.
  const allowed = () => (killer.killed.length >= kills ? Number.POSITIVE_INFINITY : ((killer.killed.length + 1) / (kills + 1)) * targets);
  const devices = startDevices(stack, main.id, allowed);
  const commands = startCommands(api, main, sets.slice(1), seed, chaosSafety);
  try {
    await killer.done;
    await commands.stop();
    const statuses = await calmDown(api, [main, ...commands.rollouts]);
    await answering(stack);
    await nothingAwaited(stack, limitMs);
    const view = await api.get<View>(`rollouts/${main.id}`);
    console.table({ seed, targets, seconds: Math.round((Date.now() - began) / 1_000), reports: devices.reports });
    console.table(
      Object.entries(Object.groupBy(killer.killed, (name) => name)).map(([name, all]) => ({ killed: name, times: all?.length })),
    );
    console.table(Object.entries(commands.tally).map(([command, times]) => ({ command, ...times })));
    console.table({ "all rollouts": statuses, "the large one": { [view.status]: 1, ...view.totalTargetsPerStatus } });
    const ends = await countedEnds(stack, main.id);
    console.table({ "how its actions ended": ends });
    // Without these the policy would not have been put to the test.
    for (const kind of ["proven", "refuted", "tried again", "silent once"] as const) expect(ends[kind], kind).toBeGreaterThan(0);
    expect(view).toMatchObject({ status: "finished", totalTargetsPerStatus: { running: 0, scheduled: 0, notstarted: 0 } });
    expect(view.lastError).toBeUndefined();
  } finally {
    await killer.stop();
    await commands.stop().catch(() => undefined);
    await devices.stop();
  }
  expect(await violatedInvariants(stack, main.id, targets), `seed ${seed}`).toEqual([]);
});
