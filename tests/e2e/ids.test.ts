import type { Stack } from "@harrier/stack";
import { twoOfEach } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { adminOf } from "./support/replicas.ts";
import { answering, startAnsweringStack } from "./support/serving.ts";

// All ids that a device sees are numbered per tenant from 11 upward, in blocks, below 2^31 (architecture §2, "Ids").

let stack: Stack;

beforeAll(async () => {
  stack = await startAnsweringStack({ replicas: twoOfEach });
});
afterAll(() => stack?.stop());

interface Groups {
  content: { id: number }[];
}

test("the first id of each kind is 11 or a little above", async () => {
  const api = adminOf(stack);
  const { module, artifact, set } = await api.createSetWithFile();
  const { controllerId } = await api.createTarget();
  const rollout = await api.createRollout(set.id);
  await api.rolloutIs(rollout.id, "ready");
  const groups = await api.get<Groups>(`rollouts/${rollout.id}/deploygroups`);
  const actionId = await api.assign(controllerId, set.id);
  for (const [what, id] of Object.entries({
    module: module.id,
    artifact: artifact.id,
    set: set.id,
    rollout: rollout.id,
    group: groups.content[0]?.id ?? 0,
    action: actionId,
  })) {
    expect(id, what).toBeGreaterThanOrEqual(11);
    expect(id, what).toBeLessThan(11 + 4 * 50); // Each replica takes blocks of 50 ids.
  }
});

test("no id is assigned twice, by two replicas at once or after a restart", async () => {
  const api = adminOf(stack);
  const { set } = await api.createSetWithFile();
  const assignAll = async () => {
    const targets = await api.createTargets(60);
    return Promise.all(targets.map(({ controllerId }) => api.assign(controllerId, set.id)));
  };
  const before = await assignAll();
  for (const index of [0, 1]) await stack.restart("controller", index);
  await answering(stack);
  const modules = await Promise.all(Array.from({ length: 30 }, () => api.createModule()));
  await stack.restart("management");
  await answering(stack);
  const more = await Promise.all(Array.from({ length: 30 }, () => api.createModule()));
  const after = await assignAll();
  const actions = [...before, ...after];
  expect(new Set(actions).size).toBe(actions.length);
  const moduleIds = [...modules, ...more].map(({ id }) => id);
  expect(new Set(moduleIds).size).toBe(moduleIds.length);
  for (const id of [...actions, ...moduleIds]) expect(id).toBeLessThan(2 ** 31);
});
