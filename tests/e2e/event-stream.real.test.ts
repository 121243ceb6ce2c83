import type { MessagingAccess, MessagingStatus } from "@harrier/contracts";
import type { Stack } from "@harrier/stack";
import { type Admin, createAdmin, eventually, type RabbitMq, startRabbitMq, startTestStack, uniqueName } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { manage, withShortQueue } from "./support/broker-management.ts";
import { eventsBehind, idsOf, outOfOrder, streamReader } from "./support/receivers.ts";

let broker: RabbitMq;
let stack: Stack;
let admin: Admin;
let url: string;
beforeAll(async () => {
  broker = await startRabbitMq();
  stack = await startTestStack({ amqp: { url: broker.url, managementUrl: broker.managementUrl }, replicas: { management: 2 } });
  admin = createAdmin({ baseUrl: stack.baseUrl, user: stack.adminUser, password: stack.adminPassword });
  url = Object.values((await admin.post<MessagingAccess>("system/amqp/sie")).users)[0]?.amqpUri ?? "";
});
afterAll(async () => {
  await stack?.stop();
  await broker?.stop();
});

const limitMs = 60_000;

const reader = () => streamReader(url, { queue: "sie_test", keys: ["io.update.target.#", "io.update.action.#"] });

const create = async (n: number): Promise<string[]> => {
  const ids = Array.from({ length: n }, () => uniqueName("told"));
  await admin.post(
    "targets",
    ids.map((controllerId) => ({ controllerId, name: controllerId })),
  );
  return ids;
};

/** What the cursor answers behind `after`, of the types that the reader has bound. */
const byCursor = async (after: string) =>
  (await eventsBehind(admin.get, after)).filter(({ type }) => /^io\.update\.(target|action)\./.test(type));
const now = async () => (await admin.get<{ next: string }>("events?limit=1")).next;

test("management 10.5 the virtual host gets the events that the cursor answers, in order", async () => {
  const after = await now();
  const { got, stop } = await reader();
  try {
    const ids = await create(30);
    const set = await admin.createSet([(await admin.createModule()).id]);
    await admin.post(
      `distributionsets/${set.id}/assignedTargets`,
      ids.map((id) => ({ id })),
    );
    const told = idsOf(await byCursor(after));
    expect(told.length).toBeGreaterThanOrEqual(60);
    await eventually(async () => expect(idsOf(got)).toEqual(told), limitMs);
    expect(outOfOrder(got)).toEqual([]);
  } finally {
    await stop();
  }
});

test("management 10.5 what happens while the broker is away arrives when it is back, and the status says no more that it waits", async () => {
  const first = await reader();
  const after = await now();
  await broker.kill();
  await create(10);
  await broker.restart();
  await first.stop();
  const { got, stop } = await reader();
  try {
    await create(10);
    const told = idsOf(await byCursor(after));
    await eventually(async () => expect(idsOf([...first.got, ...got])).toEqual(expect.arrayContaining(told)), limitMs);
    await eventually(async () => expect(await admin.get("system/amqp")).not.toHaveProperty("sieFailingSince"), limitMs);
  } finally {
    await stop();
  }
});

test("management 10.5 while a full queue refuses events the status says since when, and they arrive when it has room", async () => {
  const { vhost = "" } = await admin.get<MessagingStatus>("system/amqp");
  // nobody reads this one while it is full
  const full = "sie_full";
  const filler = await streamReader(url, { queue: full, keys: ["io.update.target.#"] });
  await filler.stop();
  const began = Date.now();
  await withShortQueue(broker, { vhost, name: full, overflow: "reject-publish", maxLength: 1 }, async () => {
    await create(20);
    await eventually(async () => {
      const { sieFailingSince = 0 } = await admin.get<MessagingStatus>("system/amqp");
      // by the clock of the database
      expect(sieFailingSince).toBeGreaterThan(began - 10_000);
    }, limitMs);
  });
  await eventually(async () => expect(await admin.get("system/amqp")).not.toHaveProperty("sieFailingSince"), limitMs);
  await manage(broker, "DELETE", `queues/${vhost}/${full}`);
});

test.each(["management.sie.before-confirm", "management.sie.after-confirm"])(
  "no event is lost when both replicas of management are killed at %s",
  async (point) => {
    const { got, stop } = await reader();
    try {
      // whoever takes over waits until the lease of the killed one has ended
      const limitMs = 120_000;
      for (const index of [0, 1]) await stack.restart("management", index, `${point}:2`);
      const after = await eventually(now, limitMs);
      for (let n = 0; n < 5; n += 1) await eventually(() => create(5), limitMs);
      const told = idsOf(await eventually(() => byCursor(after), limitMs));
      await eventually(async () => expect(idsOf(got)).toEqual(expect.arrayContaining(told)), limitMs);
      expect(outOfOrder(got)).toEqual([]);
    } finally {
      await stop();
    }
  },
);
