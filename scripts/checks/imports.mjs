// Checks every source file against the import table of docs/architecture.md §3, which is data here. Exit 1 names file, rule and remedy.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

const below = ["errors", "contracts", "jobs", "rpc", "db", "fiql", "tracing"];
const forApps = [...below, "query", "audit", "events", "service", "backend", "egress"];

/** Says which of our packages a package or app may import. Test code may import testkit and stack as well. */
export const layers = {
  "packages/errors": [],
  "packages/contracts": ["errors"],
  "packages/client": ["errors", "contracts"],
  "packages/cli": ["errors", "contracts", "client"],
  "packages/jobs": [],
  "packages/tracing": [],
  "packages/rpc": ["errors", "tracing"],
  "packages/db": ["errors", "tracing"],
  "packages/fiql": ["errors"],
  "packages/query": ["errors", "contracts", "db", "fiql"],
  "packages/audit": ["errors", "db", "jobs"],
  "packages/events": below,
  "packages/service": below,
  "packages/egress": [],
  "packages/backend": ["jobs", "rpc", "db", "service"],
  "packages/simulator": ["errors", "contracts"],
  "packages/stack": forApps,
  "packages/testkit": [...forApps, "stack", "simulator"],
  "apps/gateway": forApps,
  "apps/controller": forApps,
  "apps/management": forApps,
  "apps/artifact-store": forApps,
  "apps/rollout-engine": forApps,
  "apps/dmf": forApps,
  "apps/console": ["errors", "contracts", "client", "fiql"],
  "tests/contract": [...forApps, "stack", "testkit", "simulator", "client"],
  "tests/e2e": [...forApps, "stack", "testkit", "simulator"],
  "tests/bench": [...forApps, "stack", "testkit", "simulator", "client"],
  "tests/clients": ["stack", "testkit"],
  "tests/console": ["stack", "testkit", "simulator"],
  "tests/setup": [...forApps, "stack", "testkit"],
};

const forTests = ["testkit", "stack"];

