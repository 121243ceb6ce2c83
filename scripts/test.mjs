// Runs the suites: `npm test`, `npm run test:real`, `npm run check:long`, `npm run check:hostile`, `npm run e2e:faults`, `npm run check:kubernetes`,
// `npm run check:skew -- <git ref of the release before>`, `npm run check:restore`, `npm run check:lighthouse`. It runs on Node 24 with
// node_modules/.bin in PATH (see dev.mjs). Everything after the suite's name goes to vitest: `npm test -- packages/db`. With TEST_REPORTS (a folder)
// it also writes what passed there, for .ci/run to add up.
import { spawn } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { previousRelease } from "./previous-release.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const checks = join(root, "scripts", "checks");

// It leaves the mark of what is built, so that no `npm start` of a test builds again beside others that run what is built.
const build = { name: "build", command: process.execPath, args: [join(root, "scripts", "dev.mjs"), "build"] };
const types = { name: "types", command: "turbo", args: ["run", "typecheck", "--output-logs=errors-only"] };
const lint = { name: "lint", command: "biome", args: ["ci", "."] };
/** These suites are a part of another one, by the names of their files. */
const parts = { faults: ["tests/e2e/rollout-faults", "tests/e2e/safety-faults"] };
const reports = process.env.TEST_REPORTS;
const reportFile = (kind) => join(reports, `${suite}-${kind}.json`);
const vitest = (...projects) => ({
  name: `tests: ${projects.join(", ")}`,
  command: "vitest",
  args: [
    "run",
    ...projects.flatMap((project) => ["--project", project]),
    ...reporters(projects[0]),
    ...ofOneRun(),
    ...(parts[suite] ?? []),
    ...rest,
  ],
});
// a path that was given may be of only one of the runs of `real`
const ofOneRun = () => (suite === "real" && rest.length > 0 ? ["--passWithNoTests"] : []);
const reporters = (name) => (reports ? ["--reporter=default", "--reporter=json", `--outputFile.json=${reportFile(`vitest-${name}`)}`] : []);
const ownChecks = () =>
  (existsSync(checks) ? readdirSync(checks) : [])
    .filter((name) => name.endsWith(".mjs"))
    .sort()
    .map((name) => ({ name: `check ${name}`, command: process.execPath, args: [join(checks, name)] }));

const [suite, ...given] = process.argv.slice(2);
const inCluster = suite === "kubernetes" && given.includes("--api-server");
const [ref, ...beyondRef] = given;
const rest = suite === "skew" ? beyondRef : given.filter((word) => word !== "--api-server");
const lighthouse = { name: "lighthouse", command: process.execPath, args: [join(root, "tests", "console", "support", "lighthouse.ts")] };
const suites = {
  test: () => [build, types, lint, ...ownChecks(), vitest("unit", "db", "contract")],
  // the two take about as long, and both mostly wait: for leases and brokers, for the clocks of clients and a browser
  real: () => [build, types, [vitest("e2e", "clients"), vitest("console", "real")]],
  // one after the other: both want the machine to themselves. Paths that are given mean files of the first
  long: () => [build, types, vitest("long"), ...(rest.length > 0 ? [] : [vitest("cluster")])],
  hostile: () => [build, types, vitest("hostile")],
  faults: () => [build, types, vitest("long")],
  skew: () => [build, types, vitest("skew")],
  restore: () => [build, types, vitest("restore")],
  lighthouse: () => [build, lighthouse],
  kubernetes: () => [build, types, vitest("kubernetes", ...(inCluster ? ["cluster"] : []))],
};

function run({ command, args }) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: "inherit" });
    const pass = (signal) => child.kill(signal);
    process.on("SIGTERM", pass).on("SIGINT", pass);
    child.on("error", (error) => {
      console.error(`${command}: ${error.message}`);
      resolve(false);
    });
    child.on("exit", (code) => {
      process.off("SIGTERM", pass).off("SIGINT", pass);
      resolve(code === 0);
    });
  });
}

if (suite === "skew" && ref === undefined) {
  console.error("usage: npm run check:skew -- <git ref of the release before>");
  process.exit(2);
}
if (suite === "skew") {
  try {
    process.env.HARRIER_TEST_PREVIOUS = previousRelease(ref);
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}
const steps = suites[suite]?.();
if (steps === undefined) {
  console.error(`usage: test.mjs ${Object.keys(suites).join("|")}`);
  process.exit(2);
}
const failed = [];
const done = [];
for (const each of steps) {
  const together = [each].flat();
  console.log(`\n== ${together.map(({ name }) => name).join(", beside ")}`);
  const results = await Promise.all(together.map(async (step) => ({ ...step, ok: await run(step) })));
  for (const { name, command, ok } of results) {
    if (command !== "vitest") done.push({ name, ok }); // vitest counts its own tests
    if (!ok) failed.push(name);
  }
  if (failed.includes(build.name) || failed.includes(types.name)) break; // nothing else would report it
}
if (reports) writeFileSync(reportFile("steps"), JSON.stringify(done));
console.log(failed.length === 0 ? "\nall steps passed" : `\nfailed: ${failed.join("; ")}`);
process.exit(failed.length === 0 ? 0 : 1);
