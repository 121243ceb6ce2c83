import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { workspaceRoot } from "@harrier/testkit";
import type { Bench } from "../lib/context.ts";
import { peakMiB } from "../lib/cpu.ts";
import { seedTargets } from "../lib/seed.ts";
import { median } from "../lib/statistics.ts";

/** Milliseconds above a bare node, and resident MiB (contract console.md §5). */
const budgets = { versionMs: 20, listMs: 60, exportMiB: 120 };
const rounds = { warm: 3, measured: 20 };
const sampleMs = 10;
const program = join(workspaceRoot, "packages/cli/dist/harrier.js");
/** The least that reads the same page: what node, its fetch and the server cost without a program of ours. */
const bareRead =
  "const {HARRIER_SERVER:s,HARRIER_USER:u,HARRIER_PASSWORD:p}=process.env;" +
  "const a=await fetch(s+'/api/mgmt/v1/targets?limit=50',{headers:{authorization:'Basic '+Buffer.from(u+':'+p).toString('base64')}});" +
  "process.stdout.write(String((await a.json()).content.length))";

/** Measures how soon the command line answers, beside a bare node that does the same, and what a list of everything holds. */
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
      bare: { what: "node", args: ["-e", "0"] },
      budgetMs: budgets.versionMs,
    });
    await compare(bench, env, {
      figure: "harrier target list",
      ours: [program, "target", "list", "-o", "name"],
      bare: { what: "node with one fetch", args: ["--input-type=module", "-e", bareRead] },
      budgetMs: budgets.listMs,
    });
    const all = await run([program, "target", "list", "--all", "-o", "csv"], env);
    const scenario = `command line, ${count.toLocaleString("en")} targets`;
    bench.report.add({ scenario, figure: "target list --all -o csv", value: all.ms / 1_000, unit: "s", limit: `${all.lines} lines` });
    const ok = all.peakMiB <= budgets.exportMiB && all.lines === count + 1;
    const limit = `budget ${budgets.exportMiB} MiB`;
    bench.report.add({ scenario, figure: "target list --all -o csv, peak memory", value: all.peakMiB, unit: "MiB", limit, ok });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

interface Pair {
  readonly figure: string;
  readonly ours: readonly string[];
  readonly bare: { readonly what: string; readonly args: readonly string[] };
  readonly budgetMs: number;
}

/** Runs both in turn, because machines drift; the first rounds fill the caches of the file system and do not count. */
async function compare(bench: Bench, env: NodeJS.ProcessEnv, { figure, ours, bare, budgetMs }: Pair): Promise<void> {
  const times = { ours: [] as number[], bare: [] as number[] };
  for (let round = -rounds.warm; round < rounds.measured; round++) {
    const [own, reference] = [await run(ours, env), await run(bare.args, env)];
    if (round < 0) continue;
    times.ours.push(own.ms);
    times.bare.push(reference.ms);
  }
  const [value, reference] = [median(times.ours), median(times.bare)];
  const limit = `${bare.what} ${reference.toFixed(1)} ms, budget + ${budgetMs} ms`;
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
