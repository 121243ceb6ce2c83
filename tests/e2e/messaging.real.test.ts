import type { MessagingAccess, MessagingStatus } from "@harrier/contracts";
import type { Stack } from "@harrier/stack";
import { type Admin, createAdmin, eventually, type RabbitMq, startRabbitMq, startTestStack } from "@harrier/testkit";
import { type ChannelModel, connect } from "amqplib";
import { afterAll, beforeAll, expect, test } from "vitest";

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

test("extensions tenants: the virtual host and the users of a deleted tenant go with it", async () => {
  const asked = new URL(broker.managementUrl);
  const authorization = `Basic ${btoa(`${asked.username}:${asked.password}`)}`;
  const names = async (kind: string) =>
    ((await (await fetch(`${asked.origin}/api/${kind}`, { headers: { authorization } })).json()) as { name: string }[]).map(
      ({ name }) => name,
    );
  const before = (await names("vhosts")).length;
  expect((await admin.call("system/tenants/other", { method: "DELETE" })).status).toBeLessThan(300);
  await eventually(async () => expect(await names("vhosts")).toHaveLength(before - 1), 60_000);
  await eventually(async () => expect((await names("users")).filter((name) => name.endsWith(".dmf"))).toHaveLength(1), 60_000);
});
