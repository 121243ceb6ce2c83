import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keyPairs, keyPairsOf, parseKeys } from "@harrier/rpc";
import { type ServiceName, type Stack, serviceNames } from "@harrier/stack";
import { createDevice, send } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { administrator, signedHeaders } from "./support/identity.ts";
import { adminOf, allowTargetTokens, gatewayUrls, replicaOf, replicasOf, urlOf } from "./support/replicas.ts";
import { answering, startAnsweringStack } from "./support/serving.ts";

// There is one key per pair of caller and audience, and two are accepted during a rotation, which no client may notice (architecture §2).

const dir = mkdtempSync(join(tmpdir(), "harrier-keys-"));
const keyFileOf = (service: ServiceName): string => join(dir, service);
const secretOf = new Map(["k1", "k2"].map((id) => [id, new Map(keyPairs().map((pair) => [pair, randomBytes(32).toString("base64")]))]));
let stack: Stack;

/** Builds the setting with these keys of a service's pairs: the first signs, all verify. */
const keysText = (service: ServiceName, ids: readonly string[]): string =>
  keyPairsOf(service)
    .map((pair) => `${pair}=${ids.map((id) => `${id}:${secretOf.get(id)?.get(pair)}`).join(",")}`)
    .join(";");

function give(...ids: string[]): void {
  for (const service of serviceNames) writeFileSync(keyFileOf(service), keysText(service, ids), { mode: 0o600 });
}

/** The services read these files at their start, in place of the stack's own keys. */
const filesOfAll = Object.fromEntries(
  serviceNames.map((service) => [service, { HARRIER_IDENTITY_KEYS: "", HARRIER_IDENTITY_KEYS_FILE: keyFileOf(service) }]),
);

beforeAll(async () => {
  give("k1");
  stack = await startAnsweringStack({
    replicas: { gateway: 2, controller: 2, "rollout-engine": 2 },
    envOf: filesOfAll,
  });
  await allowTargetTokens(stack);
});
afterAll(async () => {
  await stack?.stop();
  rmSync(dir, { recursive: true, force: true });
});

/** Makes one request of each kind, through each gateway: they cross every boundary that carries an identity, HTTP and gRPC. */
async function everythingWorks(): Promise<void> {
  for (const gateway of gatewayUrls(stack)) {
    const api = adminOf(stack, gateway);
    const { controllerId, securityToken } = await api.createTarget(); // gateway -> management -> controller
    const { set } = await api.createSetWithFile(); // gateway -> artifact-store -> management
    await api.createRollout(set.id, { targetFilterQuery: `controllerId==${controllerId}` }); // gateway -> rollout-engine -> management
    await api.assign(controllerId, set.id);
    const device = createDevice({ baseUrl: gateway, controllerId, token: securityToken });
    const deployment = await device.deployment();
    const artifact = deployment?.deployment.chunks[0]?.artifacts[0];
    if (deployment === undefined || artifact === undefined) throw new Error("the device was given nothing");
    expect((await device.download(artifact)).status).toBe(200);
    expect((await device.report(deployment.id, "closed", "success")).status).toBe(200);
  }
}

async function restartAll(services: readonly ServiceName[]): Promise<void> {
  for (const service of services) for (const { index } of replicasOf(stack, service)) await stack.restart(service, index);
  await answering(stack);
}

/** Tells whether the replica accepts an identity that is signed with this key alone. */
async function accepts(service: ServiceName, key: string): Promise<boolean> {
  const path = "/api/mgmt/v1/targets";
  const keys = parseKeys(keysText("gateway", [key]));
  const headers = signedHeaders(keys, administrator, { audience: service, method: "GET", path });
  return (await send(urlOf(replicaOf(stack, service)) + path, { headers })).status === 200;
}

test("a new key is added, put first service by service, and the old one removed", async () => {
  await everythingWorks();
  expect([await accepts("management", "k1"), await accepts("management", "k2")]).toEqual([true, false]);

  give("k1", "k2"); // The new key is second: every service verifies both, none signs with it yet.
  await restartAll(serviceNames);
  await everythingWorks();
  expect([await accepts("management", "k1"), await accepts("management", "k2")]).toEqual([true, true]);

  give("k2", "k1");
  for (const service of ["gateway", "management", "rollout-engine", "artifact-store"] as const) {
    await restartAll([service]); // This service signs with the new key, the others still with the old one.
    await everythingWorks();
  }
  await restartAll(["controller"]);

  give("k2");
  await stack.restart("gateway", 0); // One gateway is without the old key, the other still has both.
  await answering(stack);
  await everythingWorks();
  await restartAll(serviceNames);
  await everythingWorks();
  expect([await accepts("management", "k1"), await accepts("management", "k2")]).toEqual([false, true]);
});
