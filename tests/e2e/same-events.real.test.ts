import type { MessagingAccess } from "@harrier/contracts";
import type { Stack } from "@harrier/stack";
import { eventually, type Kafka, type RabbitMq, startKafka, startRabbitMq, twoOfEach } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { actionEventFaults, type EventLog, followEvents, relayed, rolloutEventFaults } from "./support/events.ts";
import { faultsOf } from "./support/invariants.ts";
import { type JobResult, runJob } from "./support/job.ts";
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

const limitMs = 180_000;

/** Ends everything that runs, one after the other, each when the one before serves again; answers what it has ended. */
async function killEach(): Promise<string[]> {
  const killed: string[] = [];
  for (const { name } of stack.processes()) {
    const pid = stack.processes().find((one) => one.name === name)?.pid;
    if (pid === undefined) throw new Error(`${name} does not run`);
    process.kill(pid, "SIGKILL");
    killed.push(name);
    await serving(stack.services, 120_000);
  }
  for (const [name, server] of Object.entries({ kafka, rabbitmq: broker })) {
    await server.kill();
    killed.push(name);
    await server.restart();
    await serving(stack.services, 120_000);
  }
  return killed;
}

/** Runs jobs, at least one, until this has ended. */
async function jobsDuring(work: Promise<unknown>): Promise<JobResult[]> {
  let over = false;
  const ended = work.finally(() => {
    over = true;
  });
  // its failure is told when it is waited for
  ended.catch(() => undefined);
  const jobs: JobResult[] = [];
  do jobs.push(await runJob(stack, { devices: 40, seed: jobs.length + 1 }));
  while (!over);
  await ended;
  return jobs;
}

test("readers of Kafka, the cursor, webhooks and the stream by AMQP hold the same events after everything was killed", async () => {
  const api = resilientAdmin(stack);
  const [receiver, hanging, endless] = [await webhookReceiver(), await webhookReceiver("hangs"), await webhookReceiver("never ends")];
  for (const { stop } of [receiver, hanging, endless]) ends.push(stop);
  const made = await api.settle<MessagingAccess>("system/amqp/sie", { method: "POST" });
  const url = Object.values(made.answer.body.users)[0]?.amqpUri ?? "";
  const stream = await streamReader(url, { queue: "sie_same", keys: ["#"] });
  ends.push(stream.stop);
  const webhooks = Object.entries({ same: receiver, hanging, endless }).map(([name, one]) => ({ name, url: one.url }));
  const { answer } = await api.settle<{ id: number }[]>("webhooks", { method: "POST", body: webhooks });
  expect(answer.status).toBe(201);
  await relayed(stack.adminDatabaseUrl as string);
  await eventually(async () => expect(await eventsBehind(api.get, (await api.get<{ next: string }>("events?limit=1")).next)).toEqual([]));
  const after = (await api.get<{ next: string }>("events?limit=1")).next;
  // What the cursor is behind of has been relayed, so it is in Kafka; it is not compared.
  await events.caughtUp();
  const before = new Set(idsOf(events.seen));

  const running = stack.processes().map(({ name }) => name);
  const killing = killEach();
  const jobs = await jobsDuring(killing);
  expect(await killing).toEqual([...running, "kafka", "rabbitmq"]);
  expect(running).toEqual(
    expect.arrayContaining(["gateway-0", "controller-1", "management-1", "rollout-engine-1", "artifact-store-0", "postgres"]),
  );
  await answering(stack);
  expect(jobs.flatMap(faultsOf)).toEqual([]);

  await relayed(stack.adminDatabaseUrl as string, limitMs);
  const told = await eventsBehind(api.get, after);
  const ids = idsOf(told);
  expect(ids.length).toBeGreaterThan(200);
  await eventually(() => expect(idsOf(events.seen.filter(({ id }) => !before.has(id)))).toEqual(ids), limitMs);
  // A receiver that hangs holds up nobody; one whose answer does not end has accepted.
  await eventually(() => expect(idsOf(receiver.got)).toEqual(ids), limitMs);
  await eventually(() => expect(idsOf(endless.got)).toEqual(ids), limitMs);
  await eventually(() => expect(idsOf(stream.got)).toEqual(ids), limitMs);
  expect([told, receiver.got, endless.got, stream.got].map(outOfOrder)).toEqual([[], [], [], []]);
  for (const { actions, demo } of jobs) {
    expect(actionEventFaults(events.kept(), actions)).toEqual([]);
    expect(rolloutEventFaults(events.kept(), demo.rolloutId)).toEqual([]);
  }

  const path = `webhooks/${answer.body[1]?.id}`;
  // an attempt that hangs is in the log once it has ended, and those before may have died with their process
  await eventually(async () => {
    const log = await api.get<{ delivered: boolean }[]>(`${path}/deliveries?limit=100`);
    expect(log.filter(({ delivered }) => delivered)).toEqual([]);
    expect(log.length).toBeGreaterThan(0);
  }, limitMs);
  expect(await api.get(path)).toMatchObject({ enabled: true, failingSince: expect.any(Number), lastError: expect.any(String) });
  hanging.accept();
  expect((await api.settle(`${path}/replay`, { method: "POST", body: { after } })).answer.status).toBeLessThan(300);
  await eventually(() => expect(idsOf(hanging.accepted)).toEqual(ids), limitMs);
}, 900_000);
