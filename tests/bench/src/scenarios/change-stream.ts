import { setTimeout as sleep } from "node:timers/promises";
import { startStack } from "@harrier/stack";
import { Pool } from "undici";
import type { Bench } from "../lib/context.ts";
import { cpuSeconds, heldMiB, total } from "../lib/cpu.ts";
import { type LoadRequest, load } from "../lib/load.ts";
import { seedTargets } from "../lib/seed.ts";
import { median } from "../lib/statistics.ts";
import type { StartStack } from "./against.ts";

const changes = 20;
const listeners = 500;
const atOnce = 20;
const warmUp = 2_000;
const restMs = 10_000;
const windowMs = 20_000;
const readingMs = 1_000;
const budget = { heardMs: 1_000, coreShare: 5, mebibytes: 30 };

/** Starts the services with a gateway at which one tenant may have so many streams; by default it has fewer. */
export const startForListeners: StartStack = (options) =>
  startStack({ ...options, gateway: { HARRIER_IN_FLIGHT_TENANT: String(listeners + 1) } });

/** Measures how soon a listener hears of a change, and what 500 listeners cost gateway and management while nothing happens. */
export async function benchChangeStream(bench: Bench): Promise<void> {
  const { api, report, stack } = bench;
  const [id = ""] = await seedTargets(api, "heard-", 1);
  const pool = new Pool(stack.baseUrl, { connections: listeners + 1, bodyTimeout: 0 });
  const scenario = "stream of changes";
  try {
    const times: number[] = [];
    const one = await listen(bench, pool);
    for (let change = 0; change < changes; change++) {
      const heard = one.next(`targets/${id}`);
      const from = performance.now();
      await api.put(`/targets/${id}`, { name: `heard ${change}` });
      await heard;
      times.push(performance.now() - from);
    }
    one.end();
    const worst = Math.max(...times);
    report.add({ scenario, figure: "change → heard, median", value: median(times), unit: "ms" });
    const limit = `budget ${budget.heardMs} ms`;
    report.add({ scenario, figure: "change → heard, worst", value: worst, unit: "ms", limit, ok: worst <= budget.heardMs });
    await costOfListeners(bench, pool, scenario);
  } finally {
    await pool.destroy();
  }
}

async function costOfListeners(bench: Bench, pool: Pool, scenario: string): Promise<void> {
  // What a process needs for its first requests is not what listeners cost.
  const { bad } = await load({ url: bench.stack.baseUrl, connections: 16, requests: warmUp, expect: 200, next: () => page(bench) });
  if (bad > 0) throw new Error(`${bad} of ${warmUp} pages were refused`);
  const without = await costs(bench);
  const all: Listener[] = [];
  // A tenant's statements wait for each other, 50 of them at most (docs/operations.md), so that not all listeners may come in the same moment.
  while (all.length < listeners) all.push(...(await Promise.all(Array.from({ length: atOnce }, () => listen(bench, pool)))));
  const held = await costs(bench);
  for (const each of all) each.end();
  const share = Math.max(0, held.cpuPercent - without.cpuPercent);
  const mebibytes = held.mebibytes - without.mebibytes;
  const figure = `${listeners} listeners`;
  const add = bench.report.add;
  const limit = `budget ${budget.coreShare} %`;
  add({ scenario, figure: `${figure}, of a core`, value: share, unit: "%", limit, ok: share <= budget.coreShare });
  const limitMiB = `budget ${budget.mebibytes} MiB`;
  add({ scenario, figure: `${figure}, memory`, value: mebibytes, unit: "MiB", limit: limitMiB, ok: mebibytes <= budget.mebibytes });
}

/** Answers what all processes take for a while, in percent of a core, and the least that gateway and management hold meanwhile: garbage comes and goes. */
async function costs(bench: Bench): Promise<{ cpuPercent: number; mebibytes: number }> {
  await sleep(restMs); // what has begun before comes to rest
  const serving = bench.stack.processes().filter(({ name }) => /^(gateway|management)/.test(name));
  const before = total(cpuSeconds(bench.groups()));
  const held: number[] = [];
  for (let ms = 0; ms < windowMs; ms += readingMs) {
    await sleep(readingMs);
    held.push(serving.reduce((sum, { pid }) => sum + heldMiB(pid), 0));
  }
  const seconds = total(cpuSeconds(bench.groups())) - before;
  return { cpuPercent: (seconds * 100_000) / windowMs, mebibytes: Math.min(...held) };
}

const authorizationOf = ({ stack }: Bench): string => `Basic ${Buffer.from(`admin:${stack.adminPassword}`).toString("base64")}`;
const page = (bench: Bench): LoadRequest => ({ path: "/api/mgmt/v1/targets", headers: { authorization: authorizationOf(bench) } });

interface Listener {
  /** Resolves with the next message that names the subject. */
  next(subject: string): Promise<void>;
  end(): void;
}

/** Opens a stream of changes; resolves when its first message is there. */
async function listen(bench: Bench, pool: Pool): Promise<Listener> {
  const authorization = authorizationOf(bench);
  const path = "/api/mgmt/v1/events/stream?changes=true";
  const { body, statusCode } = await pool.request({ method: "GET", path, headers: { authorization } });
  if (statusCode !== 200) throw new Error(`${path}: ${statusCode}`);
  let waiting: { subject: string; heard: () => void } | undefined;
  const first = new Promise<void>((heard) => {
    waiting = { subject: "*", heard };
  });
  body.on("data", (chunk: Buffer) => {
    if (waiting !== undefined && chunk.toString().includes(`"${waiting.subject}"`)) {
      waiting.heard();
      waiting = undefined;
    }
  });
  body.on("error", () => undefined); // a listener that leaves
  await first;
  return {
    next: (subject) =>
      new Promise((heard) => {
        waiting = { subject, heard };
      }),
    end: () => void body.destroy(),
  };
}
