// Runs on whatever Node the machine has (>= 18), with nothing installed.
// 1. It installs the workspace with the pinned pnpm when node_modules is missing or older than the lockfile.
// 2. It builds when a source has changed since the last build (start, demo, simulate, oidc, bench).
// 3. It hands over: to our own programs directly on Node 24 from the lockfile, to anything else by `pnpm run`.
import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { built, installed, isUpToDate, members, sha256, sourcesHash } from "./sources.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, "node_modules");
const bin = join(modules, ".bin");
const node = join(bin, "node"); // Node 24
const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
const underNpm = process.env.npm_lifecycle_event !== undefined;

// These programs run directly on Node 24, because pnpm and turbo do not pass SIGTERM on to their children.
const programs = {
  start: [join("scripts", "start.mjs")],
  demo: [join("packages", "simulator", "dist", "cli.js"), "demo"],
  simulate: [join("packages", "simulator", "dist", "cli.js"), "run"],
  oidc: [join("packages", "testkit", "dist", "oidc.js")],
  bench: [join("tests", "bench", "src", "main.ts")],
  "audit:verify": [join("apps", "management", "dist", "audit-verify.js")],
};

function environment(extra = {}) {
  const env = { TURBO_TELEMETRY_DISABLED: "1", ...process.env, PATH: bin + delimiter + process.env.PATH, ...extra };
  // npm's own npm_config_*/npm_package_* variables must not reach pnpm.
  for (const name of Object.keys(env)) if (/^npm_(package|lifecycle|command|execpath|node_execpath)/i.test(name)) delete env[name];
  return env;
}

function run(command, args, { env: extra = {}, ipc = false } = {}) {
  const env = environment(extra);
  return new Promise((resolve) => {
    // Nothing is sent over the channel: its end tells the other side that this process has ended, for whatever reason.
    const stdio = ipc ? ["inherit", "inherit", "inherit", "ipc"] : "inherit";
    const child = spawn(command, args, { cwd: root, stdio, env });
    const pass = (signal) => child.kill(signal);
    for (const signal of signals) process.on(signal, pass);
    child.on("error", (error) => {
      console.error(`${command}: ${error.message}`);
      resolve(127);
    });
    child.on("exit", (code, signal) => {
      for (const name of signals) process.off(name, pass);
      resolve(code ?? (signal === "SIGINT" ? 130 : 143));
    });
  });
}

/**
 * Becomes another program: the supervisor of `npm start` needs no second process in front of it for as long as it runs. Answers where this Node, or
 * the system, cannot do that.
 */
function become(args) {
  if (typeof process.execve !== "function") return;
  process.removeAllListeners("warning"); // it is "experimental"
  try {
    process.execve(node, [node, ...args], environment());
  } catch {
    // it goes on as a child
  }
}

async function step(command, args, options) {
  const code = await run(command, args, options);
  if (code !== 0) process.exit(code);
}

async function install() {
  const lock = sha256([readFileSync(join(root, "pnpm-lock.yaml"))]);
  if (isUpToDate(installed, lock)) return;
  // pnpm would ask before it removes a node_modules that npm or another pnpm left.
  if (existsSync(modules) && !existsSync(join(modules, ".modules.yaml"))) rmSync(modules, { recursive: true, force: true });
  const pinned = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).packageManager; // pnpm@x.y.z
  await step("npx", ["--yes", pinned, "install", "--frozen-lockfile"], { env: { CI: "true" } });
  writeFileSync(installed, lock);
}

async function build({ always = false } = {}) {
  const hash = sourcesHash();
  if (!always && isUpToDate(built, hash) && members().every((dir) => existsSync(join(dir, "dist")))) return;
  rmSync(built, { force: true });
  await step(join(bin, "turbo"), ["run", "build", "--output-logs=errors-only"]);
  writeFileSync(built, hash);
}

/**
 * npm, started by a user or a service manager, may be killed in a way that it cannot pass on. Then this process gets another parent, and ends in
 * order what it started. This holds only under npm: a user who starts this file in the background of a shell may close the shell.
 */
function followParent() {
  if (!underNpm) return;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, "SIGTERM");
  }, 500);
  watch.unref();
}

followParent();
await install();
const [script, ...rest] = process.argv.slice(2);
if (script !== undefined && Object.hasOwn(programs, script)) {
  await build();
  const program = ["--enable-source-maps", ...programs[script], ...rest];
  if (script === "start") become([...program, ...(underNpm ? [`--parent=${process.ppid}`] : [])]);
  process.exit(await run(node, program, { ipc: script === "start" }));
} else if (script === "build") {
  await build({ always: true });
} else if (script !== undefined) {
  process.exit(await run(join(bin, "pnpm"), ["run", script, ...rest]));
}
