import { createHash, randomBytes } from "node:crypto";
import type { Stack } from "@harrier/stack";
import { createDevice, type Device, eventually, twoOfEach, uniqueName } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { keepDown } from "./support/keep-down.ts";
import { adminOf, allowTargetTokens, gatewayUrls } from "./support/replicas.ts";
import { answering, startAnsweringStack } from "./support/serving.ts";

// Polls, reports and downloads continue while management, rollout-engine or Kafka are down (architecture §1.6).

const content = randomBytes(300_000);
const gatewayKey = "availability-gateway-key";
let stack: Stack;

beforeAll(async () => {
  stack = await startAnsweringStack({ replicas: twoOfEach });
  const api = adminOf(stack);
  await api.configure("authentication.gatewaytoken.enabled", true);
  await api.configure("authentication.gatewaytoken.key", gatewayKey);
  await allowTargetTokens(stack);
});
afterAll(() => stack?.stop());

/** Does a device's whole work: poll, deployment, download in two parts, hash, reports. */
async function update(device: Device): Promise<void> {
  const deployment = await device.deployment();
  if (deployment === undefined) throw new Error(`${device.controllerId} was given nothing`);
  expect((await device.report(deployment.id, "proceeding")).status).toBe(200);
  const artifact = deployment.deployment.chunks[0]?.artifacts[0];
  if (artifact === undefined) throw new Error("the deployment has no file");
  const parts = [await device.download(artifact, "bytes=0-99999"), await device.download(artifact, "bytes=100000-")];
  expect(parts.map(({ status }) => status)).toEqual([206, 206]);
  const whole = Buffer.concat(parts.map(({ bytes }) => bytes));
  expect(createHash("sha256").update(whole).digest("hex")).toBe(artifact.hashes.sha256);
  expect((await device.report(deployment.id, "closed", "success", ["installed"])).status).toBe(200);
}

test("devices sign in, poll, download and report while management and rollout-engine stay killed", async () => {
  const api = adminOf(stack);
  const { set } = await api.createSetWithFile(content);
  const targets = await api.createTargets(12);
  const devices = targets.map(({ controllerId, securityToken }) =>
    createDevice({ baseUrl: stack.baseUrl, controllerId, token: securityToken }),
  );
  const assigned = devices.slice(0, 8);
  for (const { controllerId } of assigned) await api.assign(controllerId, set.id);
  const [newSet, rolledOut] = [await api.createSetWithFile(content), devices.slice(8)];
  const prefix = (targets[0]?.controllerId ?? "").replace(/-\d+$/, "");
  const query = rolledOut.map(({ controllerId }) => `controllerId==${controllerId}`).join(",");
  const rollout = await api.createRollout(newSet.set.id, { targetFilterQuery: query, amountGroups: 2 });
  await api.rolloutIs(rollout.id, "ready");
  await api.startRollout(rollout.id);
  await api.rolloutIs(rollout.id, "running");

  const down = keepDown(stack, "management", "rollout-engine");
  try {
    await eventually(async () => expect((await fetch(`${stack.baseUrl}/readyz`)).status).toBe(503));
    // None of these devices has ever signed in before.
    for (const device of assigned) await update(device);
    for (const device of rolledOut.slice(0, 2)) await update(device);
    expect((await devices[0]?.putAttributes({ revision: "7" }))?.status).toBe(200);
    // A new device with the tenant's gateway token can still register.
    const plugged = createDevice({ baseUrl: stack.baseUrl, controllerId: `${prefix}-plugged`, gatewayToken: gatewayKey });
    expect((await plugged.poll()).config.polling.sleep).toMatch(/^\d\d:\d\d:\d\d$/);
    // An administrator gets an error at once.
    const refused = await api.call("targets");
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).not.toBeNull();
  } finally {
    await down.release();
  }

  // The reports of this time count, and the rollout continues by itself.
  for (const { controllerId } of assigned) expect(await api.get(`targets/${controllerId}`)).toMatchObject({ updateStatus: "in_sync" });
  expect(await api.get(`targets/${devices[0]?.controllerId}/attributes`)).toEqual({ revision: "7" });
  expect(await api.get(`targets/${prefix}-plugged`)).toMatchObject({ updateStatus: "registered" });
  for (const device of rolledOut.slice(2)) await eventually(() => update(device), 20_000, 250);
  const { totalTargetsPerStatus } = await api.rolloutIs(rollout.id, "finished");
  expect(totalTargetsPerStatus).toMatchObject({ finished: 4, error: 0, running: 0 });
});

test("polls and reports go on without artifact-store", async () => {
  const api = adminOf(stack);
  const { set } = await api.createSetWithFile();
  const { controllerId, securityToken } = await api.createTarget();
  const actionId = await api.assign(controllerId, set.id);
  const down = keepDown(stack, "artifact-store");
  try {
    const device = createDevice({ baseUrl: stack.baseUrl, controllerId, token: securityToken });
    expect((await device.deployment())?.id).toBe(String(actionId));
    expect((await device.report(actionId, "closed", "failure", ["no room"])).status).toBe(200);
  } finally {
    await down.release();
  }
  expect(await api.get(`targets/${controllerId}`)).toMatchObject({ updateStatus: "error" });
});

test("with one controller killed, the other answers every poll", async () => {
  const api = adminOf(stack);
  const targets = await api.createTargets(10, uniqueName("steady"));
  const gateway = gatewayUrls(stack)[0] as string;
  const poll = () =>
    Promise.all(
      targets.map(async ({ controllerId, securityToken }) => {
        return (await createDevice({ baseUrl: gateway, controllerId, token: securityToken }).call("")).status;
      }),
    );
  for (const index of [0, 1]) {
    expect(new Set(await poll())).toEqual(new Set([200]));
    stack.kill("controller", index);
    for (let round = 0; round < 20; round += 1) expect(new Set(await poll())).toEqual(new Set([200]));
    await answering(stack);
  }
});
