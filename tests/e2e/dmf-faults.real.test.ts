import type { MessagingAccess } from "@harrier/contracts";
import type { Stack } from "@harrier/stack";
import { type Admin, createAdmin, eventually, type RabbitMq, startRabbitMq, startTestStack, uniqueName } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Backend, connectBackend } from "./support/thing.ts";

let broker: RabbitMq;
let stack: Stack;
let admin: Admin;
let url: string;
let setId: number;
beforeAll(async () => {
  broker = await startRabbitMq();
  stack = await startTestStack({ amqp: { url: broker.url, managementUrl: broker.managementUrl }, replicas: { dmf: 2 } });
  admin = createAdmin({ baseUrl: stack.baseUrl, user: stack.adminUser, password: stack.adminPassword });
  url = Object.values((await admin.post<MessagingAccess>("system/amqp/dmf")).users)[0]?.amqpUri ?? "";
  setId = (await admin.createSet([(await admin.createModule()).id])).id;
});
afterAll(async () => {
  await stack?.stop();
  await broker?.stop();
});

const limitMs = 60_000;
interface ActionView {
  id: number;
  detailStatus: string;
}

async function register(backend: Backend, n: number): Promise<string[]> {
  const ids = Array.from({ length: n }, () => uniqueName("thing"));
  for (const id of ids) backend.register(id);
  await eventually(async () => {
    const { total } = await admin.get<{ total: number }>(`targets?q=controllerid=in=(${ids.join(",")})&limit=1`);
    expect(total).toBe(n);
  }, limitMs);
  return ids;
}

const assign = (ids: readonly string[]) =>
  admin.post(
    `distributionsets/${setId}/assignedTargets`,
    ids.map((id) => ({ id })),
  );

/** Waits until each of them has been told, and answers it: a thing that is told twice says the same twice. */
async function finish(backend: Backend, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const told = await backend.next(({ thingId, topic }) => thingId === id && topic === "DOWNLOAD_AND_INSTALL", limitMs);
    backend.report(told.body.actionId, "RUNNING");
    backend.report(told.body.actionId, "FINISHED");
  }
}

/** Each has one action, which is finished; nobody is left waiting. */
async function allFinished(ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const actions = await eventually(async () => {
      const { content } = await admin.get<{ content: ActionView[] }>(`targets/${id}/actions`);
      expect(content.map(({ detailStatus }) => detailStatus)).toEqual(["finished"]);
      return content;
    }, limitMs);
    expect(actions).toHaveLength(1);
  }
}

test.each(["dmf.message.after-handled", "dmf.message.after-ack", "dmf.publish.before-confirm", "dmf.publish.after-confirm"])(
  "nothing is lost when both replicas of dmf are killed at %s",
  async (point) => {
    const backend = await connectBackend(url);
    try {
      const ids = await register(backend, 20);
      // one of them consumes, and one of them sends
      for (const index of [0, 1]) await stack.restart("dmf", index, `${point}:3`);
      await assign(ids);
      await finish(backend, ids);
      await allFinished(ids);
    } finally {
      await backend.close();
    }
  },
);

test("what is assigned while the broker is away is told when it is back, also where it was killed twice", async () => {
  let backend = await connectBackend(url);
  const ids = await register(backend, 20);
  const polls = await fetch(`${stack.baseUrl}/livez`);
  expect(polls.status).toBe(200);
  for (const part of [ids.slice(0, 10), ids.slice(10)]) {
    await broker.kill();
    await assign(part);
    await broker.restart();
    backend = await connectBackend(url);
    await finish(backend, part);
    await allFinished(part);
  }
  await backend.close();
});
