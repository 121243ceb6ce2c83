import { existsSync } from "node:fs";
import { join } from "node:path";
import type { MessagingAccess } from "@harrier/contracts";
import { runDemo } from "@harrier/simulator";
import type { ServiceName, Stack } from "@harrier/stack";
import { eventually, startKafka, startRabbitMq, startTestStack, type TestStackOptions } from "@harrier/testkit";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startBalancer } from "./support/balancer.ts";
import { crossAllEdges, type Readers } from "./support/edges.ts";
import { followEvents } from "./support/events.ts";
import { startMixedLoad } from "./support/mixed-load.ts";
import { webhookReceiver } from "./support/receivers.ts";
import { adminOf, allowTargetTokens, replicasOf } from "./support/replicas.ts";
import { makeServiceCertificates, type ServiceCertificates } from "./support/service-certificates.ts";

// Each service of the release before beside this release's others, and the other way round, while every edge between services is crossed (gRPC by
// mutual TLS, views and functions, events on Kafka, by cursor and webhook, messages of devices), under the load of the demo. And an upgrade of two
// replicas of each behind a balancer, of which no request may notice anything. `npm run check:skew -- <git ref>` builds that release and names its
// folder here.
const previous = process.env["HARRIER_TEST_PREVIOUS"] ?? "";
const devices = Number(process.env["HARRIER_TEST_TARGETS"] ?? 40);
/** The order of an upgrade: callees before their callers. */
const order = ["controller", "management", "artifact-store", "rollout-engine", "dmf", "gateway"] as const satisfies readonly ServiceName[];
const before = (service: ServiceName): string => join(previous, "apps", service, "dist", "main.js");
const allBefore = Object.fromEntries(order.map((service) => [service, before(service)]));
const hour = { timeout: 3_600_000 };

let certificates: ServiceCertificates;
const ends: (() => unknown)[] = [];
beforeAll(() => {
  for (const service of order) expect([before(service), existsSync(before(service))]).toEqual([before(service), true]);
  certificates = makeServiceCertificates();
});
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});
afterAll(() => certificates?.close());

async function start(options: TestStackOptions): Promise<Stack> {
  const stack = await startTestStack(options);
  ends.push(() => stack.stop());
  await allowTargetTokens(stack);
  return stack;
}

/** Starts everything that there is, with brokers of its own and somebody who reads the events on Kafka and by a webhook. */
async function startWhole(programs: Partial<Record<ServiceName, string>>): Promise<{ stack: Stack; readers: Readers }> {
  const [kafka, broker] = await Promise.all([startKafka(), startRabbitMq()]);
  ends.push(kafka.stop, broker.stop);
  const stack = await start({
    ...certificates.options,
    programs,
    kafkaBrokers: kafka.brokers,
    amqp: { url: broker.url, managementUrl: broker.managementUrl },
    management: { HARRIER_EGRESS_ALLOW: "*@127.0.0.0/8" },
  });
  const events = await followEvents(kafka.brokers);
  ends.push(events.stop);
  const receiver = await webhookReceiver();
  ends.push(receiver.stop);
  await adminOf(stack).post("webhooks", [{ name: "skew", url: receiver.url }]);
  const { users } = await adminOf(stack).post<MessagingAccess>("system/amqp/dmf", undefined);
  return { stack, readers: { events, receiver, messagesUrl: Object.values(users)[0]?.amqpUri ?? "" } };
}

const complaints = (stack: Stack, readers: Readers): Promise<unknown[]> => crossAllEdges(stack, readers, devices);

describe("one service of the release before, the others of this one", () => {
  it("as after taking back one of them", hour, async () => {
    const { stack, readers } = await startWhole({});
    for (const service of order.toReversed()) {
      await stack.replace(service, before(service));
      expect([service, await complaints(stack, readers)]).toEqual([service, []]);
      await stack.replace(service);
    }
  });
});

describe("one service of this release, the others of the release before", () => {
  it("as after an upgrade of one of them", hour, async () => {
    const { stack, readers } = await startWhole(allBefore);
    expect(["none", await complaints(stack, readers)]).toEqual(["none", []]);
    for (const service of order) {
      await stack.replace(service);
      expect([service, await complaints(stack, readers)]).toEqual([service, []]);
      await stack.replace(service, before(service));
    }
  });
});

describe("an upgrade in its order, and back", () => {
  it("while a rollout runs", hour, async () => {
    const { stack } = await startWhole(allBefore);
    const { baseUrl, adminUser: user, adminPassword: password } = stack;
    const demo = () => runDemo({ baseUrl, user, password, devices, pollSeconds: 0.5, timeoutMs: 240_000 });
    const change = async (services: readonly ServiceName[], main: (service: ServiceName) => string | undefined): Promise<void> => {
      for (const service of services) await stack.replace(service, main(service));
    };
    const [up] = await Promise.all([demo(), change(order, () => undefined)]);
    expect([up.differences, up.fleet.violations, up.ok]).toEqual([[], [], true]);
    const [down] = await Promise.all([demo(), change(order.toReversed(), before)]);
    expect([down.differences, down.fleet.violations, down.ok]).toEqual([[], [], true]);
  });

  it("of two replicas of each behind a balancer fails no request, although nothing is repeated", hour, async () => {
    const services = order.filter((service) => service !== "dmf");
    const stack = await start({
      programs: allBefore,
      replicas: Object.fromEntries(services.map((service) => [service, 2])),
      env: { HARRIER_DRAIN_MS: "3000", HARRIER_DRAIN_TRANSFERS_MS: "30000" },
    });
    const balancer = await startBalancer(replicasOf(stack, "gateway").map(({ httpPort }) => httpPort));
    ends.push(balancer.stop);
    for (const [what, steps] of [
      ["up", services.map((service) => [service, undefined] as const)],
      ["down", services.toReversed().map((service) => [service, before(service)] as const)],
    ] as const) {
      const load = await eventually(() => startMixedLoad({ ...stack, baseUrl: balancer.baseUrl }, 20), 30_000);
      for (const [service, main] of steps) await stack.replace(service, main);
      const { done, failed } = await load.stop();
      console.log(`${what}: ${JSON.stringify(done)}, failed ${failed.length}`);
      expect([what, failed]).toEqual([what, []]);
    }
  });
});
