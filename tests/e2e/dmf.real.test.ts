import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MessagingAccess, MessagingStatus } from "@harrier/contracts";
import { runDemo } from "@harrier/simulator";
import type { Stack } from "@harrier/stack";
import { type Admin, createAdmin, eventually, type RabbitMq, startRabbitMq, startTestStack, uniqueName } from "@harrier/testkit";
import { connect, type GetMessage } from "amqplib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Backend, connectBackend } from "./support/thing.ts";

let broker: RabbitMq;
let stack: Stack;
let admin: Admin;
let backend: Backend;
let vhost: string;
let url: string;
let setId: number;
beforeAll(async () => {
  broker = await startRabbitMq();
  stack = await startTestStack({ amqp: { url: broker.url, managementUrl: broker.managementUrl }, replicas: { dmf: 2 } });
  admin = createAdmin({ baseUrl: stack.baseUrl, user: stack.adminUser, password: stack.adminPassword });
  await admin.configure("authentication.targettoken.enabled", true);
  const made = await admin.post<MessagingAccess>("system/amqp/dmf");
  ({ vhost } = made);
  url = Object.values(made.users)[0]?.amqpUri ?? "";
  backend = await connectBackend(url);
  const module = await admin.createModule();
  await admin.upload(module.id, "a.bin", "some bytes");
  setId = (await admin.createSet([module.id])).id;
});
afterAll(async () => {
  await backend?.close();
  await stack?.stop();
  await broker?.stop();
});

/** Takes all dead letters, as the operator may. */
async function deadLetters(): Promise<GetMessage[]> {
  const connection = await connect(`${broker.url}/${vhost}`);
  const channel = await connection.createChannel();
  const found: GetMessage[] = [];
  for (;;) {
    const one = await channel.get("dmf_connector_deadletter_ttl", { noAck: true });
    if (one === false) break;
    found.push(one);
  }
  await connection.close();
  return found;
}

async function isDeadLetter(send: () => void): Promise<void> {
  await deadLetters();
  send();
  const [one] = await eventually(async () => {
    const found = await deadLetters();
    expect(found).toHaveLength(1);
    return found;
  });
  const [death] = (one?.properties.headers?.["x-death"] ?? []) as { reason: string; queue: string }[];
  expect(death).toMatchObject({ reason: "rejected", queue: "dmf_receiver" });
}

const target = (id: string) => admin.get<Record<string, unknown>>(`targets/${encodeURIComponent(id)}`);
const registered = async (id = uniqueName("thing")): Promise<string> => {
  backend.register(id);
  await eventually(async () => expect((await target(id))["controllerId"]).toBe(id));
  return id;
};
interface ActionView {
  id: number;
  status: string;
  detailStatus: string;
}
const actionOf = (id: string, actionId: number) => admin.get<ActionView>(`targets/${id}/actions/${actionId}`);
const isNow = (id: string, actionId: number, detailStatus: string) =>
  eventually(async () => expect((await actionOf(id, actionId)).detailStatus).toBe(detailStatus));
const assign = async (id: string, more: object = {}) => admin.post(`distributionsets/${setId}/assignedTargets`, [{ id, ...more }]);
const told = (thingId: string, topic: string) => backend.next((message) => message.thingId === thingId && message.topic === topic);

test("rollouts 99 THING_CREATED without reply_to is a dead letter, as are all messages that say too little", async () => {
  const cases: [Record<string, unknown>, unknown?, object?][] = [
    [{ type: "THING_CREATED", thingId: "x" }],
    [{ thingId: "x" }],
    [{ type: "SOMETHING" }],
    [{ type: "EVENT" }],
    [{ type: "EVENT", topic: "SOMETHING" }, {}],
    [{ type: "THING_CREATED" }, undefined, { replyTo: "r" }],
    [{ type: "THING_CREATED", thingId: "a/b" }, undefined, { replyTo: "r" }],
    [{ type: "THING_CREATED", thingId: "x" }, {}, { replyTo: "r", contentType: "text/plain" }],
    [{ type: "THING_REMOVED", thingId: "nobody" }],
    [{ type: "EVENT", topic: "UPDATE_ATTRIBUTES", thingId: "nobody" }, { attributes: { a: "b" } }],
    [{ type: "EVENT", topic: "UPDATE_ACTION_STATUS" }, "not JSON"],
    [
      { type: "EVENT", topic: "UPDATE_ACTION_STATUS" },
      { actionId: 11, actionStatus: null },
    ],
    [
      { type: "EVENT", topic: "UPDATE_ACTION_STATUS" },
      { actionId: 11, actionStatus: 3 },
    ],
    [
      { type: "EVENT", topic: "UPDATE_ACTION_STATUS" },
      { actionId: 11, actionStatus: "RUNNING", message: ["\u0000"] },
    ],
    [{ type: "EVENT", topic: "UPDATE_ACTION_STATUS" }, { actionId: 11, actionStatus: "RUNNING" }, { correlationId: "c" }],
  ];
  for (const [headers, body, properties] of cases) await isDeadLetter(() => backend.send(headers, body, properties));
  await eventually(async () => {
    const { refusals = [] } = await admin.get<MessagingStatus>("system/amqp");
    expect(refusals.find(({ kind }) => kind === "body")).toMatchObject({ count: 5, lastReason: expect.stringContaining("message") });
    expect(refusals.reduce((sum, { count }) => sum + count, 0)).toBe(cases.length);
  });
});

