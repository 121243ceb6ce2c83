import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Bench } from "../lib/context.ts";
import { cpuSeconds, cpuSecondsWithEnded, ownCpuSeconds, peakMiB } from "../lib/cpu.ts";
import { load } from "../lib/load.ts";
import { makeRollout, nearThreshold, type RolloutRun, runAllGroups, startFirstGroup, untilRow } from "../lib/rollout-run.ts";
import { seedFleet, seedSet, targetTokenHeader } from "../lib/seed.ts";
import { openRawRows } from "../limits/raw-rows.ts";
import { benchPollsWithReports } from "./rollout-polls.ts";

/** A step may take this many times the raw writing of its rows, and one second. */
const factor = 3;
const allowance = 1;
/** The limits of the engine: CPU of a whole rollout, and what a million targets may add to the memory that a small rollout needs. */
const engineCpu = { fixed: 1, perGroup: 0.2 };
const engineMemoryMiB = 64;
/** The limit for CPU of the database for a whole rollout, as a multiple of the raw writing of its rows. */
const databaseFactor = 4;
const pausedWithinSeconds = 2;
/** The memory of the large rollout is compared with that of one with this many targets. */
const smallTargets = 10_000;
/** This many devices of no rollout poll meanwhile. */
const bystanders = 20_000;
/** This is above every id that services assign. */
const firstId = 1_500_000_000;

interface Watched {
  engine: number;
  database: number;
}

/** Compares a rollout over N targets with the raw writing of its rows: its creation, its start, its costs, and what others notice of it. */
export async function benchRollout(bench: Bench): Promise<void> {
  const { targets } = bench.options;
  const url = bench.stack.adminDatabaseUrl ?? "";
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const raw = await openRawRows(url);
  try {
    await bench.api.put("/system/configs/authentication.targettoken.enabled", { value: true });
    await seedFleet(client, { prefix: "small-", count: smallTargets, firstId });
    await seedFleet(client, { prefix: "beside-", count: bystanders, firstId: firstId + 50_000 });
    await seedFleet(client, { prefix: "large-", count: targets, firstId: firstId + 100_000 });
    const small = await wholeRollout(bench, client, "small-", smallTargets);
    const memoryBefore = enginePeak(bench);
    const large = await wholeRollout(bench, client, "large-", targets);
    const scenario = `rollout of ${targets.toLocaleString("en")}`;
    await addTimes(bench, scenario, { raw, large });
    await addCosts(bench, scenario, { raw, large, small, memoryBefore });
    await addPaused(bench, client, scenario, large.run);
    await benchPollsWithReports(bench, client, { scenario, targets, bystanders });
  } finally {
    await raw.close();
    await client.end();
  }
}

interface Whole {
  run: RolloutRun;
  firstGroupSeconds: number;
  cpu: Watched;
}

/** Measures the time from POST until every action is started; devices report just enough that every group begins. */
async function wholeRollout(bench: Bench, client: pg.Client, prefix: string, targets: number): Promise<Whole> {
  const set = await seedSet(bench.api, `rollout-set-${prefix}`);
  const own = (await client.query<{ pid: number }>("select pg_backend_pid() as pid")).rows[0]?.pid ?? 0;
  const before = watch(bench, own);
  const run = await makeRollout(bench, client, { prefix, setId: set.id, targets });
  const firstGroupSeconds = await startFirstGroup(bench, client, run);
  await confirmOffered(bench, client, run);
  await runAllGroups(client, run);
  const after = watch(bench, own);
  return { run, firstGroupSeconds, cpu: { engine: after.engine - before.engine, database: after.database - before.database } };
}

const enginesOf = (bench: Bench) => bench.groups().filter(({ name }) => name.startsWith("rollout-engine"));
const databaseOf = (bench: Bench) => bench.groups().filter(({ name }) => name === "postgres");
const sum = (values: Iterable<number>): number => [...values].reduce((a, b) => a + b, 0);
const enginePeak = (bench: Bench): number => Math.max(...enginesOf(bench).flatMap(({ pids }) => pids.map(peakMiB)));

/** Reads the CPU seconds so far; the harness's own statements on connection `own` do not count. */
function watch(bench: Bench, own: number): Watched {
  return {
    engine: sum(cpuSeconds(enginesOf(bench)).values()),
    database: sum(cpuSecondsWithEnded(databaseOf(bench)).values()) - ownCpuSeconds(own),
  };
}

