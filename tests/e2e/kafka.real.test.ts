import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Stack } from "@harrier/stack";
import { createDevice, type Device, eventually, type Kafka, startKafka, twoOfEach, uniqueName, withClient } from "@harrier/testkit";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { actionEventFaults, type EventLog, followEvents, relayed, rolloutEventFaults, shapeFaults } from "./support/events.ts";
import { faultsOf } from "./support/invariants.ts";
import { type JobAction, runJob } from "./support/job.ts";
import { adminOf, allowTargetTokens, replicaOf } from "./support/replicas.ts";
import { answering, startAnsweringStack } from "./support/serving.ts";

// Every committed event is sent, in order, whatever process dies meanwhile (architecture §2, outbox and relay).

let kafka: Kafka;
let stack: Stack;
let events: EventLog;
let adminUrl: string;

beforeAll(async () => {
  kafka = await startKafka();
  stack = await startAnsweringStack({ replicas: twoOfEach, kafkaBrokers: kafka.brokers });
  adminUrl = stack.adminDatabaseUrl as string;
  await allowTargetTokens(stack);
  events = await followEvents(kafka.brokers);
});
afterAll(async () => {
  await events?.stop();
  await stack?.stop();
  await kafka?.stop();
});

const aboutTarget = (controllerId: string) => events.seen.filter(({ subject }) => subject === `targets/${controllerId}`);

/** Inserts an outbox row whose transaction stays open until it is told to commit: the relay must not read beyond it. */
async function holdOutboxRow(controllerId: string): Promise<{ commit(): Promise<void> }> {
  const client = new pg.Client({ connectionString: stack.databaseUrls.controller });
  await client.connect();
  await client.query("begin");
  const item = { subject: `targets/${controllerId}`, sequence: 1, data: { controllerId } };
  await client.query(
    "insert into outbox (tenant_id, topic, type, common, items) values (1, 'target-events', 'io.update.target.created.v1', $1, $2)",
    [JSON.stringify({ tenant: "DEFAULT" }), JSON.stringify([item])],
  );
  return {
    async commit() {
      await client.query("commit");
      await client.end();
    },
  };
}

test("a transaction that commits late is not skipped, however many have committed since", async () => {
  const late = uniqueName("late");
  const held = await holdOutboxRow(late);
  const api = adminOf(stack);
  const { set } = await api.createSetWithFile();
  const targets = await api.createTargets(20, uniqueName("early"));
  for (const { controllerId } of targets) await api.assign(controllerId, set.id);
  // No other transaction waits for the open one …
  await eventually(() => {
    for (const { controllerId } of targets) expect(aboutTarget(controllerId)).toHaveLength(1);
  }, 20_000);
  expect(aboutTarget(late)).toEqual([]);
  // … and its row is not skipped.
  await held.commit();
  await eventually(() => {
    expect(aboutTarget(late)).toHaveLength(1);
    for (const { controllerId } of targets) expect(aboutTarget(controllerId)).toHaveLength(1);
    expect(events.seen.filter(({ subject }) => subject.startsWith(`targets/${targets[0]?.controllerId}/actions/`))).toHaveLength(1);
  }, 20_000);
});

