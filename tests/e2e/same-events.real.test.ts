import type { MessagingAccess } from "@harrier/contracts";
import type { ServiceName, Stack } from "@harrier/stack";
import { eventually, type Kafka, type RabbitMq, startKafka, startRabbitMq, twoOfEach } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { actionEventFaults, type EventLog, followEvents, relayed, rolloutEventFaults } from "./support/events.ts";
import { faultsOf } from "./support/invariants.ts";
import { runJob } from "./support/job.ts";
import { eventsBehind, idsOf, outOfOrder, streamReader, webhookReceiver } from "./support/receivers.ts";
import { allowTargetTokens } from "./support/replicas.ts";
import { resilientAdmin } from "./support/resilient-admin.ts";
import { answering, serving, startAnsweringStack } from "./support/serving.ts";

// Whoever reads events, by whatever way, holds the same ones in the end, and they are what the histories say, whatever died meanwhile.

let kafka: Kafka;
let broker: RabbitMq;
let stack: Stack;
let events: EventLog;
const ends: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  kafka = await startKafka();
  ends.push(() => kafka.stop());
  broker = await startRabbitMq();
  ends.push(() => broker.stop());
  stack = await startAnsweringStack({
    replicas: { ...twoOfEach, management: 2 },
    kafkaBrokers: kafka.brokers,
    amqp: { url: broker.url, managementUrl: broker.managementUrl },
    envOf: { management: { HARRIER_EGRESS_ALLOW: "*@127.0.0.0/8" } },
  });
  ends.push(() => stack.stop());
  await allowTargetTokens(stack);
  events = await followEvents(kafka.brokers);
  ends.push(() => events.stop());
});
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
});

/** The services that take part in an event, with both replicas of each. */
const services: readonly ServiceName[] = ["controller", "management", "rollout-engine", "gateway"];
const limitMs = 180_000;

test("readers of Kafka, the cursor, a webhook and the stream by AMQP hold the same events after everything was killed", async () => {
  const api = resilientAdmin(stack);
  const receiver = await webhookReceiver();
  ends.push(receiver.stop);
  const made = await api.settle<MessagingAccess>("system/amqp/sie", { method: "POST" });
  const url = Object.values(made.answer.body.users)[0]?.amqpUri ?? "";
  const stream = await streamReader(url, { queue: "sie_same", keys: ["#"] });
  ends.push(stream.stop);
  const webhook = await api.settle("webhooks", { method: "POST", body: [{ name: "same", url: receiver.url }] });
  expect(webhook.answer.status).toBe(201);
  await relayed(stack.adminDatabaseUrl as string);
  await eventually(async () => expect(await eventsBehind(api.get, (await api.get<{ next: string }>("events?limit=1")).next)).toEqual([]));
  const after = (await api.get<{ next: string }>("events?limit=1")).next;
  // What the cursor is behind of has been relayed, so it is in Kafka; it is not compared.
  await events.caughtUp();
  const before = new Set(idsOf(events.seen));

  let killing = true;
  const kill = async (): Promise<void> => {
    for (let round = 0; killing && round < 2; round += 1) {
      for (const service of services) {
        for (const index of [0, 1]) {
          if (!killing) return;
          stack.kill(service, index);
          await serving(stack.services, 120_000);
        }
      }
      await broker.kill();
      await broker.restart();
    }
  };
  const killed = kill();
  // its failure is told when it is waited for
  killed.catch(() => undefined);
  const job = await runJob(stack, { devices: 60 });
  killing = false;
  await killed;
  await answering(stack);
  expect(faultsOf(job)).toEqual([]);

  await relayed(stack.adminDatabaseUrl as string, limitMs);
  const told = await eventsBehind(api.get, after);
  const ids = idsOf(told);
  expect(ids.length).toBeGreaterThan(200);
  await eventually(() => expect(idsOf(events.seen.filter(({ id }) => !before.has(id)))).toEqual(ids), limitMs);
  await eventually(() => expect(idsOf(receiver.got)).toEqual(ids), limitMs);
  await eventually(() => expect(idsOf(stream.got)).toEqual(ids), limitMs);
  expect([outOfOrder(told), outOfOrder(receiver.got), outOfOrder(stream.got)]).toEqual([[], [], []]);
  expect(actionEventFaults(events.kept(), job.actions)).toEqual([]);
  expect(rolloutEventFaults(events.kept(), job.demo.rolloutId)).toEqual([]);
});
