import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import type { ServiceName, Stack } from "@harrier/stack";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startAnsweringStack } from "./support/serving.ts";

// A broker takes connections and never answers, as one does whose disk hangs.

const lines: string[] = [];
let broker: Server;
let stack: Stack;

beforeAll(async () => {
  broker = createServer((socket) => void socket.on("error", () => undefined).resume()).listen(0, "127.0.0.1");
  await once(broker, "listening");
  const { port } = broker.address() as AddressInfo;
  stack = await startAnsweringStack({ kafkaBrokers: `127.0.0.1:${port}`, print: (line) => void lines.push(line) });
}, 120_000);
afterAll(async () => {
  await stack?.stop();
  broker.close();
});

const publishers: readonly ServiceName[] = ["controller", "rollout-engine"];

test.each(publishers)("%s ends in order", async (service) => {
  stack.kill(service, 0, "SIGTERM");
  const ended = () => lines.filter((line) => line.includes(`[${service}`) && line.includes(" ended "));
  await expect.poll(ended, { timeout: 20_000 }).toEqual([expect.stringContaining("(exit 0)")]);
});
