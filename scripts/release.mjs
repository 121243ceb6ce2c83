// Makes a release in dist/release: npm run release -- <version> [--dry-run] [--tag]
// It writes the version where it stands, closes the section of the changelog, commits both, and packs chart, command line, bills of materials, notes and
// checksums. It never pushes. Packs are the same byte for byte when they are made of the same commit again.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { releaseSection } from "./release/changelog.mjs";
import { billOf, deployed } from "./release/sbom.mjs";
import { isAfter, parseVersion } from "./release/version.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const run = (command, ...args) => execFileSync(command, args, { cwd: root, encoding: "utf8" }).trim();
const read = (name) => readFileSync(join(root, name), "utf8");
const refuse = (why) => {
  console.error(`no release: ${why}`);
  process.exit(1);
};

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { "dry-run": { type: "boolean" }, tag: { type: "boolean" }, out: { type: "string", default: "dist/release" } },
});
const [version] = positionals;
const present = JSON.parse(read("package.json")).version;
if (version === undefined || parseVersion(version) === undefined) refuse("give a version such as 1.2.3 or 1.2.3-rc.1");
// The present version is taken too, so that a release whose packing failed can be packed again.
if (version !== present && !isAfter(version, present)) refuse(`${version} does not come after ${present}`);
if (run("git", "status", "--porcelain") !== "") refuse("the tree has changes that are not committed");
const tag = `v${version}`;
if (run("git", "tag", "--list", tag) !== "") refuse(`the tag ${tag} is there`);

const manifests = ["package.json", ...globSync("{apps,packages}/*/package.json", { cwd: root }).sort()];
const chart = "deploy/helm/harrier/Chart.yaml";
const today = run("git", "log", "-1", "--format=%cs");

/** The files of the project that say the version, with their new texts. */
function changedFiles() {
  if (version === present) return new Map();
  const files = new Map();
  const is = `"version": "${present}"`;
  for (const name of manifests) if (read(name).includes(is)) files.set(name, read(name).replace(is, `"version": "${version}"`));
  files.set(chart, read(chart).replace(/^(version|appVersion): .*$/gm, `$1: ${version}`));
  files.set("CHANGELOG.md", releaseSection(read("CHANGELOG.md"), version, today).changelog);
  return files;
}

/** The section of the version in the changelog as it is now. */
function notes() {
  const text = read("CHANGELOG.md");
  const at = text.indexOf(`## ${version} (`);
  if (at < 0) refuse(`CHANGELOG.md has no section of ${version}`);
  const next = text.indexOf("\n## ", at);
  return text.slice(at, next < 0 ? text.length : next + 1);
}

// What would be refused at the end is refused before anything is written.
if (version === present) notes();

/** Packs a folder with fixed owner, time and order. */
function pack(folder, name, into, seconds) {
  const options = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", `--mtime=@${seconds}`, "--mode=u+rwX,go+rX,go-w"];
  const tar = execFileSync("tar", [...options, "-C", dirname(folder), "-cf", "-", name], { maxBuffer: 512 * 1024 * 1024 });
  // gzip writes a time into its head unless it is told not to
  writeFileSync(into, execFileSync("gzip", ["-9n"], { input: tar, maxBuffer: 512 * 1024 * 1024 }));
}

const files = changedFiles();
if (flags["dry-run"]) {
  for (const name of files.keys()) console.log(`would change ${name}`);
  console.log(
    `would pack harrier-${version}.tgz (chart), harrier-cli-${version}.tgz, ${deployed.length} bills of materials, NOTES.md and SHA256SUMS`,
  );
  console.log(flags.tag ? `would tag ${tag}` : "would not tag (--tag)");
  process.exit(0);
}

for (const [name, text] of files) writeFileSync(join(root, name), text);
if (files.size > 0) {
  run("git", "add", ...files.keys());
  run("git", "commit", "--quiet", "-m", `chore: release ${version}`);
}
execFileSync("turbo", ["run", "build", "--output-logs=errors-only"], { cwd: root, stdio: ["ignore", "inherit", "inherit"] });

const out = join(root, flags.out);
const seconds = run("git", "log", "-1", "--format=%ct");
const time = new Date(Number(seconds) * 1000).toISOString();
rmSync(out, { recursive: true, force: true });
mkdirSync(join(out, "sbom"), { recursive: true });
for (const name of deployed) writeFileSync(join(out, "sbom", `${name}.cdx.json`), billOf(name, { root, time }));
pack(join(root, "deploy/helm/harrier"), "harrier", join(out, `harrier-${version}.tgz`), seconds);
const cli = join(out, "harrier-cli");
mkdirSync(cli);
for (const name of ["package.json", "README.md", "bin", "dist/harrier.js"])
  cpSync(join(root, "packages/cli", name), join(cli, name), { recursive: true });
pack(cli, "harrier-cli", join(out, `harrier-cli-${version}.tgz`), seconds);
rmSync(cli, { recursive: true });
writeFileSync(join(out, "NOTES.md"), notes());
const sums = readdirSync(out, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(out.length + 1))
  .sort()
  .map(
    (name) =>
      `${createHash("sha256")
        .update(readFileSync(join(out, name)))
        .digest("hex")}  ${name}\n`,
  );
writeFileSync(join(out, "SHA256SUMS"), sums.join(""));
if (flags.tag) run("git", "tag", "--annotate", tag, "-m", `Harrier ${version}`);
console.log(sums.join("").trimEnd());
console.log(`${flags.out} has the release ${version}${flags.tag ? `, tagged ${tag}` : ""}; nothing was pushed`);