async function addTimes(
  bench: Bench,
  scenario: string,
  { raw, large }: { raw: Awaited<ReturnType<typeof openRawRows>>; large: Whole },
): Promise<void> {
  const { run } = large;
  const add = (figure: string, value: number, rawSeconds: number) => {
    const budget = factor * rawSeconds + allowance;
    const limit = `raw ${rawSeconds.toFixed(2)} s, budget ${budget.toFixed(2)} s`;
    bench.report.add({ scenario, figure, value, unit: "s", limit, ok: value <= budget });
  };
  add("POST → ready", run.readySeconds, await raw.ready(run.id));
  add("start → first group offered", large.firstGroupSeconds, await raw.firstGroup(run.id, run.firstGroupId));
}

async function addCosts(
  bench: Bench,
  scenario: string,
  { raw, large, small, memoryBefore }: { raw: Awaited<ReturnType<typeof openRawRows>>; large: Whole; small: Whole; memoryBefore: number },
): Promise<void> {
  const { add } = bench.report;
  const { groups, id } = large.run;
  const budget = engineCpu.fixed + engineCpu.perGroup * groups;
  const ofSmall = `${small.cpu.engine.toFixed(2)} s with ${smallTargets.toLocaleString("en")} targets`;
  const { engine, database } = large.cpu;
  const figure = `engine CPU, ${groups} groups`;
  add({ scenario, figure, value: engine, unit: "s", limit: `budget ${budget.toFixed(1)} s; ${ofSmall}`, ok: engine <= budget });
  const peak = enginePeak(bench);
  const max = memoryBefore + engineMemoryMiB;
  const limit = `budget ${max.toFixed(0)} MiB; ${memoryBefore.toFixed(0)} with ${smallTargets.toLocaleString("en")} targets`;
  add({ scenario, figure: "engine memory, peak", value: peak, unit: "MiB", limit, ok: peak <= max });
  const rawCpu = await raw.wholeCpu(id, () => sum(cpuSecondsWithEnded(databaseOf(bench)).values()));
  add({ scenario, figure: "database CPU", value: database, unit: "s", limit: `raw ${rawCpu.toFixed(1)} s` });
  const ratio = database / rawCpu;
  const times = { unit: "×", limit: `budget ${databaseFactor}×`, ok: ratio <= databaseFactor };
  add({ scenario, figure: "database CPU by the raw writing's", value: ratio, ...times });
}

/** Measures the time from the one report that exceeds the threshold until the rollout is paused. */
async function addPaused(bench: Bench, client: pg.Client, scenario: string, run: RolloutRun): Promise<void> {
  const { controllerId, actionId } = await nearThreshold(client, run);
  await sleep(1_000); // the engine has seen what came before
  const path = `/DEFAULT/controller/v1/${controllerId}/deploymentBase/${actionId}/feedback`;
  const headers = { authorization: targetTokenHeader(controllerId), "content-type": "application/json" };
  const body = JSON.stringify({ status: { execution: "closed", result: { finished: "failure" } } });
  const from = performance.now();
  const answer = await load({
    url: bench.stack.baseUrl,
    connections: 1,
    requests: 1,
    expect: 200,
    next: () => ({ path, method: "POST", headers, body }),
  });
  if (answer.bad > 0) throw new Error("the report that breaks the threshold was refused");
  await untilRow(client, "select from rollout_engine.rollouts where tenant_id = 1 and id = $1 and status = 'paused'", [run.id], 5);
  const value = (performance.now() - from) / 1_000;
  const limit = `budget ${pausedWithinSeconds} s`;
  bench.report.add({ scenario, figure: "report over the threshold → paused", value, unit: "s", limit, ok: value <= pausedWithinSeconds });
}

/** Checks that the counters match what devices see. */
async function confirmOffered(bench: Bench, client: pg.Client, run: RolloutRun): Promise<void> {
  const { rows } = await client.query<{ id: string }>(
    "select controller_id as id from controller.actions where tenant_id = 1 and rollout_id = $1 and group_id = $2 order by target_id limit 200",
    [run.id, run.firstGroupId],
  );
  for (const { id } of rows.slice(0, 3)) {
    const answer = await fetch(`${bench.stack.baseUrl}/DEFAULT/controller/v1/${id}`, { headers: { authorization: targetTokenHeader(id) } });
    const links = ((await answer.json()) as { _links?: Record<string, unknown> })._links;
    if (links?.["deploymentBase"] === undefined) throw new Error(`${id} is not offered its update`);
  }
  const next = (i: number) => {
    const id = rows[i]?.id as string;
    return { path: `/DEFAULT/controller/v1/${id}`, headers: { authorization: targetTokenHeader(id) } };
  };
  const result = await load({ url: bench.stack.baseUrl, connections: 8, requests: rows.length, expect: 200, next });
  if (result.bad > 0) throw new Error("devices of the first group could not poll");
}
