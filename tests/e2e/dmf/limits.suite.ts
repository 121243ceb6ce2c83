import type { MessagingStatus } from "@harrier/contracts";
import { createDevice, eventually, uniqueName, withClient } from "@harrier/testkit";
import { type Channel, type ChannelModel, connect } from "amqplib";
import { expect, test } from "vitest";
import { withShortQueue } from "../support/broker-management.ts";
import { deadLettersOf } from "../support/dead-letters.ts";
import { growthOfAny } from "../support/memory.ts";
import { counterOf } from "../support/metrics.ts";
import { connectBackend } from "../support/thing.ts";
import { admin, backend, broker, dead, enable, newTenant, replicasOfDmf, stack, url, vhost } from "./stack.ts";
import { actionsOf, assign, assignAll, limitMs, newSet, registered, target, told } from "./things.ts";

/** Waits until everything that these things have sent before is handled, because messages of a thing are handled in their order. */
async function handled(id: string): Promise<void> {
  const mark = uniqueName("mark");
  backend.send({ type: "EVENT", topic: "UPDATE_ATTRIBUTES", thingId: id }, { attributes: { mark } });
  await eventually(async () => expect(await admin.get(`targets/${id}/attributes`)).toMatchObject({ mark }), limitMs);
}

/** Runs `work` on a channel of the broker's administrator. */
async function asOperator<T>(of: string, work: (channel: Channel) => Promise<T>): Promise<T> {
  const connection: ChannelModel = await connect(`${broker.url}/${of}`);
  return work(await connection.createChannel()).finally(() => connection.close());
}

