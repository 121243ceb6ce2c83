import type { KeySet } from "@harrier/rpc";
import type { Stack } from "@harrier/stack";
import { type Poll, type RolloutView, send, succeeded, twoOfEach, uniqueName } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { administrator, deviceNamed, keysOf, signedHeaders } from "./support/identity.ts";
import { adminOf, replicasOf, urlOf } from "./support/replicas.ts";
import { startAnsweringStack } from "./support/serving.ts";

// The next request sees what was answered before, whichever replica it reaches (architecture §1.4).

let stack: Stack;
let keys: KeySet;

beforeAll(async () => {
  stack = await startAnsweringStack({ replicas: twoOfEach });
  keys = keysOf(stack);
});
afterAll(() => stack?.stop());

/** Makes the same request to each replica of a service, behind the gateway. */
async function atEachReplica<Body>(service: "controller" | "rollout-engine", path: string, controllerId?: string): Promise<Body[]> {
  const principal = controllerId === undefined ? administrator : deviceNamed(controllerId);
  const headers = signedHeaders(keys, principal, { audience: service, method: "GET", path });
  const answers = replicasOf(stack, service).map(async (replica) => succeeded(await send<Body>(urlOf(replica) + path, { headers }), path));
  return Promise.all(answers);
}

const pollsOf = (controllerId: string) => atEachReplica<Poll>("controller", `/DEFAULT/controller/v1/${controllerId}`, controllerId);

test("the next poll gets an assignment that was answered, at both controllers", async () => {
  const api = adminOf(stack);
  const { set } = await api.createSetWithFile();
  for (const { controllerId } of await api.createTargets(15)) {
    // Both know the device without it.
    for (const poll of await pollsOf(controllerId)) expect(poll._links?.deploymentBase).toBeUndefined();
    const actionId = await api.assign(controllerId, set.id);
    for (const poll of await pollsOf(controllerId)) expect(poll._links?.deploymentBase?.href).toContain(`/deploymentBase/${actionId}?`);
    expect((await api.cancel(controllerId, actionId)).status).toBe(204);
    for (const poll of await pollsOf(controllerId)) expect(poll._links?.cancelAction?.href).toContain(`/cancelAction/${actionId}`);
  }
});

test("the next rollout has a target whose creation was answered, and both engines have the rollout", async () => {
  const api = adminOf(stack);
  const { set } = await api.createSetWithFile();
  const prefix = uniqueName("fresh");
  for (let n = 1; n <= 8; n += 1) {
    await api.createTargets(1, `${prefix}-${n}`);
    const rollout = await api.createRollout(set.id, { targetFilterQuery: `controllerId==${prefix}-*` });
    expect(rollout.totalTargets).toBe(n);
    for (const seen of await atEachReplica<RolloutView>("rollout-engine", `/api/mgmt/v1/rollouts/${rollout.id}`))
      expect(seen).toMatchObject({ id: rollout.id, totalTargets: n });
  }
});

test("an administrator sees a report that was answered", async () => {
  const api = adminOf(stack);
  const { set } = await api.createSetWithFile();
  for (const { controllerId } of await api.createTargets(10)) {
    const actionId = await api.assign(controllerId, set.id);
    const path = `/DEFAULT/controller/v1/${controllerId}/deploymentBase/${actionId}/feedback`;
    const body = { status: { execution: "closed", result: { finished: "success" } } };
    const content = Buffer.from(JSON.stringify(body));
    const headers = signedHeaders(keys, deviceNamed(controllerId), { audience: "controller", method: "POST", path, content });
    const replicas = replicasOf(stack, "controller");
    succeeded(
      await send(urlOf(replicas[actionId % replicas.length] as (typeof replicas)[0]) + path, { method: "POST", headers, body }),
      path,
    );
    expect(await api.get(`targets/${controllerId}`)).toMatchObject({ updateStatus: "in_sync" });
    expect(await api.get(`targets/${controllerId}/actions/${actionId}`)).toMatchObject({ status: "finished", detailStatus: "finished" });
    expect(await api.get(`targets/${controllerId}/installedDS`)).toMatchObject({ id: set.id });
  }
});
