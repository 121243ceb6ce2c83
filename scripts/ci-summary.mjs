// Adds up the results of the commands of .ci/run: `ci-summary.mjs <folder> <command>=<exit code> …`. It runs on any Node >= 18. A test counts as one,
// and so does a step (types, lint, a check); a command that failed without a reported failure counts as one failure. The last line is `N passed, N
// failed`; exit 1 where anything failed.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Counts the results in a file that vitest's JSON reporter wrote. A file that could not be run has no tests, but has failed. */
export function countTests(report) {
  const counts = { passed: 0, failed: 0 };
  for (const { status, assertionResults } of report.testResults) {
    const failed = assertionResults.filter((test) => test.status === "failed").length;
    counts.passed += assertionResults.filter((test) => test.status === "passed").length;
    counts.failed += failed === 0 && status === "failed" ? 1 : failed;
  }
  return counts;
}

const headLength = 400;
const endLength = 800;

/** Joins the first lines of a reason, and the last words of a program that it quotes: these say why it stopped. */
function shortened(text = "") {
  const [reason = ""] = text.split("\n    at ");
  const head = text.split("\n").slice(0, 4).join(" | ").slice(0, headLength);
  return reason.length <= headLength
    ? head
    : `${head} … ${reason.slice(Math.max(headLength, reason.length - endLength)).replaceAll("\n", " | ")}`;
}

/** Lists what failed, a line each with the reason: readers look at the last thing that CI prints. */
export function failuresIn(report) {
  return report.testResults.flatMap(({ name, status, message, assertionResults }) => {
    const failed = assertionResults.filter((test) => test.status === "failed");
    if (failed.length === 0) return status === "failed" ? [`${name}: ${shortened(message)}`] : [];
    return failed.map((test) => `${name}: ${test.fullName}: ${shortened(test.failureMessages?.[0])}`);
  });
}

/** Counts the results of one command: `steps` as test.mjs wrote them and the `report` of its vitest run, either of which may be missing. */
export function countCommand(exitCode, steps, report) {
  const counts = report === undefined ? { passed: 0, failed: 0 } : countTests(report);
  for (const { ok } of steps ?? []) counts[ok ? "passed" : "failed"] += 1;
  if (exitCode !== 0 && counts.failed === 0) counts.failed = 1;
  if (exitCode === 0 && steps === undefined) counts.passed += 1;
  return counts;
}

const readJson = (file) => (existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined);

function main([folder, ...commands]) {
  const total = { passed: 0, failed: 0 };
  for (const command of commands) {
    const [name, code] = command.split("=");
    const steps = readJson(join(folder, `${name}-steps.json`));
    const reports = readdirSync(folder)
      .filter((file) => file.startsWith(`${name}-vitest-`))
      .map((file) => readJson(join(folder, file)));
    const report = reports.length === 0 ? undefined : { testResults: reports.flatMap(({ testResults }) => testResults) };
    const counts = countCommand(Number(code), steps, report);
    for (const step of steps ?? []) if (!step.ok) console.log(`FAILED ${name}: ${step.name}`);
    for (const failure of report === undefined ? [] : failuresIn(report)) console.log(`FAILED ${name}: ${failure}`);
    console.log(`${name}: ${counts.passed} passed, ${counts.failed} failed`);
    total.passed += counts.passed;
    total.failed += counts.failed;
  }
  console.log(`\n${total.passed} passed, ${total.failed} failed`);
  process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;
}

if (process.argv[1]?.endsWith("ci-summary.mjs")) main(process.argv.slice(2));
