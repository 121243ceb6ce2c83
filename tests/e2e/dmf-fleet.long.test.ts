import type { MessagingAccess } from "@harrier/contracts";
import { runFleet, runThings } from "@harrier/simulator";
import type { Stack } from "@harrier/stack";
import { eventually, type RabbitMq, startRabbitMq, uniqueName } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { allowTargetTokens } from "./support/replicas.ts";
import { resilientAdmin } from "./support/resilient-admin.ts";
import { startAnsweringStack } from "./support/serving.ts";

let broker: RabbitMq;
let stack: Stack;
beforeAll(async () => {
  broker = await startRabbitMq();
  stack = await startAnsweringStack({ amqp: { url: broker.url, managementUrl: broker.managementUrl }, replicas: { dmf: 2 } });
  await allowTargetTokens(stack);
});
afterAll(async () => {
  await stack?.stop();
  await broker?.stop();
});

const each = 1_000;
const limitMs = 600_000;
const points = ["dmf.message.after-handled", "dmf.message.after-ack", "dmf.publish.before-confirm", "dmf.publish.after-confirm"];
interface ActionView {
  id: number;
  detailStatus: string;
}

test("a rollout over 1,000 things and 1,000 HTTP devices ends with one action each and whole histories, whatever of messaging is killed", async () => {
  const api = resilientAdmin(stack);
  const name = uniqueName("both");
  const made = await api.settle<MessagingAccess>("system/amqp/dmf", { method: "POST" });
  const url = Object.values(made.answer.body.users)[0]?.amqpUri ?? "";
  const idsOf = (kind: string) => Array.from({ length: each }, (_, i) => `${name}-${kind}-${i}`);
  const things = await runThings({ url, ids: idsOf("amqp") });
  const devices = idsOf("http").map((controllerId) => ({ controllerId, token: `token-${controllerId}` }));
  const bodies = devices.map(({ controllerId, token }) => ({ controllerId, securityToken: token }));
  for (const part of [bodies.slice(0, 500), bodies.slice(500)]) {
    expect((await api.settle("targets", { method: "POST", body: part })).answer.status).toBe(201);
  }
  const count = async (query: string) => (await api.get<{ total: number }>(`targets?limit=1&q=${encodeURIComponent(query)}`)).total;
  await eventually(async () => expect(await count(`controllerid==${name}-*`)).toBe(2 * each), limitMs, 500);
  const module = await api.settle<{ id: number }[]>("softwaremodules", { method: "POST", body: [{ name, version: "1.0", type: "os" }] });
  const modules = [{ id: module.answer.body[0]?.id }];
  const set = await api.settle<{ id: number }[]>("distributionsets", {
    method: "POST",
    body: [{ name, version: "1.0", type: "os", modules }],
  });
  const rollout = await api.settle<{ id: number }>("rollouts", {
    method: "POST",
    body: {
      name,
      distributionSetId: set.answer.body[0]?.id,
      targetFilterQuery: `controllerId==${name}-*`,
      amountGroups: 8,
      successCondition: { condition: "THRESHOLD", expression: "50" },
      successAction: { action: "NEXTGROUP", expression: "" },
    },
  });
  const id = rollout.answer.body.id;
  const statusOf = async () => (await api.get<{ status: string }>(`rollouts/${id}`)).status;
  await eventually(async () => expect(await statusOf()).toBe("ready"), limitMs, 500);
  const fleet = runFleet({ baseUrl: stack.baseUrl, devices, pollSeconds: 5, fail: 0 });
  try {
    // each fault meets a part of the rollout: it starts when the one before has, and the broker is killed in the middle of two of them
    expect((await api.settle(`rollouts/${id}/start`, { method: "POST" })).answer.status).toBeLessThan(300);
    for (const [n, point] of points.entries()) {
      for (const index of [0, 1]) await stack.restart("dmf", index, `${point}:20`);
      if (n % 2 === 1) {
        await broker.kill();
        await broker.restart();
      }
      const finished = things.report().finished;
      if (finished < each)
        await eventually(() => expect(things.report().finished).toBeGreaterThan(Math.min(finished + 50, each) - 1), limitMs, 200);
    }
    await eventually(async () => expect(await statusOf()).toBe("finished"), limitMs, 1_000);
  } finally {
    await fleet.stop();
    await things.stop();
  }
  const wrong: string[] = [];
  const controllerIds = [...idsOf("amqp"), ...idsOf("http")];
  const check = async (): Promise<void> => {
    for (let one = controllerIds.pop(); one !== undefined; one = controllerIds.pop()) {
      const { content: actions } = await api.get<{ content: ActionView[] }>(`targets/${one}/actions`);
      const [action] = actions;
      if (actions.length !== 1 || action?.detailStatus !== "finished") {
        wrong.push(`${one}: ${JSON.stringify(actions.map(({ detailStatus }) => detailStatus))}`);
        continue;
      }
      const { content: entries } = await api.get<{ content: { id: number; type: string }[] }>(
        `targets/${one}/actions/${action.id}/status?limit=500&sort=id:ASC`,
      );
      const types = entries.map(({ type }) => type);
      const gap = entries.some(({ id: number }, index) => number !== index + 1);
      if (gap || types.at(-1) !== "finished" || types.filter((type) => type === "finished").length !== 1)
        wrong.push(`${one}: ${types.join(" ")}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, check));
  expect(wrong).toEqual([]);
});
