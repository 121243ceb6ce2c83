import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Stack, startStack } from "@harrier/stack";
import { createApi } from "./lib/api.ts";
import type { Bench } from "./lib/context.ts";
import { createReport, type Report } from "./lib/report.ts";
import { benchAgainst, startOther } from "./scenarios/against.ts";
import { benchCycle } from "./scenarios/cycle.ts";
import { benchPolls } from "./scenarios/polls.ts";
import { benchQueries } from "./scenarios/queries.ts";
import { benchRollout } from "./scenarios/rollout.ts";

const scenarios = { polls: benchPolls, cycle: benchCycle, rollout: benchRollout, queries: benchQueries };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    devices: { type: "string", default: "50000" },
    targets: { type: "string", default: "100000" },
    fleet: { type: "string", default: "1000000" },
    rounds: { type: "string", default: "5" },
    json: { type: "string" },
    against: { type: "string" },
    check: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (values.help) {
  console.log(
    "npm run bench -- [polls] [cycle] [rollout] [queries] [--devices 50000] [--targets 100000] [--fleet 1000000] [--rounds 5] [--json FILE] [--check]\n" +
      "npm run bench -- [polls] [downloads] [cycle] --against ../other-checkout [--rounds 5] [--check]: polls, downloads and device cycles beside another built checkout.\n" +
      "Starts a stack of its own, measures, and prints each figure beside its limit of the same run; --check exits 1 where a budget is missed.",
  );
  process.exit(0);
}

const names = positionals.length > 0 ? positionals : Object.keys(scenarios);
const known = values.against === undefined ? Object.keys(scenarios) : ["polls", "downloads", "cycle"];
const unknown = positionals.find((name) => !known.includes(name));
if (unknown !== undefined) {
  console.error(`no such scenario: ${unknown} (${known.join(", ")})`);
  process.exit(1);
}
process.exitCode = await main();

async function main(): Promise<number> {
  const dataDir = mkdtempSync(join(tmpdir(), "harrier-bench-"));
  const stack = await startStack({ dataDir, httpPort: 0, logLevel: "warn", print: (line) => console.error(line) });
  const api = createApi(stack.baseUrl, stack.adminPassword);
  const report = createReport();
  const bench: Bench = {
    stack,
    api,
    report,
    options: {
      devices: Number(values.devices),
      targets: Number(values.targets),
      rounds: Number(values.rounds),
      fleet: Number(values.fleet),
    },
    groups: () => stack.processes().map(({ name, pid }) => ({ name, pids: [pid] })),
  };
  try {
    if (values.against !== undefined) return await against(stack, report);
    for (const name of names) {
      console.error(`${name} …`);
      await scenarios[name as keyof typeof scenarios](bench);
    }
  } finally {
    await api.close();
    await stack.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
  return end(report, bench.options);
}

async function against(stack: Stack, report: Report): Promise<number> {
  const dataDir = mkdtempSync(join(tmpdir(), "harrier-bench-other-"));
  const other = await startOther(values.against ?? "", dataDir);
  const ours = { stack, api: createApi(stack.baseUrl, stack.adminPassword) };
  try {
    await benchAgainst({ ours, other, rounds: Number(values.rounds), only: positionals, report });
  } finally {
    await ours.api.close();
    await other.api.close();
    await other.stack.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
  return end(report, { against: values.against, rounds: Number(values.rounds) });
}

function end(report: Report, options: object): number {
  report.print();
  const json = JSON.stringify({ node: process.version, options, rows: report.rows }, null, 2);
  if (values.json === undefined) console.log(json);
  else writeFileSync(values.json, `${json}\n`);
  const missed = report.missed();
  for (const row of missed) console.error(`budget missed: ${row.scenario}, ${row.figure}`);
  return values.check && missed.length > 0 ? 1 : 0;
}
