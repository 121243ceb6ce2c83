import pg from "pg";
import type { Bench } from "../lib/context.ts";
import { cpuSecondsWithEnded, difference, type ProcessGroup, total } from "../lib/cpu.ts";
import { type CycleRequest, cycleRequest, runCycles } from "../lib/device-cycle.ts";
import { type LoadRequest, load } from "../lib/load.ts";
import { answerRollout, makeRollout, startRollout } from "../lib/rollout-run.ts";
import { assign, type SeededSet, seedSet, seedTargets } from "../lib/seed.ts";
import { median, medianRatio } from "../lib/statistics.ts";
import { type BareChain, startBareChain } from "../limits/bare-chain.ts";

const connections = 32;
/** So many devices make each of the four requests in one round. */
const perRound = 2_000;
const kinds: readonly CycleRequest[] = ["poll", "deployment", "report", "last report"];
/** A cycle of four requests may cost this many times the CPU of four requests to the bare chain, which do nothing: 1.6 ms where one of those costs 0.19 ms. */
const cycleBudget = 2.1;

const rolloutTargets = 10_000;
const rolloutGroups = 10;
/** A rollout may take this many times as long as the same devices' cycles without one, and the time of a change for each group. */
const rolloutFactor = 1.25;
const perGroupSeconds = 0.15;

/** Measures the requests of an update kind by kind, whole updates, and a rollout whose devices answer at once. */
export async function benchCycle(bench: Bench): Promise<void> {
  const set = await seedSet(bench.api, "cycle-set");
  await benchRequests(bench, set);
  await benchDownloads(bench, set);
  await benchAnsweredRollout(bench);
}

/** Measures the CPU of each kind of request, each round of them beside a round of the bare chain. */
async function benchRequests(bench: Bench, set: SeededSet): Promise<void> {
  const { api, options, report } = bench;
  const ids = await seedTargets(api, "cycle-", perRound * (options.rounds + 1));
  await pollOnce(bench, ids);
  const actions = await assign(api, set.id, ids);
  const bare = await startBareChain();
  try {
    const costs = new Map<CycleRequest, number[]>(kinds.map((kind) => [kind, []]));
    const limits: number[] = [];
    for (let round = 0; round <= options.rounds; round += 1) {
      const now = ids.slice(round * perRound, (round + 1) * perRound);
      const limit = await costOfBare(bare);
      const cost = new Map<CycleRequest, number>();
      for (const kind of kinds) {
        const next = (i: number) => cycleRequest(kind, now[i] as string, actions.get(now[i] as string) ?? 0);
        cost.set(kind, await costOf({ url: bench.stack.baseUrl, groups: bench.groups(), next }));
      }
      if (round === 0) continue; // connections, compiled code and prepared statements are warm before anything counts
      limits.push(limit);
      for (const [kind, ms] of cost) costs.get(kind)?.push(ms);
    }
    const scenario = "requests of an update";
    for (const [kind, found] of costs) {
      report.add({ scenario, figure: `CPU per ${kind}, all processes`, value: median(found), unit: "ms" });
      report.add({ scenario, figure: "  by the bare chain's", value: medianRatio(found, limits), unit: "×" });
    }
    const whole = limits.map((_, round) => [...costs.values()].reduce((sum, found) => sum + (found[round] ?? Number.NaN), 0));
    const four = limits.map((limit) => kinds.length * limit);
    const ratio = medianRatio(whole, four);
    report.add({
      scenario,
      figure: "CPU of the four",
      value: median(whole),
      unit: "ms",
      limit: `four of the bare chain ${median(four).toFixed(3)} ms`,
    });
    report.add({
      scenario,
      figure: "  by the bare chain's",
      value: ratio,
      unit: "×",
      limit: `budget ${cycleBudget}×`,
      ok: ratio <= cycleBudget,
    });
  } finally {
    bare.stop();
  }
}

function costOfBare(bare: BareChain): Promise<number> {
  const next = () => cycleRequest("poll", "device", 0);
  return costOf({ url: bare.url, groups: [{ name: "bare", pids: bare.pids }], next });
}

/** The first poll of a device costs more than all that follow, and belongs to no update. */
async function pollOnce({ stack }: Bench, ids: readonly string[]): Promise<void> {
  const next = (i: number) => cycleRequest("poll", ids[i] as string, 0);
  const result = await load({ url: stack.baseUrl, connections, requests: ids.length, expect: 200, next });
  if (result.bad > 0) throw new Error(`${result.bad} of ${ids.length} first polls were not answered 200`);
}

/** Answers the CPU milliseconds of one request of a round. */
async function costOf(from: { url: string; groups: readonly ProcessGroup[]; next(i: number): LoadRequest }): Promise<number> {
  const before = cpuSecondsWithEnded(from.groups);
  const result = await load({ url: from.url, connections, requests: perRound, expect: 200, next: from.next });
  if (result.bad > 0) throw new Error(`${result.bad} of ${perRound} answers were not 200`);
  return (total(difference(cpuSecondsWithEnded(from.groups), before)) * 1_000) / perRound;
}

async function benchDownloads(bench: Bench, set: SeededSet): Promise<void> {
  const { api, report, stack } = bench;
  const ids = await seedTargets(api, "download-", perRound);
  await pollOnce(bench, ids);
  const actions = await assign(api, set.id, ids);
  const groups = bench.groups();
  const before = cpuSecondsWithEnded(groups);
  const from = performance.now();
  await runCycles({ url: stack.baseUrl, ids, actions, set });
  const seconds = (performance.now() - from) / 1_000;
  const cpu = total(difference(cpuSecondsWithEnded(groups), before));
  const scenario = "device cycle";
  report.add({
    scenario,
    figure: "poll, deployment, 2 reports, 64 KiB download, final report",
    value: ids.length / seconds,
    unit: "cycles/s",
  });
  report.add({ scenario, figure: "CPU per cycle, all processes", value: (cpu * 1_000) / ids.length, unit: "ms" });
}

/** Measures a rollout from its start to its end beside the same devices' cycles by a plain assignment. */
async function benchAnsweredRollout(bench: Bench): Promise<void> {
  const { api, report, stack } = bench;
  const client = new pg.Client({ connectionString: stack.adminDatabaseUrl ?? "" });
  await client.connect();
  try {
    const ids = await seedTargets(api, "answering-", rolloutTargets);
    await pollOnce(bench, ids);
    const [first, second] = [await seedSet(api, "answered-first"), await seedSet(api, "answered-second")];
    const cycle = { url: stack.baseUrl, downloads: false, once: true } as const;
    const actions = await assign(api, first.id, ids);
    const began = performance.now();
    await runCycles({ ...cycle, ids, actions, set: first });
    const plain = (performance.now() - began) / 1_000;
    const run = await makeRollout(bench, client, {
      prefix: "answering-",
      setId: second.id,
      targets: rolloutTargets,
      groups: rolloutGroups,
    });
    const started = performance.now();
    await startRollout(bench, run);
    await answerRollout(client, run, (offered) => runCycles({ ...cycle, ids: [...offered.keys()], actions: offered, set: second }));
    const value = (performance.now() - started) / 1_000;
    const budget = rolloutFactor * plain + perGroupSeconds * rolloutGroups;
    const limit = `the same cycles without it ${plain.toFixed(1)} s, budget ${budget.toFixed(1)} s`;
    const figure = `${rolloutTargets.toLocaleString("en")} devices in ${rolloutGroups} groups, start → finished`;
    report.add({ scenario: "rollout whose devices answer at once", figure, value, unit: "s", limit, ok: value <= budget });
  } finally {
    await client.end();
  }
}
