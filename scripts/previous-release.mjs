// Makes another release of this repository beside this one: its files of a git ref, installed and built, in the cache folder. It is made once for each
// commit, and an interrupted run leaves nothing half-done.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Answers the folder with the built release of a ref; throws with what git or the build says, and where its databases are of another baseline. */
export function previousRelease(ref) {
  const git = (...words) => execFileSync("git", words, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 30 }).trim();
  const commit = git("rev-parse", "--verify", `${ref}^{commit}`);
  refuseOtherBaseline(git, ref, commit);
  const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "harrier", "releases");
  const made = join(folder, commit);
  if (existsSync(made)) return made;
  mkdirSync(folder, { recursive: true });
  const work = mkdtempSync(join(folder, ".making-"));
  try {
    const archive = join(work, "release.tar");
    git("archive", "--output", archive, commit);
    const release = join(work, "release");
    mkdirSync(release);
    execFileSync("tar", ["-xf", archive, "-C", release]);
    const { status } = spawnSync("npm", ["run", "build"], { cwd: release, stdio: "inherit" });
    if (status !== 0) throw new Error(`${ref} (${commit}) could not be built`);
    renameSync(release, made);
    return made;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Services refuse a database whose baseline is not theirs (packages/db/src/schema/migrate.ts), so neither release could work with the other. */
function refuseOtherBaseline(git, ref, commit) {
  const baselines = git("ls-tree", "-r", "--name-only", commit, "--", "apps")
    .split("\n")
    .filter((file) => /^apps\/[^/]+\/migrations\/0001_baseline\.sql$/.test(file));
  const isHere = (file) => existsSync(join(root, file)) && git("hash-object", file) === git("rev-parse", `${commit}:${file}`);
  if (baselines.length > 0 && baselines.every(isHere)) return;
  throw new Error(
    `${ref} begins its databases with another baseline (apps/*/migrations/0001_baseline.sql): no upgrade from it is possible`,
  );
}
