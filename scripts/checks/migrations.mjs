// Migrations are frozen: a database that has applied one refuses to start with another text of it. migrations.json holds a hash of each; `--write`
// adds new files to it and never changes a line. Exit 1 names the file and the remedy.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const list = join(root, "scripts", "checks", "migrations.json");

const found = Object.fromEntries(
  readdirSync(join(root, "apps"))
    .flatMap((app) =>
      readdirSync(join(root, "apps", app))
        .filter((folder) => folder === "migrations")
        .flatMap((folder) => readdirSync(join(root, "apps", app, folder)).map((name) => `apps/${app}/${folder}/${name}`)),
    )
    .sort()
    .map((file) => [
      file,
      createHash("sha256")
        .update(readFileSync(join(root, file)))
        .digest("hex"),
    ]),
);
const frozen = JSON.parse(readFileSync(list, "utf8"));

const problems = Object.entries(frozen)
  .filter(([file, sha256]) => found[file] !== sha256)
  .map(([file]) => `${file} was ${found[file] === undefined ? "removed" : "edited"}: restore it, and write the change as a new migration`);
if (process.argv.includes("--write") && problems.length === 0) {
  writeFileSync(list, `${JSON.stringify({ ...frozen, ...found }, null, 2)}\n`);
} else {
  for (const file of Object.keys(found).filter((name) => frozen[name] === undefined)) {
    problems.push(`${file} is not frozen yet: node scripts/checks/migrations.mjs --write`);
  }
}
// Functions and views are files of their own, with the text that holds (ADR 36).
for (const file of Object.keys(found)) {
  const kind = /create (?:or replace )?(function|procedure|view|trigger)/i.exec(readFileSync(join(root, file), "utf8"))?.[1];
  if (kind !== undefined) problems.push(`${file} creates a ${kind}: move it to functions/ or views/ of the service`);
}
for (const problem of problems) console.error(problem);
if (problems.length === 0) console.log(`migrations: ${Object.keys(found).length}, as they were`);
process.exit(problems.length === 0 ? 0 : 1);
