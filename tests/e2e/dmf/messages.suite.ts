import type { MessagingStatus } from "@harrier/contracts";
import { eventually, uniqueName } from "@harrier/testkit";
import { expect, test } from "vitest";
import { admin, backend, dead, vhost } from "./stack.ts";
import { actionOf, assign, isNow, newSet, registered, target, told } from "./things.ts";

/** What things say and are told, case by case; it comes first, because nothing has been refused before. */
export function messagesOfThings(): void {
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
    for (const [headers, body, properties] of cases) {
      const refused = await dead.expectOne(() => backend.send(headers, body, properties));
      // it is untouched but for what the broker adds
      const { replyTo, correlationId, contentType = "application/json" } = (properties ?? {}) as Record<string, string | undefined>;
      expect(refused.content.toString()).toBe(body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body));
      expect(refused.properties).toMatchObject({ replyTo, correlationId, contentType, headers: { tenant: "DEFAULT", ...headers } });
    }
    await eventually(async () => {
      const { refusals = [] } = await admin.get<MessagingStatus>("system/amqp");
      expect(refusals.find(({ kind }) => kind === "body")).toMatchObject({ count: 5, lastReason: expect.stringContaining("message") });
      expect(refusals.reduce((sum, { count }) => sum + count, 0)).toBe(cases.length);
    });
  });

  test("rollouts 100 a thing with an open action gets it, again with each registration, and nobody else's", async () => {
    const [id, other] = [await registered(), await registered()];
    await assign(id, await newSet());
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
    // what another thing is told next comes behind whatever it might have been told of this action
    backend.register(other);
    await assign(other, await newSet());
    const own = await told(other, "DOWNLOAD_AND_INSTALL");
    expect(own.body.actionId).not.toBe(first.body.actionId);
    const toldOther = backend.got.filter(({ thingId, topic }) => thingId === other && topic?.includes("DOWNLOAD"));
    expect(new Set(toldOther.map(({ body }) => body.actionId))).toEqual(new Set([own.body.actionId]));
  });

  test("rollouts 101 a message without tenant, or with another one, is a dead letter", async () => {
    for (const tenant of [undefined, "OTHER", ""]) {
      await dead.expectOne(() => backend.send({ type: "THING_CREATED", thingId: "x", tenant }, undefined, { replyTo: "test.replies" }));
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
    await assign(id, await newSet());
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
    await assign(id, await newSet());
    const { actionId } = (await told(id, "DOWNLOAD_AND_INSTALL")).body;
    await dead.expectOne(() => backend.report(actionId, "CANCELED"));
    await dead.expectOne(() => backend.report(2_000_000_000, "RUNNING"));
    expect((await actionOf(id, actionId)).detailStatus).toBe("running");
  });

  test("rollouts 105 a cancellation is told; after CANCEL_REJECTED it runs on, and 107 what is assigned meanwhile follows it, also with more weight", async () => {
    const id = await registered();
    await assign(id, await newSet(), { weight: 10 });
    const { actionId } = (await told(id, "DOWNLOAD_AND_INSTALL")).body;
    const cancel = async () => expect((await admin.call(`targets/${id}/actions/${actionId}`, { method: "DELETE" })).status).toBe(204);
    await cancel();
    expect((await told(id, "CANCEL_DOWNLOAD")).body).toEqual({ actionId });
    backend.report(actionId, "CANCEL_REJECTED");
    await isNow(id, actionId, "running");
    await cancel();
    await told(id, "CANCEL_DOWNLOAD");
    await assign(id, await newSet(), { weight: 1_000 });
    await told(id, "CANCEL_DOWNLOAD");
    backend.register(id);
    await told(id, "CANCEL_DOWNLOAD");
    const installs = () =>
      backend.got.filter(
        ({ thingId, topic = "", body }) => thingId === id && /^(BATCH_)?DOWNLOAD/.test(topic) && body.actionId !== actionId,
      );
    expect(installs()).toEqual([]);
    backend.report(actionId, "CANCELED");
    const next = await told(id, "DOWNLOAD_AND_INSTALL");
    expect(next.body.actionId).not.toBe(actionId);
    expect(installs().map(({ body }) => body.actionId)).toEqual([next.body.actionId]);
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
    await dead.expectOne(() => backend.register(id, { type: "Gate Way", attributeUpdate: { attributes: { "k\u00e4se": "1" } } }));
    expect(await target(id)).toMatchObject({ updateStatus: "registered", targetTypeName: "Gate Way" });
    backend.register(id, { type: "unknown", name: null });
    backend.register(id, { type: "", attributeUpdate: { attributes: { a: "1" }, mode: "MERGE" } });
    await eventually(async () => expect(await admin.get(`targets/${id}/attributes`)).toEqual({ a: "1" }));
    expect(await target(id)).not.toHaveProperty("targetTypeName");
  });
}
