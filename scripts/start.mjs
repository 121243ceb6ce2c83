// `npm start` runs database and services under one supervisor, until Ctrl-C or SIGTERM. It runs on Node 24 (see dev.mjs).
import { relative } from "node:path";
import { readSettings, StartError, startStack } from "../packages/stack/dist/index.js";

const began = Date.now();
const starting = new AbortController();
let stack;
let stopAsked = 0;

async function stop() {
  // Ctrl-C arrives from the terminal and once more from each parent that passes it on, so only a later one counts as a second request.
  if (stopAsked !== 0) {
    if (Date.now() - stopAsked > 1_000) stack?.abort();
    return;
  }
  stopAsked = Date.now();
  starting.abort();
  if (stack === undefined) return; // startStack cleans up and rejects
  console.log("Stopping …");
  await stack.stop();
  process.exit(0);
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, stop);
process.on("disconnect", stop); // dev.mjs has ended
// dev.mjs has become this process, and npm, which started it, may be killed in a way that it cannot pass on
const parent = Number(process.argv.find((word) => word.startsWith("--parent="))?.slice("--parent=".length) || 0);
if (parent !== 0) {
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    void stop();
  }, 1_000);
  watch.unref();
}

try {
  const settings = readSettings(process.env, process.cwd());
  stack = await startStack({ ...settings, print: (line) => console.log(line), signal: starting.signal });
} catch (error) {
  if (stopAsked !== 0) process.exit(0);
  console.error(error instanceof StartError ? `harrier: ${error.message}` : error);
  process.exit(1);
}

if (stopAsked !== 0) {
  await stack.stop();
  process.exit(0);
}
const given = process.env.HARRIER_ADMIN_PASSWORD || process.env.HARRIER_ADMIN_PASSWORD_FILE;
console.log(`
Harrier is ready (${((Date.now() - began) / 1000).toFixed(1)} s)

  address   ${stack.baseUrl}        interface description: ${stack.baseUrl}/api/docs
${
  stack.consoleUrl === undefined
    ? ""
    : `  console   ${stack.consoleUrl}
`
}  user      ${stack.adminUser}
  password  ${given ? "as set by HARRIER_ADMIN_PASSWORD" : stack.adminPassword}
  data      ${relative(process.cwd(), stack.dataDir) || stack.dataDir}

Ctrl-C ends it.
`);
