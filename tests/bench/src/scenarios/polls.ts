import type { Bench } from "../lib/context.ts";
import { cpuSeconds, difference, residentMiB, total } from "../lib/cpu.ts";
import { type LoadResult, load } from "../lib/load.ts";
import { assign, seedSet, seedTargets, targetTokenHeader } from "../lib/seed.ts";
import { median, medianRatio, pairs } from "../lib/statistics.ts";
import { startBareChain } from "../limits/bare-chain.ts";
import { measurePollStatement } from "../limits/poll-statement.ts";

const connections = 32;
const requests = 20_000;
/** The limit for CPU of a poll over all processes, as a multiple of the bare chain's. */
const cpuBudget = 2.5;

interface Measured {
  result: LoadResult;
  cpu: Map<string, number>;
}

/** Measures polls of idle devices and of devices with an open action, each against the bare chain in interleaved pairs. */
export async function benchPolls(bench: Bench): Promise<void> {
  const { api, options, report } = bench;
  const ids = await seedTargets(api, "poll-", options.devices);
  await pollAll(bench, ids); // every device polls once: what follows is the steady state of a cyclic fleet
  await compare(bench, "polls, idle devices", ids);

  const set = await seedSet(api, "poll-set");
  const busy = ids.slice(0, Math.min(20_000, ids.length));
  await assign(api, set.id, busy);
  await pollAll(bench, busy);
  await compare(bench, "polls, open action", busy);

  const statement = await measurePollStatement(bench, ids);
  report.add({ scenario: "polls", figure: "the poll's SQL alone", value: statement.perSecond, unit: "statements/s" });
  report.add({ scenario: "polls", figure: "its CPU, client and database", value: statement.cpuMs, unit: "ms" });
  for (const [name, mib] of residentMiB(bench.groups())) {
    report.add({ scenario: "memory", figure: `${name} resident`, value: mib, unit: "MiB" });
  }
}

async function compare(bench: Bench, scenario: string, ids: readonly string[]): Promise<void> {
  const bare = await startBareChain();
  const bareGroups = [{ name: "bare", pids: bare.pids }];
  let place = 0;
  const poll = () =>
    measure(bench.groups(), () =>
      load({ url: bench.stack.baseUrl, connections, requests, expect: 200, next: () => pollOf(ids[place++ % ids.length] as string) }),
    );
  const baseline = () =>
    measure(bareGroups, () => load({ url: bare.url, connections, requests, expect: 200, next: () => pollOf("device") }));
  await baseline();
  const { a, b } = await pairs(bench.options.rounds, poll, baseline);
  bare.stop();
  addRows(bench, scenario, { ours: a, bare: b });
}

function addRows(bench: Bench, scenario: string, { ours, bare }: { ours: Measured[]; bare: Measured[] }): void {
  const cpuOf = (m: Measured) => (total(m.cpu) * 1_000) / m.result.requests;
  const add = bench.report.add;
  const bad = ours.reduce((n, m) => n + m.result.bad, 0);
  add({ scenario, figure: "answers other than 200", value: bad, unit: "", ok: bad === 0 });
  const perSecond = median(bare.map((m) => m.result.perSecond));
  add({
    scenario,
    figure: "polls",
    value: median(ours.map((m) => m.result.perSecond)),
    unit: "/s",
    limit: `bare chain ${Math.round(perSecond)} /s`,
  });
  add({
    scenario,
    figure: "p50",
    value: median(ours.map((m) => m.result.p50Ms)),
    unit: "ms",
    limit: `${median(bare.map((m) => m.result.p50Ms)).toFixed(2)} ms`,
  });
  add({
    scenario,
    figure: "p99",
    value: median(ours.map((m) => m.result.p99Ms)),
    unit: "ms",
    limit: `${median(bare.map((m) => m.result.p99Ms)).toFixed(2)} ms`,
  });
  const ratio = medianRatio(ours.map(cpuOf), bare.map(cpuOf));
  add({
    scenario,
    figure: "CPU per poll, all processes",
    value: median(ours.map(cpuOf)),
    unit: "ms",
    limit: `${median(bare.map(cpuOf)).toFixed(3)} ms`,
  });
  add({ scenario, figure: "CPU ratio to the bare chain", value: ratio, unit: "×", limit: `budget ${cpuBudget}×`, ok: ratio <= cpuBudget });
  for (const name of ours[0]?.cpu.keys() ?? []) {
    const value = median(ours.map((m) => ((m.cpu.get(name) ?? 0) * 1_000) / m.result.requests));
    add({ scenario, figure: `CPU seconds per 1,000 polls, ${name}`, value, unit: "s" });
  }
}

async function measure(groups: Parameters<typeof cpuSeconds>[0], run: () => Promise<LoadResult>): Promise<Measured> {
  const before = cpuSeconds(groups);
  const result = await run();
  return { result, cpu: difference(cpuSeconds(groups), before) };
}

async function pollAll(bench: Bench, ids: readonly string[]): Promise<void> {
  const next = (i: number) => pollOf(ids[i] as string);
  const result = await load({ url: bench.stack.baseUrl, connections, requests: ids.length, expect: 200, next });
  if (result.bad > 0) throw new Error(`${result.bad} of ${ids.length} first polls were not answered 200`);
}

function pollOf(controllerId: string) {
  return {
    path: `/DEFAULT/controller/v1/${controllerId}`,
    headers: { accept: "application/hal+json", authorization: targetTokenHeader(controllerId) },
  };
}
