// docs/architecture.md and the READMEs of the services must agree with the code on ownership: published views, views that are read, the calls between
// services, the packages, and the names of the settings in docs/operations.md. Exit 1 names document, statement and remedy.
import { globSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { callers } from "../../packages/rpc/src/callers.ts";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const text = (...path) => readFileSync(join(root, ...path), "utf8");
const problems = [];
const schemaOf = (app) => app.replaceAll("-", "_");
const owners = ["controller", "management", "artifact-store", "rollout-engine"];

/** Lists the files below a folder of an app; none where there is no such folder. */
function filesBelow(ending, ...path) {
  try {
    const found = readdirSync(join(root, ...path), { recursive: true }).map(String);
    return found.filter((name) => name.endsWith(ending)).map((name) => join(...path, name));
  } catch (error) {
    if (error.code === "ENOENT") return [];
    throw error;
  }
}

function compare(where, what, said, done) {
  for (const name of done) if (!said.has(name)) problems.push(`${where}: ${what} lacks ${name}`);
  for (const name of said) if (!done.has(name)) problems.push(`${where}: ${what} names ${name}, which the code does not have`);
}

const viewsIn = (part) => new Set((part ?? "").match(/\b\w+_v\d+\b/g) ?? []);

// Published views, which apps/*/views creates, must be in the architecture and in the README of the owner.
const published = new Map();
for (const app of owners) {
  const sql = filesBelow(".sql", "apps", app, "views")
    .map((file) => text(file))
    .join("\n");
  published.set(app, new Set([...sql.matchAll(/create\s+or\s+replace\s+view\s+(?:\w+\.)?(\w+)/gi)].map(([, name]) => name)));
}
const architecture = text("docs", "architecture.md");
const ownership = architecture.slice(
  architecture.indexOf("### What each service owns"),
  architecture.indexOf("### How each service works"),
);
for (const app of owners) {
  const section = ownership.slice(ownership.indexOf(`**${app}**`));
  compare("docs/architecture.md", `"Publishes" of ${app}`, viewsIn(/^- Publishes: (.*)$/m.exec(section)?.[1]), published.get(app));
  const readme = text("apps", app, "README.md");
  compare(`apps/${app}/README.md`, "what it publishes", viewsIn(/^.*\*{0,2}Publishes\b.*$/m.exec(readme)?.[0]), published.get(app));
}

// The views of others that a service reads are those that its statements name.
for (const app of owners) {
  const files = [
    ...filesBelow(".ts", "apps", app, "src"),
    ...filesBelow(".sql", "apps", app, "functions"),
    ...filesBelow(".sql", "apps", app, "views"),
  ];
  const code = files
    .filter((file) => !/\.(test|fixture|suite)\.ts$|\/testing\//.test(file))
    .map((file) => text(file))
    .join("\n");
  const readme = text("apps", app, "README.md");
  const said = viewsIn(
    readme
      .split("\n")
      .filter((line) => /^(- \*\*Reads\*\*|\| Reads)/.test(line))
      .join("\n"),
  );
  const read = new Set();
  for (const other of owners.filter((name) => name !== app)) {
    for (const view of published.get(other)) if (new RegExp(`\\b${schemaOf(other)}\\.${view}\\b`).test(code)) read.add(view);
  }
  for (const view of read) if (!said.has(view)) problems.push(`apps/${app}/README.md: what it reads lacks ${view}`);
  const others = new Set(owners.filter((name) => name !== app).flatMap((name) => [...published.get(name)]));
  for (const view of said)
    if (others.has(view) && !read.has(view) && !code.includes(view)) problems.push(`apps/${app}/README.md: it does not read ${view}`);
}

// The table of gRPC services must name every one of them.
const table = architecture.slice(architecture.indexOf("### gRPC services"), architecture.indexOf("### Actions, reports and progress"));
for (const service of Object.keys(callers)) {
  const name = service.split(".").at(-1);
  if (!table.includes(`\`${name}\``)) problems.push(`docs/architecture.md: the table of gRPC services lacks ${name}`);
}

// The layout must name the apps and packages.
const layout = architecture.slice(architecture.indexOf("## 3. Repository layout"), architecture.indexOf("Inside an app, the same names"));
for (const folder of ["apps", "packages"]) {
  for (const name of readdirSync(join(root, folder))) {
    if (!new RegExp(`^  ${name}/`, "m").test(layout))
      problems.push(`docs/architecture.md, "Repository layout": ${folder}/${name} is missing`);
  }
}

// A setting that the operations guide names must be read somewhere, and a setting that a service reads must be named there.
const exclude = (name) => /(^|\/)(node_modules|dist)$/.test(name);
const sources = globSync("{apps,packages}/**/*.ts", { cwd: root, exclude });
const code = [...sources, ...filesBelow(".mjs", "scripts"), ...filesBelow("", "deploy")]
  .filter((file) => !file.endsWith(".test.ts") && /\.(ts|mjs|yaml|example|conf)$|Dockerfile/.test(file))
  .map((file) => text(file))
  .join("\n");
const named = settingsIn(text("docs", "operations.md"));
for (const name of named) {
  if (!code.includes(name) && !code.includes(name.replace(/_FILE$/, "")) && !madeOf(name).some((part) => code.includes(part))) {
    problems.push(`docs/operations.md: nothing reads ${name}`);
  }
}
for (const app of ["gateway", "dmf", ...owners]) {
  for (const name of new Set(text("apps", app, "src", "config.ts").match(/\bHARRIER_[A-Z0-9_]*[A-Z0-9]\b/g))) {
    if (!named.has(name)) problems.push(`docs/operations.md: the setting ${name} of ${app} is not described`);
  }
}

/** Finds all names of settings; `HARRIER_A_B`, `_C` means HARRIER_A_B and HARRIER_A_C, and <SERVICE> stands for each service. */
function settingsIn(document) {
  const names = new Set();
  let last = "";
  for (const [, name] of document.matchAll(/`((?:HARRIER)?_[A-Z0-9_<>]*[A-Z0-9])(?=[`=])/g)) {
    if (name.startsWith("_")) names.add(last.replace(/_[A-Z0-9]+$/, name));
    else {
      last = name;
      for (const app of name.includes("<SERVICE>") ? ["gateway", ...owners] : [""])
        names.add(name.replace("<SERVICE>", schemaOf(app).toUpperCase()));
    }
  }
  return names;
}

/** Splits a name that is built from the name of a service into its parts. */
function madeOf(name) {
  const service = ["gateway", ...owners].map((app) => schemaOf(app).toUpperCase()).find((part) => name.includes(`_${part}_`));
  return service === undefined ? [] : name.split(service).filter((part) => part !== "HARRIER_");
}

for (const problem of problems) console.error(problem);
if (problems.length === 0)
  console.log(
    `architecture: ${[...published.values()].reduce((n, views) => n + views.size, 0)} views, ${named.size} settings, as the documents say`,
  );
process.exit(problems.length === 0 ? 0 : 1);
