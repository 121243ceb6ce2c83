// Compares the table of background jobs in docs/operations.md with the lists of the services (apps/*/src/jobs.ts) and fails on a difference;
// with --write it writes the table.
import { readFile, writeFile } from "node:fs/promises";
import { requireFreshBuild } from "../sources.mjs";

const services = ["gateway", "controller", "management", "artifact-store", "rollout-engine", "dmf"];
const [begin, end] = ["<!-- jobs: written by scripts/checks/jobs.mjs -->", "<!-- end of jobs -->"];
const file = new URL("../../docs/operations.md", import.meta.url);
const write = process.argv.includes("--write");
if (write) requireFreshBuild();

const units = [
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
  [1, "ms"],
];

function period(ms) {
  const [size, unit] = units.find(([size]) => ms >= size && ms % size === 0);
  return `${ms / size} ${unit}`;
}

/** There is one row per job; services that run the same one share it. */
const rows = new Map();
const problems = [];
for (const service of services) {
  const { jobs } = await import(`../../apps/${service}/dist/jobs.js`);
  for (const [name, { does, runs, everyMs, restMs }] of Object.entries(jobs)) {
    if (!/^[A-Z][^.]*\.$/.test(does)) problems.push(`${service}: ${name}: what it does is one sentence: ${does}`);
    const key = JSON.stringify([name, does, runs, everyMs, restMs]);
    const row = rows.get(key) ?? { name, does, runs, everyMs, restMs, services: [] };
    row.services.push(service);
    rows.set(key, row);
  }
}
const lines = [...rows.values()].map(
  ({ name, does, runs, everyMs, restMs, services: of }) =>
    `| \`${name}\` | ${of.join(", ")} | ${period(everyMs)} | ${restMs === undefined ? "" : period(restMs)} | ${runs} | ${does} |`,
);
const table = ["| Job | Service | Every | At rest | Runs on | Does |", "|---|---|---|---|---|---|", ...lines].join("\n");

const text = await readFile(file, "utf8");
const [from, to] = [text.indexOf(begin), text.indexOf(end)];
if (from < 0 || to < from) problems.push(`docs/operations.md: the lines "${begin}" and "${end}" are missing`);
else {
  const wanted = `${text.slice(0, from)}${begin}\n\n${table}\n\n${text.slice(to)}`;
  if (wanted !== text && write) await writeFile(file, wanted);
  else if (wanted !== text)
    problems.push("docs/operations.md: the table of background jobs is out of date: node scripts/checks/jobs.mjs --write");
}
for (const problem of problems) console.error(problem);
if (problems.length === 0) console.log(`jobs: ${rows.size} background jobs are in docs/operations.md`);
process.exit(problems.length === 0 ? 0 : 1);