test("the request id and trace of a request are in its events", async () => {
  const api = adminOf(stack);
  const { set } = await api.createSetWithFile();
  const { controllerId, securityToken } = await api.createTarget();
  const trace = () => `00-${randomBytes(16).toString("hex")}-${randomBytes(8).toString("hex")}-01`;
  const [assigning, reporting] = [trace(), trace()];
  const answer = await api.call<{ assignedActions: { id: number }[] }>(`targets/${controllerId}/assignedDS`, {
    method: "POST",
    body: [{ id: set.id }],
    headers: { traceparent: assigning, "x-request-id": "e2e-assign" },
  });
  expect(answer.headers.get("x-request-id")).toBe("e2e-assign");
  const actionId = answer.body.assignedActions[0]?.id;
  const device = createDevice({ baseUrl: stack.baseUrl, controllerId, token: securityToken });
  const report = await device.call(`/deploymentBase/${actionId}/feedback`, {
    method: "POST",
    headers: { traceparent: reporting },
    body: { status: { execution: "closed", result: { finished: "success" } } },
  });
  expect(report.status).toBe(200);
  // The gateway and the service that it called wrote the same id into their lines.
  for (const service of ["gateway", "management"] as const) {
    const log = join(stack.dataDir, "logs", `${replicaOf(stack, service).name}.log`);
    await eventually(() => expect(readFileSync(log, "utf8")).toContain('"rid":"e2e-assign"'));
  }
  const rollingOut = trace();
  const rollout = await api.call<{ id: number }>("rollouts", {
    method: "POST",
    headers: { traceparent: rollingOut },
    body: { name: uniqueName("traced"), distributionSetId: set.id, targetFilterQuery: `controllerId==${controllerId}`, amountGroups: 1 },
  });
  expect(rollout.status).toBe(201);
  await eventually(() => {
    const created = events.kept().find(({ topic, subject }) => topic === "rollout-events" && subject === `rollouts/${rollout.body.id}`);
    expect(created?.traceparent?.slice(3, 35)).toBe(rollingOut.slice(3, 35));
    const about = events.kept().filter(({ subject }) => subject === `targets/${controllerId}/actions/${actionId}`);
    const told = about.map(({ traceparent, headers }) => [traceparent?.slice(3, 35), headers["traceparent"]?.slice(3, 35)]);
    const [first, second] = [assigning.slice(3, 35), reporting.slice(3, 35)];
    expect(told[0]).toEqual([first, first]);
    expect(told.at(-1)).toEqual([second, second]);
  }, 20_000);
});

test("after a whole rollout a consumer knows exactly what the API knows", async () => {
  const job = await runJob(stack, { devices: 60 });
  expect(faultsOf(job)).toEqual([]);
  expect(job.demo.fleet.finals.some(({ outcome }) => outcome === "failure")).toBe(true);
  await relayed(adminUrl);
  await eventually(() => {
    expect(actionEventFaults(events.kept(), job.actions)).toEqual([]);
    expect(rolloutEventFaults(events.kept(), job.demo.rolloutId)).toEqual([]);
  }, 20_000);
  expect(shapeFaults(events.kept())).toEqual([]);
  // All events of one target are in one partition.
  for (const { controllerId } of job.actions)
    expect(new Set(events.seen.filter(({ data }) => data["controllerId"] === controllerId).map(({ key }) => key)).size).toBe(1);
});

/** A device repeats its report until it is answered: 410 means that an attempt without an answer had been its last report already. */
async function untilAnswered(report: () => Promise<number>): Promise<void> {
  await eventually(async () => expect([200, 410]).toContain(await report()), 20_000);
}

interface OpenAction {
  id: number;
  device: Device;
}

/** Makes new targets, each with an open action that its device has not seen yet. */
async function openActions(n: number): Promise<OpenAction[]> {
  const api = adminOf(stack);
  const { set } = await api.createSetWithFile();
  const open: OpenAction[] = [];
  for (const { controllerId, securityToken } of await api.createTargets(n)) {
    const device = createDevice({ baseUrl: stack.baseUrl, controllerId, token: securityToken });
    open.push({ id: await api.assign(controllerId, set.id), device });
  }
  return open;
}

/** Every device reports twice; returns what the API then shows of its action. */
async function reportAll(open: readonly OpenAction[]): Promise<JobAction[]> {
  const api = adminOf(stack);
  const actions: JobAction[] = [];
  for (const { id, device } of open) {
    await eventually(() => device.deployment());
    await untilAnswered(async () => (await device.report(id, "proceeding")).status);
    await untilAnswered(async () => (await device.report(id, "closed", "success")).status);
    const path = `targets/${device.controllerId}/actions/${id}/status?limit=500&sort=id:ASC`;
    const { content } = await api.get<{ content: { id: number; type: string }[] }>(path);
    const history = content.map((entry) => ({ id: entry.id, type: entry.type }));
    actions.push({ id, controllerId: device.controllerId, status: "finished", history });
  }
  return actions;
}