/** These libraries are imported in one place only, types included; others import what they need from that place. */
export const homes = [
  {
    modules: ["kafkajs"],
    allowed: [/^packages\/events\//, /^packages\/testkit\//, /^tests\//],
    remedy: "use createRelay or consumeEvents of @harrier/events",
  },
  {
    modules: ["amqplib"],
    allowed: [/^apps\/dmf\//, /^apps\/management\/src\/messaging\//, /^packages\/(simulator|testkit)\//, /^tests\//],
    remedy: "messages of things go through apps/dmf, and events through apps/management/src/messaging",
  },
  {
    modules: ["minio"],
    allowed: [/^apps\/artifact-store\/src\/storage\//, /^packages\/testkit\//, /^tests\//],
    remedy: "go through the storage interface of apps/artifact-store/src/storage",
  },
  {
    modules: ["pg", "knex"],
    allowed: [/^packages\/(db|stack|testkit)\//, /^tests\//, /\.sql\.ts$/],
    remedy: "use @harrier/db, which re-exports the types it gives out, and write statements in a .sql.ts file",
  },
  {
    modules: ["@opentelemetry/api", "@opentelemetry/sdk-trace", "@opentelemetry/resources", "@opentelemetry/exporter-trace-otlp-proto"],
    allowed: [/^packages\/tracing\//],
    remedy: "use `tracer` of @harrier/tracing, which loads nothing where tracing is off",
  },
  {
    modules: ["@grpc/grpc-js", "@grpc/proto-loader"],
    allowed: [/^packages\/rpc\//],
    remedy: "use createClient and createRpcServer of @harrier/rpc",
  },
];

/** These files may read the environment. */
const readsEnvironment = [
  /\/config\.ts$/,
  /^packages\/(stack|testkit)\//,
  /^packages\/simulator\/src\/cli\.ts$/, // a command reads its settings itself
  /^packages\/cli\/src\/environment\.ts$/,
  /^tests\//,
  /(^|\/)scripts\//,
  /\.test\.ts$/,
];

const maxLines = 400;
const longFile = 300;
const isTest = (file) => /\.(test|suite|fixture)\.ts$|\/(testing|test-support|fixtures)\//.test(file);
const homeOf = (file) => Object.keys(layers).find((home) => file.startsWith(`${home}/`));

/** Finds the modules that a source text imports, statically or not, values and types alike. */
export function importsOf(text) {
  const found = [];
  for (const match of text.matchAll(
    /^\s*(?:import|export)\b[^;"'`]*?\bfrom\s*["']([^"']+)["']|^\s*import\s*["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']/gm,
  )) {
    found.push(match[1] ?? match[2] ?? match[3]);
  }
  return found;
}

/** Returns the findings for one file (path from the root, with slashes); those with `warning` do not fail the check. */
export function checkFile(file, text) {
  const findings = [];
  const report = (rule, remedy, warning = false) => findings.push({ file, rule, remedy, warning });
  const home = homeOf(file);
  for (const module of importsOf(text)) {
    if (module.startsWith(".")) checkRelative(file, home, module, report);
    else if (module.startsWith("@harrier/")) checkLayer(file, home, module, report);
    else checkHome(file, module, report);
  }
  if (/\bprocess\.env\b/.test(withoutComments(text)) && !readsEnvironment.some((pattern) => pattern.test(file))) {
    report(
      "the environment is read in config.ts only",
      "add the setting to the zod object of config.ts and pass its value in from wire.ts",
    );
  }
  const lines = text.split("\n").length - 1;
  if (lines > maxLines) report(`${lines} lines, more than ${maxLines}`, "split the file by what its parts are about");
  return findings;
}

function checkLayer(file, home, module, report) {
  const [, name, ...rest] = module.split("/");
  if (rest.length > 0)
    report(`imports inside ${module}`, `import from "@harrier/${name}"; what is missing there belongs into its index.ts`);
  if (home === undefined) return;
  if (home.endsWith(`/${name}`)) return report(`imports its own package by name (${module})`, "use a relative path");
  const allowed = [...layers[home], ...(isTest(file) ? forTests : [])];
  if (allowed.includes(name)) return;
  const remedy = home.startsWith("apps/")
    ? "an app never imports another app: call it through @harrier/rpc or read its published views"
    : `${home} may import ${allowed.length === 0 ? "none of our packages" : allowed.join(", ")}: move the code up, or what it needs down`;
  report(`imports ${module}`, remedy);
}

function checkRelative(file, home, module, report) {
  const target = join(dirname(file), module).split(sep).join("/");
  if (home !== undefined && !target.startsWith(`${home}/`) && !mayReach(file, home, target)) {
    report(`reaches into ${target}`, "import the package by its name, or move the file");
  }
  // Statements may be built from shared ones; all other code asks the feature that owns them, and wire.ts composes.
  if (!home?.startsWith("apps/") || !target.endsWith(".sql.ts") || file.endsWith(".sql.ts") || isTest(file)) return;
  const feature = (path) => path.slice(`${home}/src/`.length).split("/").slice(0, -1).join("/");
  if (feature(file) !== "" && feature(file) !== feature(target)) {
    report(`uses the statements of another feature (${module})`, "call that feature's use case instead of its .sql.ts", true);
  }
}

/** Set-up runs before any package is built; the bench measures the very statements that a service runs. */
function mayReach(file, home, target) {
  if (home === "tests/setup" || (isTest(file) && target.startsWith("tests/setup/"))) return true;
  return home === "tests/bench" && target.endsWith(".sql.ts");
}

function checkHome(file, module, report) {
  for (const { modules, allowed, remedy } of homes) {
    if (!modules.some((name) => module === name || module.startsWith(`${name}/`))) continue;
    if (!isTest(file) && !allowed.some((pattern) => pattern.test(file))) report(`imports ${module}`, remedy);
  }
}

function withoutComments(text) {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "");
}

const skipped = new Set(["node_modules", "dist", "gen", ".turbo", "coverage", ".harrier"]);

function* sourceFiles(root, dir = root) {
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) {
      if (!skipped.has(entry.name)) yield* sourceFiles(root, path);
    } else if (/\.(tsx?|mjs|js)$/.test(entry.name)) yield relative(root, path).split(sep).join("/");
  }
}

function main() {
  const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
  const findings = [];
  const long = [];
  let count = 0;
  for (const top of ["apps", "packages", "tests", "scripts"]) {
    for (const file of sourceFiles(root, join(root, top))) {
      count += 1;
      const text = readFileSync(join(root, file), "utf8");
      findings.push(...checkFile(file, text));
      const lines = text.split("\n").length - 1;
      if (lines > longFile && lines <= maxLines) long.push(`${file} (${lines})`);
    }
  }
  if (long.length > 0) console.log(`warning: over ${longFile} lines: ${long.join(", ")}`);
  for (const { file, rule, remedy, warning } of findings) {
    (warning ? console.log : console.error)(`${warning ? "warning: " : ""}${file}: ${rule}\n    remedy: ${remedy}`);
  }
  const errors = findings.filter(({ warning }) => !warning).length;
  console.log(`imports: ${count} files, ${errors} findings, ${findings.length - errors + long.length} warnings`);
  process.exitCode = errors === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
