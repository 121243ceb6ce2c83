import { setTimeout as sleep } from "node:timers/promises";
import type { MessagingAccess, MessagingStatus } from "@harrier/contracts";
import { runFleet, runThings } from "@harrier/simulator";
import type { Stack } from "@harrier/stack";
import { type Admin, createAdmin, eventually, type RabbitMq, startRabbitMq, uniqueName } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { growthOfAny } from "./support/memory.ts";
import { pollOn } from "./support/polling.ts";
import { allowTargetTokens } from "./support/replicas.ts";
import { startAnsweringStack } from "./support/serving.ts";
import { connectBackend } from "./support/thing.ts";

// The broker does not answer for minutes, is restarted in order, and things say more than is handled: HTTP devices notice nothing, and memory stays flat.

const limitMs = 600_000;
const partitionMs = 150_000;
/** Node's heap grows to its usual size under load; what may not be is memory that follows the number of messages. */
const flatBytes = 96 * 1024 * 1024;
let broker: RabbitMq;
let stack: Stack;
let admin: Admin;
let url: string;
beforeAll(async () => {
  broker = await startRabbitMq();
  stack = await startAnsweringStack({ amqp: { url: broker.url, managementUrl: broker.managementUrl }, replicas: { dmf: 2 } });
  await allowTargetTokens(stack);
  admin = createAdmin({ baseUrl: stack.baseUrl, user: stack.adminUser, password: stack.adminPassword });
  url = Object.values((await admin.post<MessagingAccess>("system/amqp/dmf")).users)[0]?.amqpUri ?? "";
});
afterAll(async () => {
  await stack?.stop();
  await broker?.stop();
});

const count = async (query: string) => (await admin.get<{ total: number }>(`targets?limit=1&q=${encodeURIComponent(query)}`)).total;
const replicasOf = (...names: string[]) => stack.services.filter(({ service }) => names.includes(service));

test("a broker that does not answer for minutes, and is restarted, in the middle of a rollout stops no HTTP device, and things go on where they were", async () => {
  const each = 400;
  const name = uniqueName("cut");
  const idsOf = (kind: string) => Array.from({ length: each }, (_, i) => `${name}-${kind}-${i}`);
  const things = await runThings({ url, ids: idsOf("amqp") });
  const devices = idsOf("http").map((controllerId) => ({ controllerId, token: `token-${controllerId}` }));
  await admin.post(
    "targets",
    devices.map(({ controllerId, token }) => ({ controllerId, name: controllerId, securityToken: token })),
  );
  await eventually(async () => expect(await count(`controllerid==${name}-*`)).toBe(2 * each), limitMs, 200);
  const set = await admin.createSet([(await admin.createModule()).id]);
  const { id } = await admin.post<{ id: number }>("rollouts", {
    name,
    distributionSetId: set.id,
    targetFilterQuery: `controllerId==${name}-*`,
    amountGroups: 1,
  });
  const statusOf = async () => (await admin.get<{ status: string }>(`rollouts/${id}`)).status;
  await eventually(async () => expect(await statusOf()).toBe("ready"), limitMs, 200);
  const fleet = runFleet({ baseUrl: stack.baseUrl, devices, pollSeconds: 2, fail: 0 });
  try {
    const grown = await growthOfAny(replicasOf("dmf"), async () => {
      expect((await admin.call(`rollouts/${id}/start`, { method: "POST" })).status).toBeLessThan(300);
      await eventually(() => expect(things.report().finished).toBeGreaterThan(0), limitMs, 10);
      broker.pause();
      const until = Date.now() + partitionMs;
      try {
        await eventually(async () => expect(await count(`controllerid==${name}-http-*;updatestatus==in_sync`)).toBe(each), limitMs, 500);
        // it takes the clients of the broker some time to give their connections up, and that is what is tested
        await sleep(Math.max(0, until - Date.now()));
      } finally {
        broker.resume();
      }
      const before = things.report().finished;
      expect(before).toBeLessThan(each);
      await eventually(() => expect(things.report().finished).toBeGreaterThan(before), limitMs, 10);
      await broker.restart();
      await eventually(async () => expect(await statusOf()).toBe("finished"), limitMs, 500);
    });
    expect(grown).toBeLessThan(flatBytes);
  } finally {
    await fleet.stop();
    await things.stop();
  }
  for (const one of idsOf("amqp")) {
    const { content } = await admin.get<{ content: { detailStatus: string }[] }>(`targets/${one}/actions`);
    expect(content, one).toMatchObject([{ detailStatus: "finished" }]);
  }
});

test("things that say more than is handled wait in the broker: memory is flat, HTTP is served, and nothing is lost or overtaken", async () => {
  const backend = await connectBackend(url, { exchange: "fast.replies" });
  const ids = Array.from({ length: 40 }, () => uniqueName("fast"));
  const rounds = 500;
  const speak = (n: number): void => {
    for (const thingId of ids) {
      backend.send({ type: "EVENT", topic: "UPDATE_ATTRIBUTES", thingId }, { attributes: { n, text: "x".repeat(100) } });
    }
  };
  // the last value of each is the last that it sent: the messages of one thing are handled in order
  const handled = async (n: number): Promise<void> => {
    for (const id of ids) {
      await eventually(async () => expect(await admin.get(`targets/${id}/attributes`)).toMatchObject({ n: String(n) }), limitMs, 200);
    }
  };
  try {
    for (const id of ids) backend.register(id);
    // a service gives memory back at rest: its heap has its usual size when it has worked a moment ago
    const before = 100;
    for (let n = 1; n <= before; n += 1) speak(n);
    await handled(before);
    const grown = await growthOfAny(replicasOf("dmf", "controller"), async () => {
      const polling = await pollOn(stack, admin);
      for (let n = before + 1; n <= before + rounds; n += 1) speak(n);
      // they are more than is handled: the broker keeps them
      await eventually(
        async () => expect((await admin.get<MessagingStatus>("system/amqp")).waitingMessages).toBeGreaterThan(1_000),
        limitMs,
        200,
      );
      await polling.goesOn();
      await handled(before + rounds);
      expect(await polling.stop()).toEqual([]);
    });
    expect(grown).toBeLessThan(flatBytes);
  } finally {
    await backend.close();
  }
});
