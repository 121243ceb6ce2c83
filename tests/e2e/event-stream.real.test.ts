import type { MessagingAccess } from "@harrier/contracts";
import type { Stack } from "@harrier/stack";
import { type Admin, createAdmin, eventually, type RabbitMq, startRabbitMq, startTestStack, uniqueName } from "@harrier/testkit";
import { connect } from "amqplib";
import { afterAll, beforeAll, expect, test } from "vitest";

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

/** A reader of events as a tenant writes it: a durable queue of its own, bound to all events of targets and their actions. */
async function reader() {
  const connection = await connect(url);
  connection.on("error", () => undefined);
  const channel = await connection.createChannel();
  channel.on("error", () => undefined);
  await channel.assertQueue("sie_test", { durable: true });
  for (const key of ["io.update.target.#", "io.update.action.#"]) await channel.bindQueue("sie_test", "sie.exchange", key);
  const got: Event[] = [];
  await channel.consume("sie_test", (message) => {
    if (message === null) return;
    expect(message.properties).toMatchObject({ contentType: "application/cloudevents+json; charset=UTF-8" });
    const event = JSON.parse(message.content.toString()) as Event;
    expect([message.properties.messageId, message.fields.routingKey]).toEqual([event.id, event.type]);
    got.push(event);
    channel.ack(message);
  });
  return { got, close: () => connection.close().catch(() => undefined) };
}
interface Event {
  id: string;
  type: string;
  subject: string;
  sequence: string;
}

const idsOf = (events: readonly Event[]) => [...new Set(events.map(({ id }) => id))].sort();
const create = async (n: number): Promise<string[]> => {
  const ids = Array.from({ length: n }, () => uniqueName("told"));
  await admin.post(
    "targets",
    ids.map((controllerId) => ({ controllerId, name: controllerId })),
  );
  return ids;
};

/** What the cursor answers behind `after`, of the types that the reader has bound. */
async function byCursor(after: string): Promise<Event[]> {
  const events: Event[] = [];
  for (let next = after; ; ) {
    const page = await admin.get<{ content: Event[]; next: string; more: boolean }>(`events?after=${encodeURIComponent(next)}&limit=500`);
    events.push(...page.content.filter(({ type }) => /^io\.update\.(target|action)\./.test(type)));
    if (!page.more && page.content.length === 0) return events;
    next = page.next;
  }
}
const now = async () => (await admin.get<{ next: string }>("events?limit=1")).next;

/** In the order of first arrivals each subject's sequence grows. */
function outOfOrder(events: readonly Event[]): string[] {
  const last = new Map<string, number>();
  const seen = new Set<string>();
  return events.flatMap(({ id, subject, sequence }) => {
    if (seen.has(id)) return [];
    seen.add(id);
    const before = last.get(subject) ?? -1;
    last.set(subject, Number(sequence));
    return Number(sequence) > before ? [] : [`${subject}: ${sequence} after ${before}`];
  });
}

test("management 10.5 the virtual host gets the events that the cursor answers, in order", async () => {
  const after = await now();
  const { got, close } = await reader();
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
    await close();
  }
});

test("management 10.5 what happens while the broker is away arrives when it is back, and the status says no more that it waits", async () => {
  const first = await reader();
  const after = await now();
  await broker.kill();
  await create(10);
  await broker.restart();
  await first.close();
  const { got, close } = await reader();
  try {
    await create(10);
    const told = idsOf(await byCursor(after));
    await eventually(async () => expect(idsOf([...first.got, ...got])).toEqual(expect.arrayContaining(told)), limitMs);
    await eventually(async () => expect(await admin.get("system/amqp")).not.toHaveProperty("sieFailingSince"), limitMs);
  } finally {
    await close();
  }
});

test.each(["management.sie.before-confirm", "management.sie.after-confirm"])(
  "no event is lost when both replicas of management are killed at %s",
  async (point) => {
    const { got, close } = await reader();
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
      await close();
    }
  },
);
