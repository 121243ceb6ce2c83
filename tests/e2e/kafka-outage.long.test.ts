import { setTimeout as sleep } from "node:timers/promises";
import { actionStatusNames } from "@harrier/contracts";
import type { Stack } from "@harrier/stack";
import { createDevice, eventually, type Kafka, startKafka, twoOfEach, withClient } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { seedFleet, startDevices } from "./support/chaos-fleet.ts";
import { actionEventFaults, type EventLog, followEvents, relayed, rolloutEventFaults, shapeFaults } from "./support/events.ts";
import type { JobAction } from "./support/job.ts";
import { adminOf, allowTargetTokens } from "./support/replicas.ts";
import { startAnsweringStack } from "./support/serving.ts";
import { askSteadily, outcomesOf } from "./support/steady.ts";

// The broker is killed in the middle of a rollout of 20,000 targets, and away for minutes: nobody notices, and all events come afterwards.

const targets = Number(process.env["HARRIER_TEST_TARGETS"] || 20_000);
const outageMs = Number(process.env["HARRIER_TEST_OUTAGE_SECONDS"] || 180) * 1_000;
const limitMs = 900_000;

let kafka: Kafka;
let stack: Stack;
let events: EventLog;
beforeAll(async () => {
  kafka = await startKafka();
  stack = await startAnsweringStack({ replicas: twoOfEach, kafkaBrokers: kafka.brokers });
  await allowTargetTokens(stack);
  events = await followEvents(kafka.brokers);
});
afterAll(async () => {
  await events?.stop();
  await stack?.stop();
  await kafka?.stop();
});

/** Reads the histories of all actions of a rollout, as the interface shows them one by one. */
function historiesOf(rolloutId: number): Promise<JobAction[]> {
  return withClient(stack.adminDatabaseUrl as string, async (client) => {
    const { rows } = await client.query<{ id: string; controllerId: string; status: number; revisions: number[]; statuses: number[] }>(
      `select a.id, a.controller_id as "controllerId", a.status, array_agg(h.revision order by h.revision) as revisions,
              array_agg(h.status::int order by h.revision) as statuses
         from controller.actions a join controller.action_statuses_v1 h on h.tenant_id = a.tenant_id and h.action_id = a.id
        where a.tenant_id = 1 and a.rollout_id = $1 group by 1, 2, 3`,
      [rolloutId],
    );
    const nameOf = (status = -1) => (actionStatusNames[status] as string).toLowerCase();
    return rows.map(({ id, controllerId, status, revisions, statuses }) => ({
      id: Number(id),
      controllerId,
      rollout: rolloutId,
      status: nameOf(status),
      history: revisions.map((revision, n) => ({ id: revision, type: nameOf(statuses[n]) })),
    }));
  });
}

test(`the broker is away for ${outageMs / 1_000} s in a rollout of ${targets.toLocaleString("en")} targets`, async () => {
  const api = adminOf(stack);
  const { set } = await api.createSetWithFile();
  const { controllerId, securityToken } = await api.createTarget();
  const device = createDevice({ baseUrl: stack.baseUrl, controllerId, token: securityToken });
  await seedFleet(stack, targets);
  const { id } = await api.post<{ id: number }>("rollouts", {
    name: "outage",
    distributionSetId: set.id,
    targetFilterQuery: "controllerid==chaos-*",
    amountGroups: 5,
    successCondition: { condition: "THRESHOLD", expression: "60" },
    errorCondition: { condition: "THRESHOLD", expression: "50" },
    startAt: 1,
  });
  const view = () => api.get<{ status: string; totalTargetsPerStatus?: Record<string, number> }>(`rollouts/${id}`);
  const ended = async () => {
    const { finished = 0, error = 0 } = (await view()).totalTargetsPerStatus ?? {};
    return finished + error;
  };
  let allowed = targets / 10;
  const devices = startDevices(stack, id, () => allowed);
  const others = askSteadily({
    poll: () => device.call(""),
    list: () => api.call("actions?limit=5"),
    create: () => api.call("targetfilters", { method: "POST", body: { name: `f${Date.now()}-${Math.random()}`, query: "name==*" } }),
    ready: () => fetch(`${stack.baseUrl}/readyz`),
  });
  try {
    await eventually(async () => expect(await ended()).toBeGreaterThan(targets / 20), limitMs, 500);
    others.take();
    await kafka.kill();
    const until = Date.now() + outageMs;
    allowed = (targets * 2) / 3;
    // The rollout goes on meanwhile, from group to group.
    await eventually(async () => expect(await ended()).toBeGreaterThan(targets / 2), limitMs, 500);
    await sleep(Math.max(0, until - Date.now()));
    const meanwhile = others.take();
    console.log(`while the broker was away: ${JSON.stringify(meanwhile)}; ${await ended()} updates have ended`);
    expect(outcomesOf(meanwhile)).toEqual(["200", "201"]);
    await kafka.restart();
    allowed = Number.POSITIVE_INFINITY;
    await eventually(async () => expect((await view()).status).toBe("finished"), limitMs, 1_000);
  } finally {
    await devices.stop();
    await others.stop();
  }
  const began = Date.now();
  await relayed(stack.adminDatabaseUrl as string, limitMs);
  const actions = await historiesOf(id);
  expect(actions).toHaveLength(targets);
  await eventually(
    () => expect([actionEventFaults(events.kept(), actions).slice(0, 5), rolloutEventFaults(events.kept(), id)]).toEqual([[], []]),
    120_000,
    2_000,
  );
  expect(shapeFaults(events.kept()).slice(0, 5)).toEqual([]);
  const repeated = events.seen.length - events.kept().length;
  console.log(
    `${events.kept().length} events, ${repeated} of them twice; the last ${Math.round((Date.now() - began) / 1_000)} s after the end`,
  );
});
