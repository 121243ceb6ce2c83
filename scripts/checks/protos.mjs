// Runs buf lint, and buf breaking against the last committed protos that differ from the present ones. Exit 1 on a finding.
import { spawnSync } from "node:child_process";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const run = (command, args) => spawnSync(command, args, { cwd: root, encoding: "utf8" });
const buf = (...args) => run(join(root, "node_modules/.bin/buf"), args);

/** Finds the newest commit whose protos differ: HEAD while they are being changed, the one before once they are committed. */
function formerCommit() {
  const log = run("git", ["log", "--format=%H", "--", "protos"]);
  if (log.status !== 0) return undefined; // there is no git, no repository or no commit
  const commits = log.stdout.split("\n").filter(Boolean);
  return commits.find((commit) => run("git", ["diff", "--quiet", commit, "--", "protos/harrier"]).status === 1);
}

function check(name, result, remedy) {
  if (result.status === 0) {
    console.log(`protos: ${name} ok`);
    return;
  }
  console.error(`${result.stdout}${result.stderr}${result.error?.message ?? ""}`.trimEnd());
  console.error(`protos: ${name} failed\n    remedy: ${remedy}`);
  process.exitCode = 1;
}

check("lint", buf("lint", "protos"), "follow the STANDARD rules of buf, see the lines above");
const commit = formerCommit();
if (commit === undefined) console.log("protos: nothing committed to compare with");
else {
  check(
    `breaking against ${commit.slice(0, 12)}`,
    buf("breaking", "protos", "--against", `.git#ref=${commit},subdir=protos`),
    "add new fields, methods and messages beside the old ones, and reserve what goes: old and new replicas run side by side",
  );
}
