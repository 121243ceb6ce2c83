import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { workspaceRoot } from "@harrier/testkit";
import type { Bench } from "../lib/context.ts";
import { peakMiB } from "../lib/cpu.ts";
import { seedTargets } from "../lib/seed.ts";
import { median } from "../lib/statistics.ts";

/** Milliseconds above a bare node, and what a walk over this many targets holds: 120 MB (contract console.md §5). */
const budgets = { versionMs: 20, listMs: 60, exportMiB: 120e6 / 2 ** 20, leastTargets: 100_000 };
const rounds = { warm: 3, measured: 20 };
const sampleMs = 10;
const program = join(workspaceRoot, "packages/cli/dist/harrier.js");
/** Measures how soon the command line answers, beside a bare node and what the server takes, and what a list of everything holds. */
export async function benchCli(bench: Bench): Promise<void> {
  const count = bench.options.targets;
  await seedTargets(bench.api, "cli-", count);
  const home = mkdtempSync(join(tmpdir(), "harrier-cli-"));
  const { baseUrl, adminPassword } = bench.stack;
  const server = { HARRIER_SERVER: baseUrl, HARRIER_USER: "admin", HARRIER_PASSWORD: adminPassword };
  const env = { PATH: process.env["PATH"] ?? "", XDG_CONFIG_HOME: home, XDG_STATE_HOME: home, ...server };
  try {
    await compare(bench, env, {
      figure: "harrier version",
      ours: [program, "version"],
      serverMs: 0,
      budgetMs: budgets.versionMs,
    });
    await compare(bench, env, {
      figure: "harrier target list",
      ours: [program, "target", "list"],
      serverMs: await pageMs(baseUrl, adminPassword),
      budgetMs: budgets.listMs,
    });
    const all = await run([program, "target", "list", "--all", "-o", "csv"], env);
    const scenario = `command line, ${count.toLocaleString("en")} targets`;
    bench.report.add({ scenario, figure: "target list --all -o csv", value: all.ms / 1_000, unit: "s", limit: `${all.lines} lines` });
    const ok = all.peakMiB <= budgets.exportMiB && all.lines === count + 1 && count >= budgets.leastTargets;
    const limit = `budget ${budgets.exportMiB.toFixed(0)} MiB`;
    bench.report.add({ scenario, figure: "target list --all -o csv, peak memory", value: all.peakMiB, unit: "MiB", limit, ok });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** The milliseconds in which the server answers the page of such a list, over a connection that is open. */
async function pageMs(baseUrl: string, password: string): Promise<number> {
  const headers = { authorization: `Basic ${Buffer.from(`admin:${password}`).toString("base64")}` };
  const times: number[] = [];
  for (let round = -rounds.warm; round < rounds.measured; round++) {
    const began = performance.now();
    const answer = await fetch(`${baseUrl}/api/mgmt/v1/targets?limit=50`, { headers });
    await answer.arrayBuffer();
    if (round >= 0) times.push(performance.now() - began);
  }
  return median(times);
}

interface Pair {
  readonly figure: string;
  readonly ours: readonly string[];
  /** What the server takes of it, in milliseconds. */
  readonly serverMs: number;
  readonly budgetMs: number;
}

/** Runs both in turn, because machines drift; the first rounds fill the caches of the file system and do not count. */
async function compare(bench: Bench, env: NodeJS.ProcessEnv, { figure, ours, serverMs, budgetMs }: Pair): Promise<void> {
  const times = { ours: [] as number[], bare: [] as number[] };
  for (let round = -rounds.warm; round < rounds.measured; round++) {
    const [own, reference] = [await run(ours, env), await run(["-e", "0"], env)];
    if (round < 0) continue;
    times.ours.push(own.ms);
    times.bare.push(reference.ms);
  }
  const [value, node] = [median(times.ours), median(times.bare)];
  const reference = node + serverMs;
  const server = serverMs === 0 ? "" : `, server ${serverMs.toFixed(1)} ms`;
  const limit = `node ${node.toFixed(1)} ms${server}, budget + ${budgetMs} ms`;
  bench.report.add({ scenario: "command line", figure, value, unit: "ms", limit, ok: value - reference <= budgetMs });
}

/** Runs node once; lines of its output are counted, not kept. The peak is sampled, and it never falls, so little of it is missed. */
function run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<{ ms: number; lines: number; peakMiB: number }> {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "inherit"] });
    let lines = 0;
    let peak = 0;
    const sample = setInterval(() => {
      try {
        peak = Math.max(peak, peakMiB(child.pid as number) || 0);
      } catch {
        // it has ended
      }
    }, sampleMs);
    child.stdout.on("data", (chunk: Buffer) => {
      for (const byte of chunk) if (byte === 10) lines++;
    });
    child.on("error", reject);
    child.on("close", (code) => {
      clearInterval(sample);
      if (code === 0) resolve({ ms: performance.now() - began, lines, peakMiB: peak });
      else reject(new Error(`${args.join(" ")}: exit ${code}`));
    });
  });
}