/** What dmf does at its limits: queues that are full, tenants that are suspended, messages that are too large or come twice. */
export function limitsOfMessaging(): void {
  test("rollouts 8.6 a message of more than a mebibyte is a dead letter, and one that comes twice changes nothing", async () => {
    const id = await registered();
    const body = { attributes: { a: "x".repeat(1024 * 1024) } };
    await dead.expectOne(() => backend.send({ type: "EVENT", topic: "UPDATE_ATTRIBUTES", thingId: id }, body));
    await eventually(async () => {
      const { refusals = [] } = await admin.get<MessagingStatus>("system/amqp");
      const tooLarge = refusals.find(({ kind }) => kind === "too-large");
      expect(tooLarge).toMatchObject({ count: 1, lastReason: expect.stringContaining("bytes") });
    });
    await assign(id, await newSet());
    const told = await backend.next(({ thingId, topic }) => thingId === id && topic === "DOWNLOAD_AND_INSTALL", limitMs);
    const { actionId } = told.body;
    for (const _ of [1, 2]) backend.register(id);
    for (const _ of [1, 2]) backend.report(actionId, "FINISHED");
    await handled(id);
    expect(await actionsOf(id)).toMatchObject([{ detailStatus: "finished" }]);
    const entries = await admin.get<{ content: { type: string }[] }>(`targets/${id}/actions/${actionId}/status`);
    expect(entries.content.filter(({ type }) => type === "finished")).toHaveLength(1);
  });

  test("rollouts 8.6 many messages that are far too large are dead letters, cost dmf no memory, and stop no other tenant", async () => {
    const name = uniqueName("large");
    const boss = await newTenant(name);
    const own = await enable(boss);
    const id = await registered();
    const sender = await connect(own.url);
    try {
      const channel = await sender.createConfirmChannel();
      const content = Buffer.alloc(14 * 1024 * 1024, "x");
      const options = {
        contentType: "application/json",
        persistent: true,
        headers: { tenant: name, type: "EVENT", topic: "UPDATE_ATTRIBUTES" },
      };
      const grown = await growthOfAny(replicasOfDmf(), async () => {
        for (let n = 1; n <= 32; n += 1) {
          channel.publish("dmf.exchange", "", content, options);
          if (n % 4 === 0) await channel.waitForConfirms();
        }
        await handled(id);
        await eventually(async () => {
          const { refusals = [], deadLetters } = await boss.get<MessagingStatus>("system/amqp");
          expect(refusals).toMatchObject([{ kind: "too-large", count: 32 }]);
          // dead letters are 256 MiB at most, of which the oldest go
          expect(deadLetters).toBeGreaterThan(0);
        }, limitMs);
      });
      expect(grown).toBeLessThan(80 * 1024 * 1024);
    } finally {
      await sender.close();
    }
  });

  test("rollouts 8.4 what is confirmed by the management interface is told to be installed", async () => {
    await admin.configure("user.confirmation.flow.enabled", true);
    try {
      const id = await registered();
      await assign(id, await newSet(), { confirmationRequired: true });
      const asked = await backend.next(({ thingId, topic }) => thingId === id && topic === "CONFIRM", limitMs);
      const { actionId } = asked.body;
      const path = `targets/${id}/actions/${actionId}/confirmation`;
      expect((await admin.call(path, { method: "PUT", body: { confirmation: "confirmed" } })).status).toBeLessThan(300);
      const told = await backend.next(({ thingId, topic }) => thingId === id && topic === "DOWNLOAD_AND_INSTALL", limitMs);
      expect(told.body).toEqual(asked.body);
    } finally {
      await admin.configure("user.confirmation.flow.enabled", false);
    }
  });

  test("rollouts 8.1 a thing that polls by HTTP takes its address over, gets no message, and gets them again when it registers again", async () => {
    const [polling, other] = [await registered(), await registered()];
    const { securityToken: token } = (await target(polling)) as { securityToken: string };
    const device = createDevice({ baseUrl: stack.baseUrl, controllerId: polling, token });
    await device.poll();
    await eventually(async () => expect(String((await target(polling))["address"])).toMatch(/^http:/), limitMs);
    await assignAll([polling, other], await newSet());
    // both are in one row of the outbox: when one has been told, the other has been passed
    await backend.next(({ thingId, topic }) => thingId === other && topic === "DOWNLOAD_AND_INSTALL", limitMs);
    expect(backend.got.filter(({ thingId, topic }) => thingId === polling && topic === "DOWNLOAD_AND_INSTALL")).toEqual([]);
    const offered = await device.deployment();
    expect(offered).toBeDefined();
    backend.register(polling);
    const told = await backend.next(({ thingId, topic }) => thingId === polling && topic === "DOWNLOAD_AND_INSTALL", limitMs);
    expect(String(told.body.actionId)).toBe(offered?.id);
  });

  /** The last row of the outbox. */
  async function lastRow(): Promise<string> {
    return withClient(stack.databaseUrls.controller, async (db) => {
      const { rows } = await db.query<{ id: string }>("select coalesce(max(id), 0)::text as id from outbox");
      return rows[0]?.id ?? "0";
    });
  }

  /** The things that controller has had told again behind that row. */
  async function toldAgain(since: string): Promise<string[]> {
    return withClient(stack.databaseUrls.controller, async (db) => {
      const text = "select common -> 'things' as things from outbox where type = 'feed.things' and id > $1";
      const { rows } = await db.query<{ things: string[] }>(text, [since]);
      return rows.flatMap(({ things }) => things);
    });
  }

  test("a full queue of a thing's client loses nothing, stops nobody else, and has nobody else told again", async () => {
    const name = "full.replies";
    const since = await lastRow();
    const slow = await connect(url);
    try {
      const channel = await slow.createChannel();
      await channel.assertExchange(name, "fanout", { durable: true });
      const { queue } = await channel.assertQueue(`${name}.queue`, { durable: true });
      await channel.bindQueue(queue, name, "");
      await withShortQueue(broker, { vhost, name: queue, overflow: "reject-publish" }, async () => {
        const ids = Array.from({ length: 20 }, () => uniqueName("slow"));
        for (const thingId of ids) backend.send({ type: "THING_CREATED", thingId }, undefined, { replyTo: name });
        for (const id of ids) await eventually(async () => expect((await target(id))["address"]).toBe(`amqp://${vhost}/${name}`), limitMs);
        const other = await registered();
        await assignAll([...ids, other], await newSet());
        await backend.next(({ thingId, topic }) => thingId === other && topic === "DOWNLOAD_AND_INSTALL", limitMs);
        const replicas = stack.services.filter(({ service }) => service === "dmf");
        const postponed = () => counterOf(replicas, "harrier_dmf_sent_total", { outcome: "postponed" });
        await eventually(async () => expect(await postponed()).toBeGreaterThan(0), limitMs);
        const told = new Set<string>();
        await channel.consume(queue, (message) => {
          if (message === null) return;
          if (message.properties.headers?.["topic"] === "DOWNLOAD_AND_INSTALL") told.add(String(message.properties.headers["thingId"]));
          channel.ack(message);
        });
        await eventually(() => expect([...told].toSorted()).toEqual(ids.toSorted()), limitMs);
        const again = await toldAgain(since);
        expect(again).toEqual(expect.arrayContaining([expect.stringMatching(/^slow/)]));
        expect(again).not.toContain(other);
      });
    } finally {
      await slow.close();
    }
  });

  test("an address or reply exchange that there cannot be, or that nobody has made, stops no message of others", async () => {
    const names = ["", "a%00b", "x%0A", "amq.direct", "dmf.exchange", "x".repeat(256), "never.made"];
    const ids: string[] = [];
    for (const name of names) {
      const id = await registered();
      expect((await admin.call(`targets/${id}`, { method: "PUT", body: { address: `amqp://${vhost}/${name}` } })).status).toBe(200);
      ids.push(id);
    }
    await dead.expectOne(() => backend.send({ type: "THING_CREATED", thingId: uniqueName("bad") }, undefined, { replyTo: "x\n" }));
    const other = await registered();
    await assignAll([...ids, other], await newSet());
    await told(other, "DOWNLOAD_AND_INSTALL");
    const next = await registered();
    await assign(next, await newSet());
    await told(next, "DOWNLOAD_AND_INSTALL");
    for (const id of ids) expect(await actionsOf(id)).toMatchObject([{ detailStatus: "running" }]);
  });

  test("what a tenant's user says of things and actions of another tenant is a dead letter of its own, and changes nothing", async () => {
    const name = uniqueName("foreign");
    const own = await enable(await newTenant(name));
    const foreign = await connectBackend(own.url, { tenant: name, exchange: "foreign.replies" });
    const refused = deadLettersOf(
      () => broker.url,
      () => own.vhost,
    );
    try {
      const id = await registered();
      await assign(id, await newSet());
      const { actionId } = (await told(id, "DOWNLOAD_AND_INSTALL")).body;
      const before = await target(id);
      for (const send of [
        () => foreign.report(actionId, "FINISHED"),
        () => foreign.send({ type: "THING_REMOVED", thingId: id }),
        () => foreign.send({ type: "EVENT", topic: "UPDATE_ATTRIBUTES", thingId: id }, { attributes: { a: "b" } }),
        () => foreign.send({ type: "EVENT", topic: "UPDATE_AUTO_CONFIRM", thingId: id }, { enabled: true }),
        () => foreign.send({ type: "THING_REMOVED", thingId: id, tenant: "DEFAULT" }),
      ])
        await refused.expectOne(send);
      expect(await target(id)).toEqual(before);
      expect(await actionsOf(id)).toMatchObject([{ id: actionId, detailStatus: "running" }]);
    } finally {
      await foreign.close();
    }
  });

  test("full dead letters lose the oldest of them, and nothing else", async () => {
    await dead.take();
    const refused = 10;
    const kindOf = async () => (await admin.get<MessagingStatus>("system/amqp")).refusals?.find(({ kind }) => kind === "unknown-type");
    const before = (await kindOf())?.count ?? 0;
    await withShortQueue(broker, { vhost, name: "dmf_connector_deadletter_ttl", overflow: "drop-head" }, async () => {
      for (let n = 1; n <= refused; n += 1) backend.send({ type: "SOMETHING" }, { n });
      const id = await registered();
      await handled(id);
      // the status is the whole count, also of those that went
      await eventually(async () => expect(await kindOf()).toMatchObject({ count: before + refused }), limitMs);
      const bodies = (await dead.take()).map(({ content }) => JSON.parse(content.toString()) as { n: number });
      expect(bodies).toEqual([{ n: 8 }, { n: 9 }, { n: 10 }]);
    });
  });

  test("rollouts 8.4 with several assignments a thing gets all its actions in one message; of a suspended tenant they wait, and are told when it is resumed", async () => {
    const name = uniqueName("several");
    const boss = await newTenant(name);
    const own = await enable(boss);
    await boss.configure("multi.assignments.enabled", true);
    const thing = await connectBackend(own.url, { tenant: name, exchange: "several.replies" });
    try {
      const id = await registered({ by: thing, of: boss });
      const [light, heavy] = [await newSet(boss), await newSet(boss)];
      await assign(id, light, { weight: 10 }, boss);
      await assign(id, heavy, { weight: 900 }, boss);
      interface Item {
        topic: string;
        weight: number;
        action: { actionId: number };
      }
      const weighed = (items: readonly Item[]) => items.map(({ topic, weight }) => [topic, weight]);
      /** The next message with all actions, which a registration repeats: settings of tenants are read once in a while. */
      const told = (expected: readonly unknown[]) =>
        eventually(async () => {
          thing.register(id);
          const { body } = await thing.next(({ thingId, topic }) => thingId === id && topic === "MULTI_ACTION", 2_000);
          expect(weighed(body)).toEqual(expected);
          return body as Item[];
        }, limitMs);
      const [first, second] = await told([
        ["DOWNLOAD_AND_INSTALL", 900],
        ["DOWNLOAD_AND_INSTALL", 10],
      ]);
      expect((await boss.call(`targets/${id}/actions/${second?.action.actionId}`, { method: "DELETE" })).status).toBe(204);
      const cancelled = await told([
        ["DOWNLOAD_AND_INSTALL", 900],
        ["CANCEL_DOWNLOAD", 10],
      ]);
      expect(cancelled[1]?.action).toEqual({ actionId: second?.action.actionId });

      await admin.post(`system/tenants/${name}/suspend`);
      const receiver = () => asOperator(own.vhost, (channel) => channel.checkQueue("dmf_receiver"));
      await eventually(async () => expect((await receiver()).consumerCount).toBe(0), limitMs);
      const before = thing.got.length;
      const late = uniqueName("late");
      thing.register(late);
      thing.report(first?.action.actionId ?? 0, "FINISHED");
      await eventually(async () => expect((await receiver()).messageCount).toBe(2), limitMs);
      // another tenant is served meanwhile, and this one gets nothing
      await handled(await registered());
      expect(thing.got).toHaveLength(before);
      await admin.post(`system/tenants/${name}/resume`);
      await thing.next(({ thingId, body }) => thingId === id && body?.length === 1 && body[0].topic === "CANCEL_DOWNLOAD", limitMs);
      await eventually(async () => expect(await target(late, boss)).toMatchObject({ controllerId: late }), limitMs);
      const actions = await actionsOf(id, boss);
      expect(actions.find(({ id: actionId }) => actionId === first?.action.actionId)).toMatchObject({ detailStatus: "finished" });
    } finally {
      await thing.close();
    }
  });
}
