import type { MessagingAccess, MessagingStatus } from "@harrier/contracts";
import type { Stack } from "@harrier/stack";
import { type Admin, createAdmin, eventually, type RabbitMq, startRabbitMq, startTestStack, uniqueName } from "@harrier/testkit";
import { type ChannelModel, connect } from "amqplib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { manage, withShortQueue } from "./support/broker-management.ts";
import { connectBackend } from "./support/thing.ts";

let broker: RabbitMq;
let stack: Stack;
let admin: Admin;
beforeAll(async () => {
  broker = await startRabbitMq();
  stack = await startTestStack({ amqp: { url: broker.url, managementUrl: broker.managementUrl } });
  admin = createAdmin({ baseUrl: stack.baseUrl, user: stack.adminUser, password: stack.adminPassword });
});
afterAll(async () => {
  await stack?.stop();
  await broker?.stop();
});

/** Answers the only user of an answer. */
const userOf = ({ users }: MessagingAccess) => Object.values(users)[0] as MessagingAccess["users"][string];

/** Runs `work` on a channel of its own, which the broker closes where something is not allowed; answers the code of its refusal. */
async function refusalOf(
  connection: ChannelModel,
  work: (channel: Awaited<ReturnType<ChannelModel["createChannel"]>>) => Promise<unknown>,
) {
  const channel = await connection.createChannel();
  const closed = new Promise<number>((resolve) => channel.once("error", (error: { code?: number }) => resolve(error.code ?? 0)));
  return Promise.race([work(channel).then(() => undefined), closed]).catch(() => closed);
}

test("management 10.5 a tenant's user does what a thing needs in its virtual host, and nothing else", async () => {
  const made = await admin.post<MessagingAccess>("system/amqp/dmf", { passwords: { dmf: "a-long-password" } });
  const user = userOf(made);
  expect(user.password).toBe("a-long-password");
  const connection = await connect(user.amqpUri);
  try {
    const allowed = await refusalOf(connection, async (channel) => {
      await channel.assertExchange("my.replies", "fanout");
      const { queue } = await channel.assertQueue("my-queue");
      await channel.bindQueue(queue, "my.replies", "");
      await channel.consume(queue, () => undefined);
      await channel.checkExchange("dmf.exchange").catch(() => undefined);
      channel.publish("dmf.exchange", "", Buffer.from("{}"), { headers: { type: "UNKNOWN", tenant: "DEFAULT" } });
      await channel.close();
    });
    expect(allowed).toBeUndefined();
    const denied: Parameters<typeof refusalOf>[1][] = [
      (channel) => channel.consume("dmf_receiver", () => undefined),
      (channel) => channel.get("dmf_connector_deadletter_ttl"),
      (channel) => channel.bindQueue("my-queue", "dmf.exchange", ""),
      (channel) => channel.deleteExchange("dmf.exchange"),
      (channel) => channel.deleteQueue("dmf_receiver"),
      (channel) => channel.purgeQueue("dmf_receiver"),
      (channel) => channel.bindQueue("dmf_receiver", "my.replies", ""),
      async (channel) => {
        channel.sendToQueue("dmf_receiver", Buffer.from("{}"));
        await channel.checkQueue("my-queue");
        await new Promise((resolve) => channel.once("close", resolve));
      },
    ];
    for (const work of denied) expect(await refusalOf(connection, work), work.toString()).toBe(403);
  } finally {
    await connection.close();
  }
});

test("management 10.5 a user of one tenant does not get into the virtual host of another, nor with an old password into its own", async () => {
  const { vhost } = await admin.get<MessagingStatus>("system/amqp");
  const body = [{ name: "other", administrator: { name: "boss" } }];
  const [created] = await admin.post<{ administrator: { password: string } }[]>("system/tenants", body);
  const password = created?.administrator.password ?? "";
  const boss = createAdmin({ baseUrl: stack.baseUrl, user: "other\\boss", password });
  const user = userOf(await boss.post<MessagingAccess>("system/dmf"));
  const url = new URL(user.amqpUri);
  await (await connect(url.href)).close();
  url.pathname = `/${vhost}`;
  await expect(connect(url.href)).rejects.toThrow(/ConnectionClose/);
  expect((await boss.call("system/amqp/passwords", { method: "PUT", body: { dmf: "another-password" } })).status).toBe(200);
  await expect(connect(user.amqpUri)).rejects.toThrow(/403|ACCESS/i);
  await (await connect(user.amqpUri.replace(user.password, "another-password"))).close();
});

