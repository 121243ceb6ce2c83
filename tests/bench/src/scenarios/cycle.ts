import { Pool } from "undici";
import type { Bench } from "../lib/context.ts";
import { cpuSeconds, difference, total } from "../lib/cpu.ts";
import { load } from "../lib/load.ts";
import { assign, type SeededSet, seedSet, seedTargets, targetTokenHeader } from "../lib/seed.ts";

const devices = 4_000;
const concurrency = 32;

/** Whole updates as devices make them, and reports alone. */
export async function benchCycle(bench: Bench): Promise<void> {
  const { api, report } = bench;
  const ids = await seedTargets(api, "cycle-", devices);
  const set = await seedSet(api, "cycle-set");
  const actions = await assign(api, set.id, ids);
  await benchReports(bench, ids, actions);

  const groups = bench.groups();
  const before = cpuSeconds(groups);
  const from = performance.now();
  await runCycles(bench, { ids, actions, set });
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

interface Fleet {
  ids: readonly string[];
  actions: ReadonlyMap<string, number>;
  set: SeededSet;
}

async function runCycles(bench: Bench, fleet: Fleet): Promise<void> {
  const pool = new Pool(bench.stack.baseUrl, { connections: concurrency });
  let place = 0;
  const worker = async (): Promise<void> => {
    for (;;) {
      const id = fleet.ids[place++];
      if (id === undefined) return;
      await cycle(pool, id, fleet);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  await pool.close();
}

async function cycle(pool: Pool, id: string, { actions, set }: Fleet): Promise<void> {
  const base = `/DEFAULT/controller/v1/${id}`;
  const action = `${base}/deploymentBase/${actions.get(id)}`;
  const headers = { authorization: targetTokenHeader(id) };
  const ask = async (path: string, report?: { execution: string; finished: string }): Promise<void> => {
    const answer = await pool.request({
      path,
      method: report ? "POST" : "GET",
      headers: { ...headers, ...(report ? { "content-type": "application/json" } : {}) },
      ...(report ? { body: JSON.stringify({ status: { execution: report.execution, result: { finished: report.finished } } }) } : {}),
    });
    await answer.body.dump({ limit: 2 ** 27 });
    if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode}`);
  };
  await ask(base);
  await ask(action);
  await ask(`${action}/feedback`, { execution: "download", finished: "none" });
  await ask(`${base}/softwaremodules/${set.moduleId}/artifacts/${set.filename}`);
  await ask(`${action}/feedback`, { execution: "downloaded", finished: "none" });
  await ask(`${action}/feedback`, { execution: "closed", finished: "success" });
}
