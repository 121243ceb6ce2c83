// Every named statement, and every statement of a function, holds each table and view that has a tenant_id to the caller's tenant, or stands with a reason among the exceptions.
// It reads the statements of the built services and the files of functions. Exit 1 names statement, table and remedy.
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { loadModule, parseSync } from "@libpg-query/parser";
import { exceptions } from "../tenants/exceptions.mjs";
import { statementsOfFunctions } from "../tenants/functions.mjs";
import { notHeld } from "../tenants/judge.mjs";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const problems = [];

/** The tables and views that have a tenant_id, alone and with their schema. */
function tenantTables() {
  const names = new Set();
  for (const file of globSync("apps/*/{migrations,views}/*.sql", { cwd: root })) {
    const schema = file.split("/")[1].replaceAll("-", "_");
    const sql = readFileSync(join(root, file), "utf8");
    const tables = sql.matchAll(/create (?:unlogged )?table (?:if not exists )?(\w+) \(([\s\S]*?)\n\)/g);
    const views = sql.matchAll(/create or replace view (\w+)([^;]*?);/g);
    for (const [, name, body] of [...tables, ...views]) {
      if (/\btenant_id\b/.test(body)) names.add(name).add(`${schema}.${name}`);
    }
  }
  return names;
}

/** Collects the statements among what a module exports: alone, in objects and in lists. */
function collect(value, into, depth = 0) {
  if (value === null || typeof value !== "object" || depth > 4) return;
  if (typeof value.name === "string" && typeof value.text === "string") into.set(value.name, value.text);
  else for (const part of value instanceof Map ? value.values() : Object.values(value)) collect(part, into, depth + 1);
}

const statements = new Map();
// What a build has left of a source that is gone is not read.
for (const source of globSync("{apps,packages}/*/src/**/*.sql.ts", { cwd: root })) {
  const built = source.replace("/src/", "/dist/").replace(/\.ts$/, ".js");
  collect(await import(pathToFileURL(join(root, built))), statements);
}
if (statements.size < 400) problems.push(`only ${statements.size} statements were found: build first (npm run build)`);

await loadModule();
/** What is judged, by its name: the trees of a statement, or of all statements of a function. */
const judged = new Map([...statements].map(([name, text]) => [name, [parseSync(text)]]));
const functions = globSync("apps/*/functions/*.sql", { cwd: root }).flatMap((file) => {
  const schema = file.split("/")[1].replaceAll("-", "_");
  const made = statementsOfFunctions(readFileSync(join(root, file), "utf8"));
  return made.map(({ name, statements: trees }) => [`${schema}.${name}()`, trees]);
});
if (functions.length < 100) problems.push(`only ${functions.length} functions were found`);
// a function may have two forms for a while
for (const [name, trees] of functions) judged.set(name, [...(judged.get(name) ?? []), ...trees]);

const tables = tenantTables();
const reasons = new Map(Object.entries(exceptions).flatMap(([reason, names]) => names.map((name) => [name, reason])));
for (const [name, trees] of judged) {
  const free = [...new Set(trees.flatMap((tree) => notHeld(tree, (table) => tables.has(table))))];
  if (free.length > 0 && !reasons.has(name)) {
    problems.push(
      `${name}: no condition holds ${free.join(", ")} to a tenant\n    remedy: compare its tenant_id with $1 (p_tenant), or with that of a table that is` +
        " held; a statement that is meant for all tenants goes into scripts/tenants/exceptions.mjs",
    );
  }
  if (free.length === 0 && reasons.has(name))
    problems.push(`${name}: is held to a tenant and needs no exception (scripts/tenants/exceptions.mjs)`);
}
for (const name of reasons.keys())
  if (!judged.has(name)) problems.push(`scripts/tenants/exceptions.mjs: there is no statement or function ${name}`);

for (const problem of problems) console.error(problem);
console.log(
  `tenants: ${statements.size} statements and ${functions.length} functions, ${reasons.size} of them for all tenants, ${problems.length} findings`,
);
if (problems.length > 0) process.exitCode = 1;
