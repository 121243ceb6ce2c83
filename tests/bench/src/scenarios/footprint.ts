import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { createApi } from "../lib/api.ts";
import type { Options } from "../lib/context.ts";
import { commandOf, cpuSecondsWithEnded, descendants, difference, heldMiB, ownCpuSeconds, total } from "../lib/cpu.ts";
import { runCycles } from "../lib/device-cycle.ts";
import { load } from "../lib/load.ts";
import { type NpmStart, startByNpm } from "../lib/npm-start.ts";
import type { Report } from "../lib/report.ts";
import { assign, seedSet, seedTargets, targetTokenHeader } from "../lib/seed.ts";

/** These budgets are absolute: they are what an installation costs its machine while nobody uses it, and after it was used. */
const budgets = { cpuPercent: 1.5, idleMiB: 450, afterRunMiB: 650, databaseAfterRunMiB: 300 };

const settleMs = 60_000;
const sampleMs = 60_000;
const connections = 32;
const cycles = 4_000;

/** Measures what `npm start` costs: CPU, statements and memory of all its processes while nobody asks anything, and memory after a run of devices. */
export async function benchFootprint(report: Report, options: Pick<Options, "devices">): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), "harrier-footprint-"));
  try {
    const server = await startByNpm(dataDir);
    try {
      await measureIdle(report, server);
      await runDevices(server, options.devices);
      addMemory(report, server, "memory at the end of a run", {});
      await sleep(settleMs);
      addMemory(report, server, "memory a minute after a run", { services: budgets.afterRunMiB, database: budgets.databaseAfterRunMiB });
    } finally {
      await server.stop();
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function measureIdle(report: Report, server: NpmStart): Promise<void> {
  await sleep(settleMs);
  const client = new pg.Client({ connectionString: server.databaseUrl, application_name: "footprint" });
  await client.connect();
  const [before, transactions] = [cpuOf(server), await transactionsOf(client)];
  await sleep(sampleMs);
  const used = difference(cpuOf(server), before);
  const perSecond = ((await transactionsOf(client)) - transactions) / (sampleMs / 1_000);
  await client.end();
  const percent = (seconds: number): number => (seconds / (sampleMs / 1_000)) * 100;
  for (const [name, seconds] of used)
    report.add({ scenario: "idle", figure: `CPU of ${name}`, value: percent(seconds), unit: "% of a core" });
  const value = percent(total(used));
  const limit = `budget ${budgets.cpuPercent} %`;
  report.add({ scenario: "idle", figure: "CPU, all processes", value, unit: "% of a core", limit, ok: value <= budgets.cpuPercent });
  report.add({ scenario: "idle", figure: "database transactions", value: perSecond, unit: "/s" });
  addMemory(report, server, "memory idle", { services: budgets.idleMiB });
}

/** Reads the CPU seconds of each process alone, and of PostgreSQL with all its processes, autovacuum's that have ended included. */
function cpuOf(server: NpmStart): Map<string, number> {
  const seconds = new Map<string, number>();
  for (const { name, pid } of processesOf(server)) {
    const own = name === database ? (cpuSecondsWithEnded([{ name, pids: [pid] }]).get(name) ?? 0) : ownCpuSeconds(pid);
    seconds.set(name, (seconds.get(name) ?? 0) + own);
  }
  return seconds;
}

/** Statements outside of transactions count as one each. */
async function transactionsOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ n: string }>(
    "select xact_commit + xact_rollback as n from pg_stat_database where datname = current_database()",
  );
  return Number(rows[0]?.n);
}

interface Process {
  readonly pid: number;
  readonly name: string;
}

/** The first process of PostgreSQL stands for all of them. */
const database = "PostgreSQL";

/** Lists the processes of the installation, and the server of PostgreSQL for all of its own. */
function processesOf(server: NpmStart): Process[] {
  const all = descendants([server.pid]).map((pid) => ({ pid, command: commandOf(pid) }));
  const own = all.filter(({ command }) => !isDatabase(command)).map(({ pid, command }) => ({ pid, name: nameOf(command) }));
  const first = all.find(({ pid, command }) => isDatabase(command) && descendants([pid]).length > 1);
  return [...own, ...(first === undefined ? [] : [{ pid: first.pid, name: database }])];
}

const isDatabase = (command: string): boolean => /^postgres|bin\/postgres /.test(command);

function nameOf(command: string): string {
  const service = /apps\/([a-z-]+)\/dist\/main\.js/.exec(command)?.[1];
  if (service !== undefined) return service;
  if (/scripts\/(start|dev)\.mjs/.test(command)) return "supervisor";
  return command.startsWith("npm ") ? "npm" : "guard of PostgreSQL";
}

function addMemory(report: Report, server: NpmStart, scenario: string, limits: { services?: number; database?: number }): void {
  const held = new Map<string, number>();
  for (const { pid, name } of processesOf(server)) {
    const pids = name === database ? descendants([pid]) : [pid];
    held.set(name, (held.get(name) ?? 0) + pids.reduce((sum, one) => sum + heldMiB(one), 0));
  }
  const ofDatabase = held.get(database) ?? 0;
  for (const [name, value] of held) if (name !== database) report.add({ scenario, figure: name, value, unit: "MiB" });
  addBudget(report, { scenario, figure: "all processes but PostgreSQL's", value: total(held) - ofDatabase, budget: limits.services });
  addBudget(report, { scenario, figure: database, value: ofDatabase, budget: limits.database });
}

function addBudget(report: Report, row: { scenario: string; figure: string; value: number; budget: number | undefined }): void {
  const { budget, ...rest } = row;
  const limit = budget === undefined ? {} : { limit: `budget ${budget} MiB`, ok: row.value <= budget };
  report.add({ ...rest, unit: "MiB", ...limit });
}

/** A fleet polls, and a part of it is updated: polls, deployments, downloads and reports. */
async function runDevices(server: NpmStart, devices: number): Promise<void> {
  const api = createApi(server.baseUrl, server.adminPassword);
  try {
    const ids = await seedTargets(api, "footprint-", devices);
    const next = (i: number) => {
      const id = ids[i % ids.length] as string;
      return { path: `/DEFAULT/controller/v1/${id}`, headers: { accept: "application/hal+json", authorization: targetTokenHeader(id) } };
    };
    const polls = await load({ url: server.baseUrl, connections, requests: 2 * devices, expect: 200, next });
    if (polls.bad > 0) throw new Error(`${polls.bad} polls were not answered 200`);
    const set = await seedSet(api, "footprint-set");
    const updated = ids.slice(0, cycles);
    await runCycles({ url: server.baseUrl, ids: updated, actions: await assign(api, set.id, updated), set });
  } finally {
    await api.close();
  }
}
