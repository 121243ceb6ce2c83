// Runs the demo as a user does, with Kafka, S3 and things that speak by message: `npm start` against real servers, `npm run demo -- --dmf`, then the end by SIGTERM. It runs on Node 24
// after a build, as a part of .ci/run, and needs what `npm run test:real` needs.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { consumeEvents } from "../packages/events/dist/index.js";
import { freePort } from "../packages/stack/dist/index.js";
import { startKafka, startMinio, startRabbitMq } from "../packages/testkit/dist/index.js";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const devices = 200; // the demo's own number
const dataDir = mkdtempSync(join(tmpdir(), "harrier-ci-demo-"));
const cleanUps = [() => rmSync(dataDir, { recursive: true, force: true })];

function run(args, env) {
  const child = spawn("npm", args, { cwd: root, env: { ...process.env, ...env }, stdio: "inherit" });
  const ended = new Promise((resolve) => child.once("exit", (code, signal) => resolve(code ?? signal)));
  return { child, ended };
}

async function until(what, limitMs, check) {
  for (const limit = Date.now() + limitMs; !(await check()); ) {
    if (Date.now() > limit) throw new Error(`${what}: not within ${limitMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function start(env) {
  const server = run(["start"], env);
  cleanUps.push(async () => {
    server.child.kill("SIGTERM");
    await server.ended;
  });
  let over;
  void server.ended.then((code) => {
    over = code;
  });
  await until("npm start", 120_000, async () => {
    if (over !== undefined) throw new Error(`npm start ended with ${over}`);
    return fetch(`http://127.0.0.1:${env.HARRIER_HTTP_PORT}/readyz`).then(
      (answer) => answer.ok,
      () => false,
    );
  });
  return server;
}

/** Every device's update has ended, so there must be this many last events, each sent at least once. */
async function countEnds(brokers) {
  const ended = new Set();
  const consumer = await consumeEvents({ brokers, clientId: "ci-demo", groupId: "ci-demo", topics: ["action-events"] }, (event) => {
    if (event.data.active === false && event.data.status !== "scheduled") ended.add(event.subject);
  });
  try {
    await until(`${devices} last events`, 60_000, () => ended.size >= devices);
  } finally {
    await consumer.stop();
  }
  if (ended.size !== devices) throw new Error(`${ended.size} actions have ended by their events, not ${devices}`);
}

async function main() {
  const kafka = await startKafka();
  cleanUps.push(() => kafka.stop());
  const minio = await startMinio();
  cleanUps.push(() => minio.stop());
  const broker = await startRabbitMq();
  cleanUps.push(() => broker.stop());
  const env = {
    HARRIER_HTTP_PORT: String(await freePort()),
    HARRIER_DATA_DIR: dataDir,
    HARRIER_ADMIN_PASSWORD: randomBytes(12).toString("hex"),
    HARRIER_KAFKA_BROKERS: kafka.brokers,
    HARRIER_AMQP_URL: broker.url,
    HARRIER_AMQP_MANAGEMENT_URL: broker.managementUrl,
    HARRIER_S3_ENDPOINT: minio.endpoint,
    HARRIER_S3_ACCESS_KEY: minio.accessKey,
    HARRIER_S3_SECRET_KEY: minio.secretKey,
    HARRIER_S3_BUCKET: "harrier",
  };
  const server = await start(env);
  const code = await run(["run", "demo", "--", "--dmf"], env).ended;
  if (code !== 0) throw new Error(`npm run demo ended with ${code}`);
  if (!existsSync(join(minio.dataDir, env.HARRIER_S3_BUCKET))) throw new Error("nothing was stored in S3");
  await countEnds(kafka.brokers);
  const asked = Date.now();
  server.child.kill("SIGTERM");
  const how = await server.ended;
  const seconds = (Date.now() - asked) / 1000;
  if (seconds > 10) throw new Error(`npm start needed ${seconds} s to end`);
  console.log(`\nthe demo agrees with the server, ${devices} updates have their last event; ended (${how}) after ${seconds.toFixed(1)} s`);
}

let failure;
try {
  await main();
} catch (error) {
  failure = error;
}
for (const cleanUp of cleanUps.reverse()) await cleanUp();
if (failure !== undefined) console.error(`ci-demo: ${failure.message}`);
process.exit(failure === undefined ? 0 : 1);
