import pg from "pg";
import type { Bench } from "../lib/context.ts";
import { cpuSecondsWithEnded, difference, total } from "../lib/cpu.ts";
import { runCycles } from "../lib/device-cycle.ts";
import { entriesOfUpdates, oneUpdate, settleHistory, updatesPerTarget } from "../lib/history.sql.ts";
import { type LoadResult, load } from "../lib/load.ts";
import { assign, type SeededSet, seedFleet, seedSet, targetTokenHeader } from "../lib/seed.ts";

const connections = 32;
const requests = 60_000;
const cycles = 4_000;
/** A fleet is planned for this share of what the machine can do, and measured there for so long. */
const share = 0.5;
const steadySeconds = 30;
/** A history costs polls and updates of devices this share of their number at most. */
const withHistory = 0.9;
/** This is above every id that services assign. */
const firstId = 1_000_000_000;
const prefix = "scale-";
const intervals = [
  { text: "a minute", seconds: 60 },
  { text: "five minutes", seconds: 300 },
  { text: "an hour", seconds: 3_600 },
];

interface Stage {
  readonly polls: number;
  readonly cycles: number;
}

/**
 * Measures what one machine with one primary carries: polls of a large fleet in random order, updates of its devices, and the bytes of both, at first
 * without a history and then with one.
 */
export async function benchScale(bench: Bench): Promise<void> {
  const targets = Math.min(bench.options.fleet, 1_000_000);
  const client = new pg.Client({ connectionString: bench.stack.adminDatabaseUrl ?? "" });
  await client.connect();
  try {
    await bench.api.put("/system/configs/authentication.targettoken.enabled", { value: true });
    await seedFleet(client, { prefix, count: targets, firstId });
    await client.query(
      `insert into controller.target_polls (tenant_id, target_id, last_poll_at)
       select 1, t.id, now() - (t.id % 300) * interval '1 second' from controller.targets t where t.tenant_id = 1`,
    );
    await client.query("vacuum analyze controller.targets, controller.target_state, controller.target_polls");
    const before = await databaseMiB(client);
    bench.report.add({ scenario: scenarioOf(targets), figure: "database without a history", value: before, unit: "MiB" });
    // connections, compiled code and prepared statements are warm before anything counts
    await polls(bench, { targets, requests });
    await update(bench, targets, "to begin with");
    const without = await measureStage(bench, { targets, what: "without a history" });
    await addHistory(client, await seedSet(bench.api, "scale-past"), targets);
    const actions = targets * updatesPerTarget;
    const kib = (((await databaseMiB(client)) - before) * 1_024) / actions;
    bench.report.add({ scenario: scenarioOf(targets), figure: "bytes of one past update", value: kib * 1_024, unit: "B" });
    const what = `with ${actions.toLocaleString("en")} past updates`;
    const after = await measureStage(bench, { targets, what });
    for (const [figure, ratio] of [
      ["polls", after.polls / without.polls],
      ["updates", after.cycles / without.cycles],
    ] as const) {
      const limit = `budget ${withHistory}× of those without`;
      bench.report.add({
        scenario: scenarioOf(targets),
        figure: `${figure} ${what}`,
        value: ratio,
        unit: "×",
        limit,
        ok: ratio >= withHistory,
      });
    }
  } finally {
    await client.end();
  }
}

const scenarioOf = (targets: number): string => `scale, ${targets.toLocaleString("en")} targets`;

async function measureStage(bench: Bench, { targets, what }: { targets: number; what: string }): Promise<Stage> {
  const add = (figure: string, value: number, unit: string, limit?: string) =>
    bench.report.add({
      scenario: scenarioOf(targets),
      figure: `${figure} ${what}`,
      value,
      unit,
      ...(limit === undefined ? {} : { limit }),
    });
  await polls(bench, { targets, requests: requests / 2 });
  const groups = bench.groups();
  const before = cpuSecondsWithEnded(groups);
  const most = await polls(bench, { targets, requests });
  const cpu = difference(cpuSecondsWithEnded(groups), before);
  add("polls in random order", most.perSecond, "/s", `p99 ${most.p99Ms.toFixed(1)} ms`);
  const database = ((cpu.get("postgres") ?? 0) * 1_000) / most.requests;
  add("CPU of a poll", (total(cpu) * 1_000) / most.requests, "ms", `the database's ${database.toFixed(3)} ms`);
  const rate = most.perSecond * share;
  const steady = await polls(bench, { targets, requests: Math.ceil(rate * steadySeconds), rate });
  add("p99 at half of it", steady.p99Ms, "ms", `p50 ${steady.p50Ms.toFixed(1)} ms`);
  for (const { text, seconds } of intervals) add(`devices that poll once in ${text}, at half of it,`, rate * seconds, "");
  const perSecond = await update(bench, targets, what);
  add("updates of devices", perSecond, "/s");
  return { polls: most.perSecond, cycles: perSecond };
}

async function polls(bench: Bench, options: { targets: number; requests: number; rate?: number }): Promise<LoadResult> {
  const next = () => {
    const id = `${prefix}${String(Math.floor(Math.random() * options.targets)).padStart(6, "0")}`;
    return {
      path: `/DEFAULT/controller/v1/${id}`,
      headers: { accept: "application/hal+json", authorization: targetTokenHeader(id) },
    };
  };
  const result = await load({ url: bench.stack.baseUrl, connections, expect: 200, next, ...options });
  if (result.bad > 0) throw new Error(`${result.bad} of ${result.requests} polls were not answered 200`);
  return result;
}

/** Has devices from all over the fleet take an update; answers how many a second do. */
async function update({ api, stack }: Bench, targets: number, what: string): Promise<number> {
  const set = await seedSet(api, `scale-${what.replaceAll(/\W/g, "-")}`);
  const step = Math.floor(targets / cycles);
  const ids = Array.from({ length: Math.min(cycles, targets) }, (_, n) => `${prefix}${String(n * Math.max(step, 1)).padStart(6, "0")}`);
  const actions = await assign(api, set.id, ids);
  const from = performance.now();
  await runCycles({ url: stack.baseUrl, ids, actions, set, downloads: false, once: true });
  return ids.length / ((performance.now() - from) / 1_000);
}

async function addHistory(client: pg.Client, set: SeededSet, targets: number): Promise<void> {
  await client.query("set session_replication_role = replica");
  for (let n = 0; n < updatesPerTarget; n += 1) await client.query(oneUpdate, [n, targets, set.id, prefix]);
  await client.query(entriesOfUpdates);
  await client.query("set session_replication_role = origin");
  await client.query(settleHistory);
  await client.query("checkpoint");
}

async function databaseMiB(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ MiB: number }>('select pg_database_size(current_database())::float8 / 1048576 as "MiB"');
  return rows[0]?.MiB ?? Number.NaN;
}
