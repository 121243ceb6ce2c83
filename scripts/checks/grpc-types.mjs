// Generates the gRPC types into a temporary directory and compares them with the committed ones. Exit 1 on a difference.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const committed = join(root, "packages/rpc/src/gen");
const remedy = "run `node packages/rpc/scripts/generate.mjs` and commit packages/rpc/src/gen; never edit it by hand";

/** Reads every file below a directory, by its relative path. */
function contents(dir) {
  const files = readdirSync(dir, { recursive: true })
    .map(String)
    .filter((name) => statSync(join(dir, name)).isFile());
  return new Map(files.map((name) => [name, readFileSync(join(dir, name), "utf8")]));
}

const fresh = mkdtempSync(join(tmpdir(), "harrier-gen-"));
try {
  const generated = spawnSync(process.execPath, [join(root, "packages/rpc/scripts/generate.mjs"), fresh], { encoding: "utf8" });
  if (generated.status !== 0) throw new Error(`generating failed:\n${generated.stdout}${generated.stderr}`);
  const [old, now] = [contents(committed), contents(fresh)];
  const names = [...new Set([...old.keys(), ...now.keys()])].sort();
  const stale = names.filter((name) => old.get(name) !== now.get(name));
  for (const name of stale) console.error(`packages/rpc/src/gen/${name}: ${state(old.get(name), now.get(name))}`);
  if (stale.length > 0) console.error(`    remedy: ${remedy}`);
  console.log(`gRPC types: ${names.length} files, ${stale.length} out of date`);
  process.exitCode = stale.length === 0 ? 0 : 1;
} finally {
  rmSync(fresh, { recursive: true, force: true });
}

function state(old, now) {
  if (old === undefined) return "is missing";
  return now === undefined ? "is no longer generated" : "differs from what protos/ says";
}