test("rollouts 100 a thing with an open action gets it, again with each registration, and nobody else's", async () => {
  const id = await registered();
  await assign(id);
  const first = await told(id, "DOWNLOAD_AND_INSTALL");
  expect(first).toMatchObject({ type: "EVENT", headers: { tenant: "DEFAULT", "content-type": "application/json" } });
  expect(first.headers["__TypeId__"]).toBeUndefined();
  const [module] = first.body.softwareModules;
  expect(module).toMatchObject({ moduleId: expect.any(Number), moduleType: "os", moduleVersion: "1.0" });
  const [artifact] = module.artifacts;
  expect(artifact).toMatchObject({ filename: "a.bin", size: 10, hashes: { sha1: expect.any(String), md5: expect.any(String) } });
  expect(artifact.lastModified).toBeGreaterThan(Date.now() - 600_000);
  const answer = await fetch(artifact.urls.HTTP, { headers: { authorization: `TargetToken ${first.body.targetSecurityToken}` } });
  expect(await answer.text()).toBe("some bytes");
  backend.register(id, { name: "another name" });
  expect((await told(id, "DOWNLOAD_AND_INSTALL")).body.actionId).toBe(first.body.actionId);
  await eventually(async () => expect(await target(id)).toMatchObject({ name: "another name", address: `amqp://${vhost}/test.replies` }));
});

test("rollouts 101 a message without tenant, or with another one, is a dead letter", async () => {
  for (const tenant of [undefined, "OTHER", ""]) {
    await isDeadLetter(() => backend.send({ type: "THING_CREATED", thingId: "x", tenant }, undefined, { replyTo: "test.replies" }));
  }
});

test("rollouts 102 a ping is answered with its own correlation id and the time as text", async () => {
  backend.send({ type: "PING" }, undefined, { replyTo: "test.replies", correlationId: "ping-1" });
  const answer = await backend.next(({ type }) => type === "PING_RESPONSE");
  expect(answer.correlationId).toBe("ping-1");
  expect(Math.abs(Number(answer.text) - Date.now())).toBeLessThan(60_000);
});

test("rollouts 103 FINISHED ends the action, stores what the thing says, and asks for attributes", async () => {
  const id = await registered();
  await assign(id);
  const { actionId } = (await told(id, "DOWNLOAD_AND_INSTALL")).body;
  for (const status of ["DOWNLOAD", "RETRIEVED", "DOWNLOADED", "RUNNING", "WARNING"]) backend.report(actionId, status);
  backend.report(String(actionId) as unknown as number, "FINISHED", { message: "one", code: 7, timestamp: 1_700_000_000_000 });
  await isNow(id, actionId, "finished");
  await told(id, "REQUEST_ATTRIBUTES_UPDATE");
  const { content } = await admin.get<{ content: { type: string; messages: string[]; timestamp: number; code?: number }[] }>(
    `targets/${id}/actions/${actionId}/status?sort=id:ASC`,
  );
  // the messages of one thing are handled in the order in which they came
  expect(content.map(({ type }) => type)).toEqual([
    "running",
    "download",
    "retrieved",
    "running",
    "downloaded",
    "running",
    "warning",
    "finished",
  ]);
  expect(content.at(-1)).toMatchObject({ messages: expect.arrayContaining(["one"]), timestamp: 1_700_000_000_000, code: 7 });
  backend.send({ type: "EVENT", topic: "UPDATE_ATTRIBUTES", thingId: id }, { attributes: { a: 1, b: true, c: "d" }, mode: "REPLACE" });
  await eventually(async () => expect(await admin.get(`targets/${id}/attributes`)).toEqual({ a: "1", b: "true", c: "d" }));
});