test("rollouts 8.6 a full receiver refuses what a client publishes with confirms, and keeps what it has taken", async () => {
  const body = [{ name: "full", administrator: { name: "boss" } }];
  const [created] = await admin.post<{ administrator: { password: string } }[]>("system/tenants", body);
  const boss = createAdmin({ baseUrl: stack.baseUrl, user: "full\\boss", password: created?.administrator.password ?? "" });
  const made = await boss.post<MessagingAccess>("system/amqp/dmf");
  const operator = await connect(`${broker.url}/${made.vhost}`);
  const client = await connect(userOf(made).amqpUri);
  try {
    await admin.post("system/tenants/full/suspend");
    const watching = await operator.createChannel();
    await eventually(async () => expect((await watching.checkQueue("dmf_receiver")).consumerCount).toBe(0), 60_000);
    const channel = await client.createConfirmChannel();
    const taken: string[] = [];
    const refused: string[] = [];
    const register = (thingId: string) =>
      new Promise<void>((resolve) => {
        const options = { replyTo: "a.replies", persistent: true, headers: { tenant: "full", type: "THING_CREATED", thingId } };
        channel.publish("dmf.exchange", "", Buffer.alloc(0), options, (error) => {
          (error ? refused : taken).push(thingId);
          resolve();
        });
      });
    await withShortQueue(broker, { vhost: made.vhost, name: "dmf_receiver", overflow: "reject-publish" }, async () => {
      // the policy reaches the queue a moment later
      for (let n = 1; refused.length === 0 && n <= 1_000; n += 1) await register(`full-${n}`);
    });
    expect(refused).toHaveLength(1);
    expect(taken.length).toBeGreaterThanOrEqual(3);
    await admin.post("system/tenants/full/resume");
    await eventually(async () => expect((await boss.get<{ total: number }>("targets?limit=1")).total).toBe(taken.length), 60_000);
  } finally {
    await client.close();
    await operator.close();
  }
});

/** Connects, and answers a promise of the end of the connection. */
async function connectedWith(uri: string): Promise<{ connection: ChannelModel; ended: Promise<unknown> }> {
  const connection = await connect(uri);
  connection.on("error", () => undefined);
  return { connection, ended: new Promise((resolve) => connection.once("close", resolve)) };
}

test("management 10.5 a new password ends the connections with the old one, also by override, which keeps the messages", async () => {
  const { vhost, users } = await admin.get<MessagingStatus>("system/amqp");
  const [name = ""] = users;
  const before = userOf(await admin.post<MessagingAccess>("system/amqp/dmf", { override: true }));
  expect(before.username).toBe(name);
  const first = await connectedWith(before.amqpUri);
  expect((await admin.call("system/amqp/passwords", { method: "PUT", body: { [name]: "a-second-password" } })).status).toBe(200);
  await first.ended;
  await expect(connect(before.amqpUri)).rejects.toThrow(/403|ACCESS/i);
  const uri = before.amqpUri.replace(before.password, "a-second-password");
  const second = await connectedWith(uri);
  const channel = await second.connection.createConfirmChannel();
  await channel.assertExchange("kept.replies", "fanout");
  await channel.assertQueue("kept", { durable: true });
  await channel.bindQueue("kept", "kept.replies", "");
  channel.publish("kept.replies", "", Buffer.from("{}"), { persistent: true });
  await channel.waitForConfirms();
  const after = userOf(await admin.post<MessagingAccess>("system/amqp/dmf", { override: true }));
  await second.ended;
  await expect(connect(uri)).rejects.toThrow(/403|ACCESS/i);
  const third = await connect(after.amqpUri);
  expect(await (await third.createChannel()).checkQueue("kept")).toMatchObject({ messageCount: 1 });
  await third.close();
  expect(after.amqpUri).toContain(`/${vhost}`);
});

