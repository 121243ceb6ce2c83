import { request } from "node:http";
import type { Stack } from "@harrier/stack";
import { eventually } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { adminOf } from "./support/replicas.ts";
import { startAnsweringStack } from "./support/serving.ts";

// A controller hangs (its process is stopped) while devices sign in that no gateway knows.

const key = "hanging-gateway-key";
const devices = 1_500;
let stack: Stack;

beforeAll(async () => {
  stack = await startAnsweringStack({});
  const api = adminOf(stack);
  await api.configure("authentication.gatewaytoken.enabled", true);
  await api.configure("authentication.gatewaytoken.key", key);
  await api.configure("authentication.targettoken.enabled", true);
}, 120_000);
afterAll(() => stack?.stop());

/** Returns the status of a poll; each device has a token of its own, so that no cached answer for another one applies. */
function poll(controllerId: string, authorization: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const url = `${stack.baseUrl}/DEFAULT/controller/v1/${controllerId}`;
    const requested = request(url, { headers: { authorization }, agent: false }, (answer) => {
      answer.resume();
      answer.on("end", () => resolve(answer.statusCode ?? 0));
    });
    requested.on("error", reject);
    requested.end();
  });
}

const known = () => poll("known", `GatewayToken ${key}`);

test("every device that signs in meanwhile gets 503, and signs in within seconds of the recovery", { timeout: 120_000 }, async () => {
  await eventually(async () => expect(await known()).toBe(200));
  stack.kill("controller", 0, "SIGSTOP");
  let statuses: number[];
  try {
    statuses = await Promise.all(Array.from({ length: devices }, (_, n) => poll(`cold-${n}`, `TargetToken token-of-device-${n}`)));
  } finally {
    stack.kill("controller", 0, "SIGCONT");
  }
  expect(statuses.filter((status) => status !== 503)).toEqual([]);
  // An unknown device is denied as such, so controller answers again.
  await eventually(async () => expect(await poll("cold-0", "TargetToken another")).toBe(401), 5_000);
  await eventually(async () => expect(await known()).toBe(200), 5_000);
});