test("rollouts 104 CANCELED for a running action, and 106 an unknown action, are dead letters", async () => {
  const id = await registered();
  await assign(id);
  const { actionId } = (await told(id, "DOWNLOAD_AND_INSTALL")).body;
  await isDeadLetter(() => backend.report(actionId, "CANCELED"));
  await isDeadLetter(() => backend.report(2_000_000_000, "RUNNING"));
  expect((await actionOf(id, actionId)).detailStatus).toBe("running");
});

test("rollouts 105 a cancellation is told; after CANCEL_REJECTED it runs on, and 107 what is assigned meanwhile follows it", async () => {
  const id = await registered();
  await assign(id);
  const { actionId } = (await told(id, "DOWNLOAD_AND_INSTALL")).body;
  const cancel = async () => expect((await admin.call(`targets/${id}/actions/${actionId}`, { method: "DELETE" })).status).toBe(204);
  await cancel();
  expect((await told(id, "CANCEL_DOWNLOAD")).body).toEqual({ actionId });
  backend.report(actionId, "CANCEL_REJECTED");
  await isNow(id, actionId, "running");
  await cancel();
  await told(id, "CANCEL_DOWNLOAD");
  const other = await admin.createSet([(await admin.createModule()).id]);
  await admin.post(`distributionsets/${other.id}/assignedTargets`, [{ id }]);
  await told(id, "CANCEL_DOWNLOAD");
  backend.report(actionId, "CANCELED");
  const next = await told(id, "DOWNLOAD_AND_INSTALL");
  expect(next.body.actionId).not.toBe(actionId);
  await isNow(id, actionId, "canceled");
  // a late answer changes nothing
  backend.report(actionId, "CANCEL_REJECTED");
  backend.report(next.body.actionId, "FINISHED");
  await isNow(id, next.body.actionId, "finished");
  expect((await actionOf(id, actionId)).detailStatus).toBe("canceled");
});

test("rollouts 108 a deleted target is told, by whomever it was deleted", async () => {
  const [one, two] = [await registered(), await registered()];
  expect((await admin.call(`targets/${one}`, { method: "DELETE" })).status).toBeLessThan(300);
  backend.send({ type: "THING_REMOVED", thingId: two });
  for (const id of [one, two]) {
    expect(await backend.next(({ type, thingId }) => type === "THING_DELETED" && thingId === id)).toMatchObject({
      text: "",
      topic: undefined,
    });
  }
});

test("rollouts 8.3 bad attributes are a dead letter, and the thing is registered; a type is set by its name and removed by a blank", async () => {
  const id = uniqueName("thing");
  await admin.post("targettypes", [{ name: "Gate Way", key: "gate" }]);
  await isDeadLetter(() => backend.register(id, { type: "Gate Way", attributeUpdate: { attributes: { "k\u00e4se": "1" } } }));
  expect(await target(id)).toMatchObject({ updateStatus: "registered", targetTypeName: "Gate Way" });
  backend.register(id, { type: "unknown", name: null });
  backend.register(id, { type: "", attributeUpdate: { attributes: { a: "1" }, mode: "MERGE" } });
  await eventually(async () => expect(await admin.get(`targets/${id}/attributes`)).toEqual({ a: "1" }));
  expect(await target(id)).not.toHaveProperty("targetTypeName");
});

test("rollouts 8.4 downloadonly is DOWNLOAD, attributes are asked for by PUT, and an id may have 256 characters", async () => {
  const id = await registered(`t${"x".repeat(255)}`);
  await assign(id, { type: "downloadonly" });
  const { actionId } = (await told(id, "DOWNLOAD")).body;
  backend.report(actionId, "DOWNLOADED");
  await isNow(id, actionId, "downloaded");
  await told(id, "REQUEST_ATTRIBUTES_UPDATE");
  backend.send({ type: "EVENT", topic: "UPDATE_ATTRIBUTES", thingId: id }, { attributes: { a: "b" } });
  await eventually(async () => expect((await target(id))["requestAttributes"]).toBe(false));
  expect((await admin.call(`targets/${id}`, { method: "PUT", body: { requestAttributes: true } })).status).toBe(200);
  await told(id, "REQUEST_ATTRIBUTES_UPDATE");
});

