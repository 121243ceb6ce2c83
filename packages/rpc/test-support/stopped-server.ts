import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { parseKeys } from "../src/keys.ts";
import { createRpcServer } from "../src/server.ts";

/**
 * A controller in a thread of its own, whose loop can be stopped for a while, as a process that hangs is: a message holds for how many
 * milliseconds. `cancelSetChunk` and `cancelAction` take `slowMs`, `forceAction` none.
 */
const { keys, slowMs } = workerData as { keys: string; slowMs: number };
const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const server = createRpcServer({ service: "controller", host: "127.0.0.1", port: 0, keys: parseKeys(keys), log: quiet });
let slow = 0;
const slowly = async () => {
  slow += 1;
  parentPort?.postMessage({ slow });
  await sleep(slowMs);
  return { cursor: 0, done: true, canceled: 0 };
};
const handlers = { forceAction: async () => ({}), cancelSetChunk: slowly, cancelAction: slowly };
server.add(
  "harrier.controller.v1.ActionsService",
  new Proxy(handlers, { get: (own, name) => own[name as "forceAction"] ?? (async () => ({})) }) as never,
);
parentPort?.postMessage({ port: await server.start() });
parentPort?.on("message", (ms: number) => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
});