test("a leader killed between sending and recording it: some events are sent twice, none is missing", async () => {
  const repetitions = () => events.seen.length - events.kept().length;
  const open = await openActions(10);
  await relayed(adminUrl);
  const before = repetitions();
  // The present leader dies, then its successor.
  for (const index of [0, 1]) await stack.restart("controller", index, "controller.relay.after-send:1");
  const actions = await reportAll(open);
  await answering(stack);
  await relayed(adminUrl);
  await eventually(() => expect(actionEventFaults(events.kept(), actions)).toEqual([]), 20_000);
  expect(repetitions()).toBeGreaterThan(before);
});

/** Finds the replica whose relay has become leader last. */
function leader(): number {
  const began = [0, 1].map((index) => {
    const log = readFileSync(join(stack.dataDir, "logs", `${replicaOf(stack, "controller", index).name}.log`), "utf8");
    const line = log.split("\n").findLast((text) => text.includes('"relay leads"'));
    return line === undefined ? 0 : new Date((JSON.parse(line) as { time: string | number }).time).getTime();
  });
  return (began[0] as number) > (began[1] as number) ? 0 : 1;
}

test("a leader that lost its lock without noticing cannot send behind its successor", async () => {
  await relayed(adminUrl);
  // Both sleep after their first sending: the first leader then wakes up as a former one.
  for (const index of [0, 1]) await stack.restart("controller", index, "controller.relay.after-send:1:delay=4000");
  const api = adminOf(stack);
  const held = await holdOutboxRow(uniqueName("block"));
  // There are three rows, each of more than one transaction: a reader takes them at once and sends them one after the other.
  const fleets = [1, 2, 3].map((n) => uniqueName(`wave-${n}`));
  for (const prefix of fleets) {
    const bodies = Array.from({ length: 2_100 }, (_, n) => ({ controllerId: `${prefix}-${n}` }));
    await eventually(() => api.post("targets", bodies), 10_000);
  }
  await held.commit();
  const toldOf = (prefix = "") => events.seen.filter(({ subject }) => subject.startsWith(`targets/${prefix}-`)).length;
  const former = leader();
  const formerPid = replicaOf(stack, "controller", former).pid();
  if (formerPid === undefined) throw new Error("the leader does not run");
  await eventually(() => expect(toldOf(fleets[0])).toBe(2_100), 20_000);
  // It sleeps after its first sending; stopped as well, it cannot wake up before its successor has sent.
  process.kill(formerPid, "SIGSTOP");
  // The lock is released with its session; the process sleeps in the middle of its batches.
  await withClient(adminUrl, (client) =>
    client.query(
      "select pg_terminate_backend(l.pid) from pg_locks l join pg_stat_activity a using (pid) where l.locktype = 'advisory' and a.usename = 'harrier_controller'",
    ),
  );
  try {
    await eventually(() => expect(leader()).toBe(1 - former), 20_000);
    await relayed(adminUrl);
  } finally {
    process.kill(formerPid, "SIGCONT");
  }
  await eventually(() => {
    // The first wave came from both, the others from the successor only.
    expect(fleets.map((prefix) => toldOf(prefix))).toEqual([4_200, 2_100, 2_100]);
  }, 20_000);
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  expect(fleets.map((prefix) => toldOf(prefix))).toEqual([4_200, 2_100, 2_100]);
  for (const prefix of fleets) expect(events.kept().filter(({ subject }) => subject.startsWith(`targets/${prefix}-`))).toHaveLength(2_100);
});

test("without Kafka everything goes on, and all events are sent when it is back", async () => {
  await kafka.kill();
  const actions = await reportAll(await openActions(10));
  expect((await fetch(`${stack.baseUrl}/readyz`)).status).toBe(200);
  await kafka.restart();
  await relayed(adminUrl, 120_000);
  await eventually(() => expect(actionEventFaults(events.kept(), actions)).toEqual([]), 60_000);
});