test("rollouts 8.4 with the confirmation flow a thing is asked first; FINISHED without an answer is taken, a late answer is a dead letter", async () => {
  await admin.configure("user.confirmation.flow.enabled", true);
  const [asked, eager] = [await registered(), await registered()];
  for (const id of [asked, eager]) await assign(id, { confirmationRequired: true });
  const { actionId } = (await told(asked, "CONFIRM")).body;
  backend.report(actionId, "CONFIRMED");
  expect((await told(asked, "DOWNLOAD_AND_INSTALL")).body.actionId).toBe(actionId);
  await isDeadLetter(() => backend.report(actionId, "CONFIRMED"));
  const quick = (await told(eager, "CONFIRM")).body.actionId;
  backend.report(quick, "FINISHED");
  await isNow(eager, quick, "finished");
  const standing = await registered();
  await assign(standing, { confirmationRequired: true });
  await told(standing, "CONFIRM");
  backend.send({ type: "EVENT", topic: "UPDATE_AUTO_CONFIRM", thingId: standing }, { enabled: true, initiator: "me" });
  await told(standing, "DOWNLOAD_AND_INSTALL");
});

test("rollouts 8.4 in batches each reply exchange gets one message for its things, and a registration a batch of one; CONFIRM is for each", async () => {
  await admin.configure("user.confirmation.flow.enabled", true);
  await admin.configure("batch.assignments.enabled", true);
  const other = await connectBackend(url, { exchange: "other.replies" });
  try {
    const own = await Promise.all([1, 2, 3].map(() => registered()));
    const others = [1, 2].map(() => uniqueName("thing"));
    for (const id of others) other.register(id);
    for (const id of others) await eventually(async () => expect((await target(id))["controllerId"]).toBe(id));
    const items = [...own, ...others].map((id) => ({ id, confirmationRequired: false }));
    const batchOf = (from: Backend, ids: readonly string[], limitMs?: number) =>
      from.next(
        ({ topic, body }) =>
          topic === "BATCH_DOWNLOAD_AND_INSTALL" && body.targets.every((one: { controllerId: string }) => ids.includes(one.controllerId)),
        limitMs,
      );
    // controller reads settings of tenants once in a while
    const probe = await registered();
    await assign(probe, { confirmationRequired: false });
    await eventually(async () => {
      backend.register(probe);
      await batchOf(backend, [probe], 1_000);
    }, 30_000);
    await admin.post(`distributionsets/${setId}/assignedTargets`, items);
    for (const [from, ids] of [
      [backend, own],
      [other, others],
    ] as const) {
      const got: string[] = [];
      while (got.length < ids.length) {
        const batch = await batchOf(from, ids);
        expect(batch.thingId).toBeUndefined();
        expect(batch.body).toMatchObject({ timestamp: expect.any(Number), softwareModules: [{ artifacts: [expect.anything()] }] });
        for (const one of batch.body.targets) {
          expect(one).toEqual({ actionId: expect.any(Number), controllerId: expect.any(String), targetSecurityToken: expect.any(String) });
          got.push(one.controllerId);
          from.report(one.actionId, "FINISHED");
        }
      }
      expect(got.toSorted()).toEqual(ids.toSorted());
    }
    const id = await registered();
    await assign(id, { confirmationRequired: true });
    const { actionId } = (await told(id, "CONFIRM")).body;
    backend.report(actionId, "CONFIRMED");
    expect((await told(id, "DOWNLOAD_AND_INSTALL")).body.actionId).toBe(actionId);
    backend.register(id);
    const again = await batchOf(backend, [id]);
    expect(again.body.targets).toMatchObject([{ actionId, controllerId: id }]);
  } finally {
    await other.close();
    await admin.configure("batch.assignments.enabled", false);
    await admin.configure("user.confirmation.flow.enabled", false);
  }
});

test("the demo with half of its devices by message ends with both sides agreed, and leaves no queue behind", async () => {
  const dir = mkdtempSync(join(tmpdir(), "harrier-demo-dmf-"));
  const file = join(dir, "firmware.img");
  writeFileSync(file, randomBytes(1_000_000));
  const { baseUrl, adminPassword: password } = stack;
  const options = { devices: 40, fail: 0.2, pollSeconds: 0.5, timeoutMs: 100_000 };
  const result = await runDemo({ ...options, baseUrl, password, file, dmf: url }).finally(() => rmSync(dir, { recursive: true }));
  expect(result).toMatchObject({ ok: true, differences: [], things: { things: 20, finished: 20, violations: [], bytes: 20_000_000 } });
  expect(result.things?.failed).toBeGreaterThan(0);
  const connection = await connect(url);
  const channel = await connection.createChannel();
  channel.on("error", () => undefined);
  await expect(channel.checkQueue(`${result.run}.replies.queue`)).rejects.toThrow(/404/);
  await connection.close();
});
