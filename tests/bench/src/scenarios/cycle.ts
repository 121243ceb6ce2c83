import type { Bench } from "../lib/context.ts";
import { cpuSeconds, difference, total } from "../lib/cpu.ts";
import { runCycles } from "../lib/device-cycle.ts";
import { load } from "../lib/load.ts";
import { assign, seedSet, seedTargets, targetTokenHeader } from "../lib/seed.ts";

const devices = 4_000;
const concurrency = 32;

/** Measures whole updates as devices make them, and reports alone. */
export async function benchCycle(bench: Bench): Promise<void> {
  const { api, report } = bench;
  const ids = await seedTargets(api, "cycle-", devices);
  const set = await seedSet(api, "cycle-set");
  const actions = await assign(api, set.id, ids);
  await benchReports(bench, ids, actions);

  const groups = bench.groups();
  const before = cpuSeconds(groups);
  const from = performance.now();
  await runCycles({ url: bench.stack.baseUrl, ids, actions, set });
  const seconds = (performance.now() - from) / 1_000;
  const cpu = total(difference(cpuSeconds(groups), before));
  report.add({
    scenario: "device cycle",
    figure: "poll, deployment, 2 reports, 64 KiB download, final report",
    value: devices / seconds,
    unit: "cycles/s",
  });
  report.add({ scenario: "device cycle", figure: "CPU per cycle, all processes", value: (cpu * 1_000) / devices, unit: "ms" });
}

async function benchReports(bench: Bench, ids: readonly string[], actions: ReadonlyMap<string, number>): Promise<void> {
  const body = JSON.stringify({ status: { execution: "proceeding", result: { finished: "none" }, details: ["working"] } });
  const groups = bench.groups();
  const before = cpuSeconds(groups);
  const requests = 12_000;
  const result = await load({
    url: bench.stack.baseUrl,
    connections: concurrency,
    requests,
    expect: 200,
    next: (i) => {
      const id = ids[i % ids.length] as string;
      return {
        method: "POST",
        path: `/DEFAULT/controller/v1/${id}/deploymentBase/${actions.get(id)}/feedback`,
        headers: { authorization: targetTokenHeader(id), "content-type": "application/json" },
        body,
      };
    },
  });
  const cpu = total(difference(cpuSeconds(groups), before));
  const add = bench.report.add;
  add({ scenario: "reports", figure: "answers other than 200", value: result.bad, unit: "", ok: result.bad === 0 });
  add({ scenario: "reports", figure: "reports", value: result.perSecond, unit: "/s" });
  add({ scenario: "reports", figure: "p50 / p99", value: result.p50Ms, unit: `ms / ${result.p99Ms.toFixed(1)} ms` });
  add({ scenario: "reports", figure: "CPU per report, all processes", value: (cpu * 1_000) / requests, unit: "ms" });
}
