import type { Stack } from "@harrier/stack";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { callsServed } from "./support/metrics.ts";
import { adminOf, gatewayUrls, replicasOf } from "./support/replicas.ts";
import { answering, startAnsweringStack } from "./support/serving.ts";

// The tests use device API keys (spec 000 §5.5) through several gateways.

interface Key {
  id: number;
  apiKey: string;
  lastUsedOn?: string;
}

const path = "api-keys/dsi";
const validMs = 60 * 60 * 1000;
/** Every gateway denies a deleted key within this time. */
const forgottenMs = 2_000;
let stack: Stack;

beforeAll(async () => {
  stack = await startAnsweringStack({ replicas: { gateway: 2, controller: 2 } });
});
afterAll(() => stack?.stop());
afterEach(async () => {
  for (const { id } of await adminOf(stack).get<Key[]>(path)) await remove(id);
});

const create = (name: string) => adminOf(stack).post<Key>(path, { name, expiresAt: Date.now() + validMs });
const remove = (id: number) => adminOf(stack).call(`${path}/${id}`, { method: "DELETE" });
const lastUsedOn = async (id: number) => (await adminOf(stack).get<Key>(`${path}/${id}`)).lastUsedOn;

async function statusOf(gateway: string, key: string, controllerId = "by-key"): Promise<number> {
  const answer = await fetch(`${gateway}/DEFAULT/controller/v1/${controllerId}`, { headers: { authorization: `ApiKey ${key}` } });
  await answer.arrayBuffer();
  if (answer.status === 401) expect(answer.headers.get("www-authenticate")).toBe("ApiKey");
  return answer.status;
}

test("a key is verified once per gateway, however many devices it authenticates", async () => {
  const { apiKey } = await create("many devices");
  const verified = () => callsServed(replicasOf(stack, "controller"), "harrier.controller.v1.DeviceIdentityService", "verifyDevice");
  for (const gateway of gatewayUrls(stack)) expect(await statusOf(gateway, apiKey)).toBe(200);
  const before = await verified();
  for (const gateway of gatewayUrls(stack)) {
    for (let n = 0; n < 20; n += 1) expect(await statusOf(gateway, apiKey, `by-key-${n}`)).toBe(200);
  }
  expect(await verified()).toBe(before);
});

test("every gateway denies a deleted key within seconds, and the other key goes on", async () => {
  const [first, second] = [await create("first"), await create("second")];
  for (const gateway of gatewayUrls(stack)) {
    for (const { apiKey } of [first, second]) expect(await statusOf(gateway, apiKey)).toBe(200);
  }
  await remove(first.id);
  const began = Date.now();
  await Promise.all(
    gatewayUrls(stack).map(async (gateway) => {
      // The polls follow one another without a pause: an answer that was on its way during the change must not be cached.
      while ((await statusOf(gateway, first.apiKey)) !== 401) expect(Date.now() - began).toBeLessThan(forgottenMs);
    }),
  );
  for (let again = 0; again < 20; again += 1) {
    for (const gateway of gatewayUrls(stack)) {
      expect(await statusOf(gateway, first.apiKey)).toBe(401);
      expect(await statusOf(gateway, second.apiKey)).toBe(200);
    }
  }
});

test("a gateway that is shut down in order first sends which keys were used", async () => {
  const [first, second] = [await create("told soon"), await create("told at the stop")];
  const [, gateway = ""] = gatewayUrls(stack);
  expect(await statusOf(gateway, first.apiKey)).toBe(200);
  // This gateway has just sent uses of other keys, so a use that it buffers now waits for up to a minute.
  expect(await statusOf(gateway, second.apiKey)).toBe(200);
  await stack.restart("gateway", 1);
  expect(await lastUsedOn(first.id)).toMatch(/^\d{4}-\d\d-\d\d$/);
  expect(await lastUsedOn(second.id)).toBe(await lastUsedOn(first.id));
});

test("devices sign in with a key while management is down", async () => {
  const { apiKey } = await create("unattended");
  stack.kill("management");
  for (const gateway of gatewayUrls(stack)) expect(await statusOf(gateway, apiKey)).toBe(200);
  await answering(stack);
});
