import type { Stack } from "@harrier/stack";
import { eventually, slowForm } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Balancer, startBalancer } from "./support/balancer.ts";
import { startMixedLoad } from "./support/mixed-load.ts";
import { adminOf, allowTargetTokens, replicaOf, replicasOf } from "./support/replicas.ts";
import { serving, startAnsweringStack } from "./support/serving.ts";

// Two gateways are behind a balancer that respects readiness: each is replaced under load, and no request fails.

const perSecond = 50;
const slowMs = 12_000;
const pieces = 24;
let stack: Stack;
let balancer: Balancer;

beforeAll(async () => {
  stack = await startAnsweringStack({
    replicas: { gateway: 2 },
    gateway: { HARRIER_DRAIN_MS: "3000", HARRIER_DRAIN_TRANSFERS_MS: "30000" },
  });
  await allowTargetTokens(stack);
  balancer = await startBalancer(replicasOf(stack, "gateway").map(({ httpPort }) => httpPort));
});
afterAll(async () => {
  await balancer?.stop();
  await stack?.stop();
});

/** Ends one gateway as an orchestrator does, and waits until its successor serves. */
async function replace(index: number): Promise<void> {
  const gateway = replicaOf(stack, "gateway", index);
  const former = gateway.pid();
  stack.kill("gateway", index, "SIGTERM");
  await eventually(() => expect([undefined, former]).not.toContain(gateway.pid()), 60_000);
  await serving([gateway]);
}

/** Returns the status of an upload whose pieces come slowly, over `ms`. */
async function slowUpload(moduleId: number, name: string, ms: number): Promise<number> {
  const admin = adminOf(stack, balancer.baseUrl);
  const { status } = await admin.call(`softwaremodules/${moduleId}/artifacts`, { method: "POST", ...slowForm(name, { ms, pieces }) });
  return status;
}

test("uploads that last longer than the pause succeed while their gateway is replaced", async () => {
  const { id } = await adminOf(stack, balancer.baseUrl).createModule();
  const uploads = Promise.all(Array.from({ length: 4 }, (_, n) => slowUpload(id, `slow-${n}.bin`, slowMs)));
  await new Promise((resolve) => setTimeout(resolve, 500));
  await replace(0);
  expect(await uploads).toEqual([201, 201, 201, 201]);
});

test("replacing each gateway under load fails no request", async () => {
  const load = await startMixedLoad({ ...stack, baseUrl: balancer.baseUrl }, perSecond);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  for (const index of [0, 1]) {
    await replace(index);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
  }
  const { done, failed } = await load.stop();
  console.log(`gateways: ${JSON.stringify(done)}, failed ${failed.length}`);
  expect(failed).toEqual([]);
  expect(Object.keys(done).length).toBeGreaterThan(5);
});