test("management 10.5 the status counts the dead letters", async () => {
  const { vhost = "" } = await admin.get<MessagingStatus>("system/amqp");
  const connection = await connect(`${broker.url}/${vhost}`);
  try {
    const channel = await connection.createConfirmChannel();
    for (const n of [1, 2, 3]) channel.publish("dmf.connector.deadletter", "", Buffer.from(String(n)), { persistent: true });
    await channel.waitForConfirms();
    const dead = await channel.checkQueue("dmf_connector_deadletter_ttl");
    // the interface counts every five seconds
    await eventually(
      async () => expect(await admin.get<MessagingStatus>("system/amqp")).toMatchObject({ deadLetters: dead.messageCount }),
      60_000,
      500,
    );
  } finally {
    await connection.close();
  }
});

test("management 10.5 a virtual host has the bounds that operations name: its own limits, and those of each queue", async () => {
  const { vhost = "" } = await admin.get<MessagingStatus>("system/amqp");
  const [limits] = await manage<{ value: object }[]>(broker, "GET", `vhost-limits/${vhost}`);
  expect(limits?.value).toEqual({ "max-connections": 1_000, "max-queues": 10_000 });
  const connection = await connect(`${broker.url}/${vhost}`);
  const mebibyte = 1024 * 1024;
  const bounds = {
    dmf_receiver: { "max-length": 1_000_000, "max-length-bytes": 1024 * mebibyte, overflow: "reject-publish" },
    dmf_connector_deadletter_ttl: { "max-length": 100_000, "max-length-bytes": 256 * mebibyte, overflow: "drop-head" },
    "a.clients": { "max-length": 100_000, "max-length-bytes": 128 * mebibyte, overflow: "reject-publish" },
    sie_readers: { "max-length": 100_000, "max-length-bytes": 128 * mebibyte, overflow: "drop-head" },
  };
  try {
    const channel = await connection.createConfirmChannel();
    for (const name of ["a.clients", "sie_readers"]) await channel.assertQueue(name, { durable: true });
    for (const [name, definition] of Object.entries(bounds)) {
      await eventually(async () => {
        const queue = await manage<{ effective_policy_definition: object }>(broker, "GET", `queues/${vhost}/${name}`);
        expect(queue.effective_policy_definition, name).toEqual(definition);
      }, 30_000);
    }
  } finally {
    await connection.close();
  }
});

test("management 10.5 a broker that is away is said so, and nothing is enabled meanwhile", async () => {
  await broker.kill();
  const errorCode = "hawkbit.server.error.amqp.notAvailable";
  expect(await admin.call("system/amqp/sie", { method: "POST" })).toMatchObject({ status: 503, body: { errorCode } });
  expect(await admin.call("system/amqp")).toMatchObject({ status: 503, body: { errorCode } });
  await broker.restart();
  expect(await admin.get<MessagingStatus>("system/amqp")).toMatchObject({ dmfEnabled: true, sieEnabled: false });
  const user = userOf(await admin.post<MessagingAccess>("system/amqp/sie"));
  const connection = await connect(user.amqpUri);
  expect(await refusalOf(connection, (channel) => channel.assertQueue("other"))).toBe(403);
  const allowed = await refusalOf(connection, async (channel) => {
    await channel.assertQueue("sie_mine");
    await channel.bindQueue("sie_mine", "sie.exchange", "#");
  });
  expect(allowed).toBeUndefined();
  await connection.close();
});

