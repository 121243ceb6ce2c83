// The console must stay small: what a browser loads for a page, and then for what is opened on it, has a limit, by Vite's manifest, at gzip level 9. Exit 1 names it.
// `--table` prints every page and part.
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const limits = { shell: 125_000, page: 230_000, css: 25_000 };
const dist = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), "apps", "console", "dist");
const manifestFile = join(dist, ".vite", "manifest.json");
if (!existsSync(manifestFile)) {
  console.error("apps/console is not built: npm run build");
  process.exit(1);
}
const manifest = JSON.parse(readFileSync(manifestFile, "utf8"));
const sizes = new Map();
const sizeOf = (file) => {
  if (!sizes.has(file)) sizes.set(file, gzipSync(readFileSync(join(dist, file)), { level: 9 }).length);
  return sizes.get(file);
};

/** Finds the chunks that come with a chunk. */
function chunksOf(key, found = new Set()) {
  if (manifest[key] === undefined || found.has(key)) return found;
  found.add(key);
  for (const next of manifest[key].imports ?? []) chunksOf(next, found);
  return found;
}
const filesOf = (chunks) => new Set([...chunks].flatMap((one) => [manifest[one].file, ...(manifest[one].css ?? [])]));
const sum = (files) => [...files].reduce((all, file) => all + sizeOf(file), 0);

const entry = Object.keys(manifest).find((key) => manifest[key].isEntry);
const rows = [["shell", sum(filesOf(chunksOf(entry))), limits.shell]];

/** Follows what is loaded when it is opened, a page and then its parts: each row counts all that was loaded on the way to it. */
function addFrom(key, before, way) {
  const added = [...chunksOf(key)].filter((one) => !before.has(one));
  const loaded = new Set([...before, ...added]);
  if (way.length > 0) rows.push([way.join(" > "), sum(filesOf(loaded)), limits.page]);
  for (const next of new Set(added.flatMap((one) => manifest[one].dynamicImports ?? [])))
    if (!loaded.has(next)) addFrom(next, loaded, [...way, basename(next).replace(/(\.page)?\.tsx?$/, "")]);
}
addFrom(entry, new Set(), []);
const css = new Set(
  Object.values(manifest).flatMap((chunk) => [...(chunk.css ?? []), ...(chunk.file.endsWith(".css") ? [chunk.file] : [])]),
);
rows.push(["all CSS", sum(css), limits.css]);

const over = rows.filter(([, size, limit]) => size > limit);
if (process.argv.includes("--table"))
  for (const [name, size, limit] of rows) console.log(`${name.padEnd(34)} ${(size / 1000).toFixed(1)} of ${limit / 1000} kB`);
for (const [name, size, limit] of over) {
  console.error(
    `apps/console: ${name} loads ${(size / 1000).toFixed(1)} kB (gzip), more than ${limit / 1000}: load a part of it when it is opened, or leave it out`,
  );
}
const largest = rows.slice(1, -1).reduce((a, b) => (b[1] > a[1] ? b : a), rows[0]);
if (over.length === 0)
  console.log(
    `console-size: shell ${(rows[0][1] / 1000).toFixed(1)} kB, largest page ${largest[0]} ${(largest[1] / 1000).toFixed(1)} kB, CSS ${(rows.at(-1)[1] / 1000).toFixed(1)} kB (gzip)`,
  );
process.exit(over.length === 0 ? 0 : 1);
