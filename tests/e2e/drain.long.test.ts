import type { ServiceName, Stack } from "@harrier/stack";
import { eventually, slowForm } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startMixedLoad } from "./support/mixed-load.ts";
import { adminOf, allowTargetTokens, replicaOf } from "./support/replicas.ts";
import { serving, startAnsweringStack } from "./support/serving.ts";

// An upgrade replaces replica by replica, and no client may notice it.

const backends = ["controller", "management", "artifact-store", "rollout-engine"] as const;
let stack: Stack;

beforeAll(async () => {
  stack = await startAnsweringStack({
    replicas: { controller: 2, management: 2, "artifact-store": 2, "rollout-engine": 2 },
    env: { HARRIER_DRAIN_MS: "3000", HARRIER_DRAIN_TRANSFERS_MS: "30000" },
  });
  await allowTargetTokens(stack);
});
afterAll(() => stack?.stop());

/** Ends one replica as an orchestrator does, and waits until its successor serves. */
async function replace(service: ServiceName, index: number): Promise<void> {
  const replica = replicaOf(stack, service, index);
  const former = replica.pid();
  stack.kill(service, index, "SIGTERM");
  await eventually(() => expect([undefined, former]).not.toContain(replica.pid()), 60_000);
  await serving([replica]);
}

/** Sends an upload that takes `ms`, in pieces. */
const slowUpload = (moduleId: number, name: string, ms: number) =>
  adminOf(stack).call(`softwaremodules/${moduleId}/artifacts`, { method: "POST", ...slowForm(name, { ms, pieces: 20 }) });

test.each(backends)("replacing each replica of %s under load fails no request", async (service) => {
  const load = await startMixedLoad(stack, 50);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  for (const index of [0, 1]) await replace(service, index);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const { done, failed } = await load.stop();
  process.stderr.write(`${service}: ${JSON.stringify(done)}, failed ${failed.length}\n`);
  expect(failed).toEqual([]);
  expect(Object.keys(done).length).toBe(10);
});

test("uploads that last longer than the pause succeed while their artifact-store is replaced", async () => {
  const { id } = await adminOf(stack).createModule();
  const uploads = Array.from({ length: 4 }, (_, n) => slowUpload(id, `slow-${n}.bin`, 8_000));
  await new Promise((resolve) => setTimeout(resolve, 500));
  await replace("artifact-store", 0);
  expect((await Promise.all(uploads)).map(({ status }) => status)).toEqual([201, 201, 201, 201]);
});