test("management 10.5 a broker that does not take the installation's password any more is not available, and all goes on when it does", async () => {
  const { username: service, password } = new URL(broker.managementUrl);
  await manage(broker, "PUT", "users/operator", { password: "operator", tags: "administrator" });
  const asOperator = { ...broker, managementUrl: broker.managementUrl.replace(`${service}:${password}`, "operator:operator") };
  const backend = await connectBackend(userOf(await admin.post<MessagingAccess>("system/amqp/dmf", { override: true })).amqpUri);
  const id = uniqueName("waits");
  const setPassword = (now: string) => manage(asOperator, "PUT", `users/${service}`, { password: now, tags: "administrator" });
  try {
    await setPassword("another-password");
    // the broker asks for it when a connection is made
    await manage(asOperator, "DELETE", `connections/username/${service}`);
    const errorCode = "hawkbit.server.error.amqp.notAvailable";
    expect(await admin.call("system/amqp")).toMatchObject({ status: 503, body: { errorCode } });
    expect(await admin.call("system/amqp/dmf", { method: "POST", body: { override: true } })).toMatchObject({ status: 503 });
    backend.register(id);
  } finally {
    await setPassword(password);
  }
  await eventually(async () => expect(await admin.get(`targets/${id}`)).toMatchObject({ controllerId: id }), 60_000);
  expect(await admin.get<MessagingStatus>("system/amqp")).toMatchObject({ dmfEnabled: true });
  await backend.close();
});

test("management 10.5 a virtual host that was deleted by hand is said to be missing, and can be enabled again; its things are served then", async () => {
  const { vhost = "" } = await admin.get<MessagingStatus>("system/amqp");
  const uriOf = async (use: string) => userOf(await admin.post<MessagingAccess>(`system/amqp/${use}`, {})).amqpUri;
  await manage(broker, "DELETE", `vhosts/${vhost}`);
  expect(await admin.get<MessagingStatus>("system/amqp")).toMatchObject({ dmfEnabled: true, sieEnabled: true, missing: ["dmf", "sie"] });
  const first = await connectBackend(await uriOf("dmf"));
  const id = uniqueName("lost");
  first.register(id);
  await eventually(async () => expect(await admin.get(`targets/${id}`)).toMatchObject({ controllerId: id }), 60_000);
  await first.close();
  await manage(broker, "DELETE", `vhosts/${vhost}`);
  const { set } = await admin.createSetWithFile("some bytes", "a.bin");
  await admin.post(`distributionsets/${set.id}/assignedTargets`, [{ id }]);
  const backend = await connectBackend(await uriOf("dmf"));
  // as whoever publishes events does when there are some: the user of the stream has no permissions all the same
  await manage(broker, "PUT", `exchanges/${vhost}/sie.exchange`, { type: "topic", durable: true });
  expect(await admin.get<MessagingStatus>("system/amqp")).toMatchObject({ missing: ["sie"] });
  // the exchange went with the virtual host, so that messages of before are nobody's: a thing that connects again registers
  backend.register(id);
  await backend.next(({ thingId, topic }) => thingId === id && topic === "DOWNLOAD_AND_INSTALL", 60_000);
  await backend.close();
  await (await connect(await uriOf("sie"))).close();
  expect(await admin.get<MessagingStatus>("system/amqp")).not.toHaveProperty("missing");
  expect((await admin.call("system/amqp/sie", { method: "POST" })).status).toBe(409);
});

test("extensions tenants: the virtual host and the users of a deleted tenant go with it", async () => {
  const asked = new URL(broker.managementUrl);
  const authorization = `Basic ${btoa(`${asked.username}:${asked.password}`)}`;
  const names = async (kind: string) =>
    ((await (await fetch(`${asked.origin}/api/${kind}`, { headers: { authorization } })).json()) as { name: string }[]).map(
      ({ name }) => name,
    );
  const before = (await names("vhosts")).length;
  const things = async () => (await names("users")).filter((name) => name.endsWith(".dmf")).length;
  const users = await things();
  expect((await admin.call("system/tenants/other", { method: "DELETE" })).status).toBeLessThan(300);
  await eventually(async () => expect(await names("vhosts")).toHaveLength(before - 1), 60_000);
  await eventually(async () => expect(await things()).toBe(users - 1), 60_000);
});
