import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Stack, startStack } from "@harrier/stack";
import { type Api, createApi } from "./lib/api.ts";
import { startWithBroker } from "./lib/broker.ts";
import { startWithBucket } from "./lib/bucket.ts";
import type { Bench } from "./lib/context.ts";
import { createReport, type Report } from "./lib/report.ts";
import { Against, otherStarter, type StartStack } from "./scenarios/against.ts";
import { benchBytes } from "./scenarios/bytes.ts";
import { benchChangeStream, startForListeners } from "./scenarios/change-stream.ts";
import { benchCli } from "./scenarios/cli.ts";
import { benchConsole, startForConsole } from "./scenarios/console.ts";
import { benchCycle } from "./scenarios/cycle.ts";
import { benchDmf } from "./scenarios/dmf.ts";
import { benchFootprint } from "./scenarios/footprint.ts";
import { benchGroupChange } from "./scenarios/group-change.ts";
import { benchPolls } from "./scenarios/polls.ts";
import { benchQueries } from "./scenarios/queries.ts";
import { benchRanges } from "./scenarios/ranges.ts";
import { benchReads } from "./scenarios/reads.ts";
import { benchCounters } from "./scenarios/report-counters.ts";
import { benchRollout } from "./scenarios/rollout.ts";
import { benchSafety } from "./scenarios/safety.ts";
import { benchScale } from "./scenarios/scale.ts";
import { benchTransfer } from "./scenarios/transfer.ts";

interface Scenario {
  run(bench: Bench): Promise<void>;
  start: StartStack;
}

/** The parts of a scenario run one after the other, each on services and a database of its own. */
const scenarios: Readonly<Record<string, Scenario | readonly Scenario[]>> = {
  polls: { run: benchPolls, start: startStack },
  cycle: { run: benchCycle, start: startStack },
  rollout: { run: benchRollout, start: startStack },
  groups: { run: benchGroupChange, start: startStack },
  queries: { run: benchQueries, start: startStack },
  reads: [
    { run: benchCounters, start: startStack },
    { run: benchChangeStream, start: startForListeners },
    { run: benchReads, start: startStack },
  ],
  dmf: { run: benchDmf, start: startWithBroker },
  ranges: { run: benchRanges, start: startWithBucket },
  transfer: { run: benchTransfer, start: startStack },
  bytes: { run: benchBytes, start: startStack },
  cli: { run: benchCli, start: startStack },
  console: { run: benchConsole, start: startForConsole },
  safety: { run: benchSafety, start: startStack },
  scale: { run: benchScale, start: startStack },
};
/** This scenario starts the server as a user does, by `npm start`. */
const footprint = "footprint";
/** These scenarios run only on request: one builds an S3 server first, one unpacks a message broker, one fills a large fleet of its own, one writes gigabytes, one fills a database, one starts the command line a hundred times, one needs a browser, one waits for devices that say nothing, one fills a large fleet with a history, one waits for minutes and needs Linux. */
const onRequest: ReadonlySet<string> = new Set([
  "dmf",
  "ranges",
  "reads",
  "transfer",
  "bytes",
  "cli",
  "console",
  "safety",
  "scale",
  footprint,
]);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    devices: { type: "string", default: "50000" },
    targets: { type: "string", default: "100000" },
    fleet: { type: "string", default: "1000000" },
    rounds: { type: "string", default: "5" },
    mebibytes: { type: "string", default: "512" },
    starts: { type: "string", default: "3" },
    json: { type: "string" },
    against: { type: "string" },
    check: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (values.help) {
  console.log(
    "npm run bench -- [polls] [cycle] [rollout] [groups] [queries] [reads] [dmf] [ranges] [transfer] [bytes] [cli] [console] [safety] [scale] [footprint] [--devices 50000] [--targets 100000] [--fleet 1000000] [--rounds 5] [--mebibytes 512] [--json FILE] [--check]\n" +
      "npm run bench -- [polls] [requests] [downloads] [cycle] --against ../other-checkout [--starts 3] [--rounds 5] [--check]: polls, the other requests of a cycle, downloads and device cycles beside another built checkout.\n" +
      "Starts a stack of its own, measures, and prints each figure beside its limit of the same run; --check exits 1 where a budget is missed.",
  );
  process.exit(0);
}

const names = positionals.length > 0 ? positionals : Object.keys(scenarios).filter((name) => !onRequest.has(name));
const known = values.against === undefined ? [...Object.keys(scenarios), footprint] : ["polls", "requests", "downloads", "cycle"];
const unknown = positionals.find((name) => !known.includes(name));
if (unknown !== undefined) {
  console.error(`no such scenario: ${unknown} (${known.join(", ")})`);
  process.exit(1);
}
process.exitCode = await main();

async function main(): Promise<number> {
  const report = createReport();
  if (values.against !== undefined) return await against(values.against, report);
  const options = {
    devices: Number(values.devices),
    targets: Number(values.targets),
    rounds: Number(values.rounds),
    fleet: Number(values.fleet),
    mebibytes: Number(values.mebibytes),
  };
  for (const name of names) {
    console.error(`${name} …`);
    if (name === footprint) {
      await benchFootprint(report, options);
      continue;
    }
    // Each scenario has services and a database of its own: the remains of one must not cost the next.
    for (const { start, run } of [scenarios[name] ?? []].flat()) {
      await withStack(start, async (stack, api) => {
        const groups = () => stack.processes().map(({ name: label, pid }) => ({ name: label, pids: [pid] }));
        const bench: Bench = { stack, api, report, options, groups };
        await run(bench);
      });
    }
  }
  return end(report, options);
}

async function against(checkout: string, report: Report): Promise<number> {
  const startOther = await otherStarter(checkout);
  const [starts, rounds] = [Number(values.starts), Number(values.rounds)];
  const measured = new Against({ rounds, only: positionals });
  for (let n = 1; n <= starts; n += 1) {
    console.error(`start ${n} of ${starts} …`);
    await withStack(startStack, (stack, api) =>
      withStack(startOther, (otherStack, otherApi) =>
        measured.measure({ ours: { stack, api }, other: { stack: otherStack, api: otherApi } }),
      ),
    );
  }
  measured.tell(report);
  return end(report, { against: checkout, starts, rounds });
}

/** Starts services with a data directory of their own, which is deleted with them. */
async function withStack(start: StartStack, work: (stack: Stack, api: Api) => Promise<void>): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), "harrier-bench-"));
  try {
    const stack = await start({ dataDir, httpPort: 0, logLevel: "warn", print: (line) => console.error(line) });
    const api = createApi(stack.baseUrl, stack.adminPassword);
    try {
      await work(stack, api);
    } finally {
      await api.close();
      await stack.stop();
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
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
