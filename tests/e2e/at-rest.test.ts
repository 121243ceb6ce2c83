import { setTimeout as sleep } from "node:timers/promises";
import type { Stack } from "@harrier/stack";
import { type CreatedTarget, createDevice } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callsServed, counterOf } from "./support/metrics.ts";
import { adminOf, allowTargetTokens, gatewayUrls, replicasOf } from "./support/replicas.ts";
import { startAnsweringStack } from "./support/serving.ts";

// What a change at one gateway means for another one, and for replicas of controller, that nobody has asked anything for a while (ADR 38).

/** A gateway rests half a minute after its last request, and controller as long after its last. */
const restsAfterMs = 32_000;
let stack: Stack;

beforeAll(async () => {
  stack = await startAnsweringStack({ replicas: { gateway: 2, controller: 2 } });
  await allowTargetTokens(stack);
});
afterAll(() => stack?.stop());

const statusAt = async (gateway: string, { controllerId, securityToken }: CreatedTarget): Promise<number> =>
  (await createDevice({ baseUrl: gateway, controllerId, token: securityToken }).call("")).status;
const rounds = (job: string) => counterOf(replicasOf(stack, "controller"), "harrier_job_duration_seconds_count", { job });

test("what has changed while a gateway and controller rested is in effect at the first request after it", { timeout: 90_000 }, async () => {
  const api = adminOf(stack);
  const [first, second] = gatewayUrls(stack) as [string, string];
  const [kept, changed, deleted] = (await api.createTargets(3)) as [CreatedTarget, CreatedTarget, CreatedTarget];
  for (const target of [kept, changed, deleted]) expect(await statusAt(second, target)).toBe(200);
  await sleep(restsAfterMs);

  const before = await rounds("credential-feed");
  expect(before).toBeGreaterThan(0);
  await sleep(2_000);
  expect((await rounds("credential-feed")) - before).toBeLessThanOrEqual(4); // two replicas; 8 if they were read at their period

  const ofAdmin = adminOf(stack, first);
  const put = await ofAdmin.call(`targets/${changed.controllerId}`, {
    method: "PUT",
    body: { securityToken: "another-token-of-the-device" },
  });
  expect(put.status).toBe(200);
  expect((await ofAdmin.call(`targets/${deleted.controllerId}`, { method: "DELETE" })).status).toBe(200);
  await ofAdmin.call("system/configs/pollingTime", { method: "PUT", body: { value: "00:00:37" } });
  expect(await statusAt(second, changed)).toBe(401);
  expect(await statusAt(second, deleted)).toBe(401);
  const poll = () => createDevice({ baseUrl: second, controllerId: kept.controllerId, token: kept.securityToken }).call("");
  await expect.poll(async () => (await poll()).body, { timeout: 1_000 }).toMatchObject({ config: { polling: { sleep: "00:00:37" } } });

  // and from then on it is known again, without a call
  const calls = () => callsServed(replicasOf(stack, "controller"), "harrier.controller.v1.DeviceIdentityService", "verifyDevice");
  await expect
    .poll(
      async () => {
        const so = await calls();
        expect(await statusAt(second, kept)).toBe(200);
        return (await calls()) - so;
      },
      { timeout: 8_000 },
    )
    .toBe(0);
});
