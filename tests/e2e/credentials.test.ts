import type { Stack } from "@harrier/stack";
import { basic, type CreatedTarget, createDevice, eventually } from "@harrier/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callsServed, counterOf } from "./support/metrics.ts";
import { adminOf, allowTargetTokens, gatewayUrls, replicaOf, replicasOf } from "./support/replicas.ts";
import { answering, startAnsweringStack } from "./support/serving.ts";

// The tests check what each gateway caches of devices, and how soon it forgets (architecture §2, "Authentication").

const identityService = "harrier.controller.v1.DeviceIdentityService";
/** A change is in effect at every gateway within this time. */
const forgottenMs = 2_000;
let stack: Stack;

beforeAll(async () => {
  stack = await startAnsweringStack({ replicas: { gateway: 2, controller: 2 } });
  await allowTargetTokens(stack);
});
afterAll(() => stack?.stop());

async function statusOf(gateway: string, controllerId: string, token: string): Promise<number> {
  return (await createDevice({ baseUrl: gateway, controllerId, token }).call("")).status;
}

/** Polls as every device at every gateway until a round needs no sign-in any more. */
async function warmUp(targets: readonly CreatedTarget[]): Promise<void> {
  const calls = () => callsServed(replicasOf(stack, "controller"), identityService, "verifyDevice");
  await eventually(async () => {
    const before = await calls();
    for (const gateway of gatewayUrls(stack)) expect(await pollAll(gateway, targets)).toEqual(targets.map(() => 200));
    expect(await calls()).toBe(before);
  }, 15_000);
}

const pollAll = (gateway: string, targets: readonly CreatedTarget[]): Promise<number[]> =>
  Promise.all(targets.map(({ controllerId, securityToken }) => statusOf(gateway, controllerId, securityToken)));

test("a device that is known costs no gRPC call at all", async () => {
  const targets = await adminOf(stack).createTargets(20);
  await warmUp(targets);
  const backends = (["controller", "management", "artifact-store", "rollout-engine"] as const).flatMap((name) => replicasOf(stack, name));
  const calls = () => counterOf(backends, "harrier_rpc_calls_total", { side: "server" });
  const before = await calls();
  for (let round = 0; round < 10; round += 1) for (const gateway of gatewayUrls(stack)) await pollAll(gateway, targets);
  expect(await calls()).toBe(before);
});

describe("a change is in effect at every gateway within 2 s", () => {
  /** Polls as one device at one gateway without a pause until the answer is `status`; resolves to the time that it took. */
  async function timeUntil(status: number, poll: () => Promise<number>): Promise<number> {
    const began = Date.now();
    while ((await poll()) !== status) {
      if (Date.now() - began > 10_000) return Number.POSITIVE_INFINITY;
    }
    return Date.now() - began;
  }

  const everywhere = (status: number, controllerId: string, token: string) =>
    Promise.all(gatewayUrls(stack).map((gateway) => timeUntil(status, () => statusOf(gateway, controllerId, token))));

  test("a device's token", async () => {
    const api = adminOf(stack);
    const [target] = await api.createTargets(1);
    const { controllerId } = target as CreatedTarget;
    let token = (target as CreatedTarget).securityToken;
    await warmUp([{ controllerId, securityToken: token }]);
    for (let round = 1; round <= 3; round += 1) {
      const next = `changed-to-the-token-${round}`;
      const put = await api.call(`targets/${controllerId}`, { method: "PUT", body: { securityToken: next } });
      expect(put.status).toBe(200);
      // The polls follow one another without a pause: an answer that was on its way during the change must not be cached.
      for (const ms of await everywhere(401, controllerId, token)) expect(ms).toBeLessThan(forgottenMs);
      for (let again = 0; again < 20; again += 1) {
        for (const gateway of gatewayUrls(stack)) {
          expect(await statusOf(gateway, controllerId, token)).toBe(401);
          expect(await statusOf(gateway, controllerId, next)).toBe(200);
        }
      }
      token = next;
    }
  });

  test("a deleted device", async () => {
    const api = adminOf(stack);
    const [target] = await api.createTargets(1);
    const { controllerId, securityToken } = target as CreatedTarget;
    await warmUp([target as CreatedTarget]);
    expect((await api.call(`targets/${controllerId}`, { method: "DELETE" })).status).toBe(200);
    for (const ms of await everywhere(401, controllerId, securityToken)) expect(ms).toBeLessThan(forgottenMs);
  });

  test("switching target tokens off", async () => {
    const api = adminOf(stack);
    const [target] = await api.createTargets(1);
    const { controllerId, securityToken } = target as CreatedTarget;
    await warmUp([target as CreatedTarget]);
    for (const [enabled, status] of [
      [false, 401],
      [true, 200],
    ] as const) {
      await api.configure("authentication.targettoken.enabled", enabled);
      for (const ms of await everywhere(status, controllerId, securityToken)) expect(ms).toBeLessThan(forgottenMs);
    }
  });

  test("the gateway key of the tenant", async () => {
    const api = adminOf(stack);
    const [target] = await api.createTargets(1);
    const { controllerId } = target as CreatedTarget;
    await api.configure("authentication.gatewaytoken.enabled", true);
    await api.configure("authentication.gatewaytoken.key", "the-first-gateway-key");
    const poll = (gateway: string, key: string) =>
      createDevice({ baseUrl: gateway, controllerId, gatewayToken: key })
        .call("")
        .then(({ status }) => status);
    const allAnswer = (status: number, key: string) =>
      Promise.all(gatewayUrls(stack).map((gateway) => timeUntil(status, () => poll(gateway, key))));
    for (const ms of await allAnswer(200, "the-first-gateway-key")) expect(ms).toBeLessThan(forgottenMs);
    await api.configure("authentication.gatewaytoken.key", "the-second-gateway-key");
    for (const ms of await allAnswer(401, "the-first-gateway-key")) expect(ms).toBeLessThan(forgottenMs);
    for (const ms of await allAnswer(200, "the-second-gateway-key")) expect(ms).toBeLessThan(forgottenMs);
  });

  test("an administrator's permissions are cached too, but a changed password takes effect", async () => {
    for (const gateway of gatewayUrls(stack)) {
      expect((await adminOf(stack, gateway).call("userinfo")).status).toBe(200);
      const headers = { authorization: basic("admin", "wrong") };
      expect((await adminOf(stack, gateway).call("userinfo", { headers })).status).toBe(401);
    }
  });
});

test("when a change stream breaks, its gateway drops its cache, and devices sign in through the other replica", async () => {
  const targets = await adminOf(stack).createTargets(10);
  const cold = new Map(gatewayUrls(stack).map((gateway) => [gateway, 0]));
  // Each gateway's stream comes from one of the two replicas: after both have died once, each stream has been cut at least once.
  for (const index of [0, 1]) {
    await warmUp(targets);
    const survivor = replicaOf(stack, "controller", 1 - index);
    stack.kill("controller", index);
    for (const gateway of gatewayUrls(stack)) {
      const before = await callsServed([survivor], identityService, "verifyDevice");
      for (let round = 0; round < 10; round += 1) {
        expect(await pollAll(gateway, targets)).toEqual(targets.map(() => 200));
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
      const verified = (await callsServed([survivor], identityService, "verifyDevice")) - before;
      cold.set(gateway, (cold.get(gateway) ?? 0) + verified);
    }
    await answering(stack);
  }
  for (const verified of cold.values()) expect(verified).toBeGreaterThanOrEqual(targets.length);
});
