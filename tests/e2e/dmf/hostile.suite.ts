import type { MessagingStatus } from "@harrier/contracts";
import { type Admin, eventually, uniqueName } from "@harrier/testkit";
import { connect } from "amqplib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { manage } from "../support/broker-management.ts";
import { growthOfAny } from "../support/memory.ts";
import { counterOf } from "../support/metrics.ts";
import { deepHeader, sendRaw, textHeader } from "../support/raw-message.ts";
import { type Backend, connectBackend } from "../support/thing.ts";
import { broker, enable, newTenant, replicasOfDmf } from "./stack.ts";
import { assign, assignAll, limitMs, newSet, registered, target, told } from "./things.ts";

/** What the user of a tenant can do to dmf with the means of the broker. It is a tenant of its own, so that nothing is left for the other tests. */
export function hostileClients(): void {
  const name = uniqueName("hostile");
  let boss: Admin;
  let url: string;
  let vhost: string;
  let thing: Backend;
  beforeAll(async () => {
    boss = await newTenant(name);
    ({ url, vhost } = await enable(boss));
    thing = await connectBackend(url, { tenant: name, exchange: "good.replies" });
  });
  afterAll(() => thing?.close());

  const refusalsOf = async (kind: string): Promise<number> =>
    (await boss.get<MessagingStatus>("system/amqp")).refusals?.find((one) => one.kind === kind)?.count ?? 0;
  /** A connection that the broker may end as it likes. */
  const connected = async () => {
    const connection = await connect(url);
    connection.on("error", () => undefined);
    return connection;
  };

  test("rollouts 8.6 a message whose headers no library can read is a dead letter, and stops none that follows", async () => {
    const client = await connected();
    try {
      const channel = await client.createChannel();
      sendRaw(channel, { exchange: "dmf.exchange" }, [textHeader("tenant", name), textHeader("type", "PING"), deepHeader(10_000)]);
      await eventually(async () => expect(await refusalsOf("headers")).toBe(1), limitMs);
      await registered({ by: thing, of: boss });
      // it is not handled again and again: its count would grow
      expect(await refusalsOf("headers")).toBe(1);
    } finally {
      await client.close();
    }
  });

  test("rollouts 8.6 headers that the broker makes larger than a frame are read, by queues of a client that pass the message on", async () => {
    const client = await connected();
    try {
      const channel = await client.createChannel();
      await channel.assertExchange("passing", "fanout", { durable: true });
      const arguments_ = { "x-message-ttl": 0, "x-dead-letter-exchange": "dmf.exchange" };
      await channel.assertQueue("passing.queue", { durable: true, arguments: arguments_ });
      await channel.bindQueue("passing.queue", "passing", "");
      const before = await refusalsOf("unknown-type");
      const headers = [textHeader("tenant", name), textHeader("type", "SOMETHING"), textHeader("large", "x".repeat(130_900))];
      sendRaw(channel, { exchange: "passing" }, headers);
      await eventually(async () => expect(await refusalsOf("unknown-type")).toBe(before + 1), limitMs);
      await registered({ by: thing, of: boss });
    } finally {
      await client.close();
    }
  });

  test("many reports of nearly a mebibyte are handled a few at a time, which costs dmf little memory and stops no other tenant", async () => {
    const ids = await Promise.all(Array.from({ length: 40 }, () => registered({ by: thing, of: boss })));
    await assignAll(ids, await newSet(boss), {}, boss);
    const actionIds: number[] = [];
    for (const id of ids)
      actionIds.push((await thing.next((one) => one.thingId === id && one.topic === "DOWNLOAD_AND_INSTALL", limitMs)).body.actionId);
    const before = await refusalsOf("denied");
    const sent = 400;
    // no library of hawkBit's writes so much into one status: it has too many lines, which controller alone can say
    const message = ["m".repeat(1_000_000)];
    const client = await connected();
    try {
      const channel = await client.createConfirmChannel();
      const options = { contentType: "application/json", headers: { tenant: name, type: "EVENT", topic: "UPDATE_ACTION_STATUS" } };
      const grown = await growthOfAny(replicasOfDmf(), async () => {
        for (let n = 1; n <= sent; n += 1) {
          const body = { actionId: actionIds[n % ids.length], actionStatus: "RUNNING", message };
          channel.publish("dmf.exchange", "", Buffer.from(JSON.stringify(body)), options);
          if (n % 20 === 0) await channel.waitForConfirms();
        }
        await registered();
        await eventually(async () => expect(await refusalsOf("denied")).toBe(before + sent), 2 * limitMs);
      });
      expect(grown).toBeLessThan(160 * 1024 * 1024);
    } finally {
      await client.close();
    }
  });

  test("an exchange that takes nothing from anybody costs its own things their messages, and no others of the tenant theirs", async () => {
    const client = await connected();
    try {
      const channel = await client.createChannel();
      await channel.assertExchange("inner", "fanout", { durable: true, internal: true });
      const inner = uniqueName("inner");
      thing.send({ type: "THING_CREATED", thingId: inner }, undefined, { replyTo: "inner" });
      await eventually(async () => expect(await target(inner, boss)).toMatchObject({ controllerId: inner }), limitMs);
      const [one, two] = [await registered({ by: thing, of: boss }), await registered({ by: thing, of: boss })];
      const outcome = (of: string) => counterOf(replicasOfDmf(), "harrier_dmf_sent_total", { outcome: of });
      const before = { postponed: await outcome("postponed"), dropped: await outcome("dropped") };
      await assignAll([one, inner, two], await newSet(boss), {}, boss);
      for (const id of [one, two]) await thing.next(({ thingId, topic }) => thingId === id && topic === "DOWNLOAD_AND_INSTALL", limitMs);
      await eventually(async () => expect(await outcome("dropped")).toBeGreaterThan(before.dropped), limitMs);
      expect(await outcome("postponed")).toBe(before.postponed);
      // nor does a ping that wants its answer there
      for (const correlationId of ["a", "b"]) thing.send({ type: "PING" }, undefined, { replyTo: "inner", correlationId });
      thing.send({ type: "PING" }, undefined, { replyTo: thing.exchange, correlationId: "c" });
      await thing.next((message) => message.type === "PING_RESPONSE" && message.correlationId === "c", limitMs);
      const connections = await manage<{ client_properties: { connection_name?: string } }[]>(broker, "GET", `vhosts/${vhost}/connections`);
      const toThings = connections.filter(({ client_properties }) => client_properties.connection_name === "harrier/dmf to things");
      expect(toThings.length).toBeLessThanOrEqual(replicasOfDmf().length);
    } finally {
      await client.close();
    }
  });

  test("a tenant that has thousands of things told at once makes no thing of another tenant wait until they all are", async () => {
    const other = await registered();
    const [setOfOther, set] = [await newSet(), await newSet(boss)];
    const address = `amqp://${vhost}/${thing.exchange}`;
    const parts = Array.from({ length: 4 }, (_, part) => Array.from({ length: 2_000 }, (__, n) => `${name}-${part}-${n}`));
    for (const ids of parts)
      await boss.post(
        "targets",
        ids.map((controllerId) => ({ controllerId, name: controllerId, address })),
      );
    for (const ids of parts) await assignAll(ids, set, {}, boss);
    await assign(other, setOfOther);
    const toldOfSet = () =>
      thing.got.flatMap(({ topic, thingId, body }) =>
        topic === "DOWNLOAD_AND_INSTALL" && thingId?.startsWith(`${name}-`) ? [`${thingId} ${body.actionId}`] : [],
      );
    await told(other, "DOWNLOAD_AND_INSTALL");
    expect(toldOfSet().length).toBeLessThan(parts.flat().length);
    await eventually(() => expect(new Set(toldOfSet()).size).toBe(parts.flat().length), limitMs);
    expect(toldOfSet()).toHaveLength(parts.flat().length);
  });
}
