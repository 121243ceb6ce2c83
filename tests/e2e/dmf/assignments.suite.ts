import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runDemo } from "@harrier/simulator";
import { eventually, uniqueName } from "@harrier/testkit";
import { connect } from "amqplib";
import { expect, test } from "vitest";
import { type Backend, connectBackend } from "../support/thing.ts";
import { admin, backend, dead, stack, url } from "./stack.ts";
import { assign, assignAll, isNow, newSet, registered, target, told } from "./things.ts";

/** How things are told what to do: kinds of assignments, confirmations, batches. */
export function assignmentsOfThings(): void {
  test("rollouts 8.4 downloadonly is DOWNLOAD, attributes are asked for by PUT, and an id may have 256 characters", async () => {
    const id = await registered({ id: `t${"x".repeat(255)}` });
    await assign(id, await newSet(), { type: "downloadonly" });
    const { actionId } = (await told(id, "DOWNLOAD")).body;
    backend.report(actionId, "DOWNLOADED");
    await isNow(id, actionId, "downloaded");
    await told(id, "REQUEST_ATTRIBUTES_UPDATE");
    backend.send({ type: "EVENT", topic: "UPDATE_ATTRIBUTES", thingId: id }, { attributes: { a: "b" } });
    await eventually(async () => expect((await target(id))["requestAttributes"]).toBe(false));
    expect((await admin.call(`targets/${id}`, { method: "PUT", body: { requestAttributes: true } })).status).toBe(200);
    await told(id, "REQUEST_ATTRIBUTES_UPDATE");
  });

  test("rollouts 8.4 while its maintenance window is closed a thing is told to download, again when it registers", async () => {
    const id = await registered();
    const maintenanceWindow = { schedule: "0 0 3 1 1 ? 2098", duration: "00:10:00", timezone: "+00:00" };
    await assign(id, await newSet(), { maintenanceWindow });
    const { actionId } = (await told(id, "DOWNLOAD")).body;
    backend.report(actionId, "DOWNLOADED");
    backend.register(id);
    expect((await told(id, "DOWNLOAD")).body.actionId).toBe(actionId);
  });

  test("rollouts 8.4 with the confirmation flow a thing is asked first; FINISHED without an answer is taken, a late answer is a dead letter", async () => {
    await admin.configure("user.confirmation.flow.enabled", true);
    const [asked, eager] = [await registered(), await registered()];
    for (const id of [asked, eager]) await assign(id, await newSet(), { confirmationRequired: true });
    const { actionId } = (await told(asked, "CONFIRM")).body;
    // a denial is not final
    backend.report(actionId, "DENIED");
    backend.report(actionId, "CONFIRMED");
    expect((await told(asked, "DOWNLOAD_AND_INSTALL")).body.actionId).toBe(actionId);
    const { content } = await admin.get<{ content: { messages: string[] }[] }>(`targets/${asked}/actions/${actionId}/status`);
    expect(content.flatMap(({ messages }) => messages)).toEqual(expect.arrayContaining(["is DENIED", "is CONFIRMED"]));
    await dead.expectOne(() => backend.report(actionId, "CONFIRMED"));
    // while it runs, a denial takes the confirmation back
    backend.report(actionId, "DENIED");
    expect((await told(asked, "CONFIRM")).body.actionId).toBe(actionId);
    backend.report(actionId, "CONFIRMED");
    expect((await told(asked, "DOWNLOAD_AND_INSTALL")).body.actionId).toBe(actionId);
    backend.report(actionId, "FINISHED");
    await isNow(asked, actionId, "finished");
    for (const late of ["CONFIRMED", "DENIED"]) await dead.expectOne(() => backend.report(actionId, late));
    const quick = (await told(eager, "CONFIRM")).body.actionId;
    backend.report(quick, "FINISHED");
    await isNow(eager, quick, "finished");
    const standing = await registered();
    await assign(standing, await newSet(), { confirmationRequired: true });
    await told(standing, "CONFIRM");
    backend.send({ type: "EVENT", topic: "UPDATE_AUTO_CONFIRM", thingId: standing }, { enabled: true, initiator: "me" });
    const first = (await told(standing, "DOWNLOAD_AND_INSTALL")).body.actionId;
    backend.report(first, "FINISHED");
    backend.send({ type: "EVENT", topic: "UPDATE_AUTO_CONFIRM", thingId: standing }, { enabled: false });
    await eventually(async () => expect(await admin.get(`targets/${standing}/autoConfirm`)).toMatchObject({ active: false }));
    await assign(standing, await newSet(), { confirmationRequired: true });
    expect((await told(standing, "CONFIRM")).body.actionId).not.toBe(first);
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
      const batchOf = (from: Backend, ids: readonly string[], limitMs?: number) =>
        from.next(
          ({ topic, body }) =>
            topic === "BATCH_DOWNLOAD_AND_INSTALL" && body.targets.every((one: { controllerId: string }) => ids.includes(one.controllerId)),
          limitMs,
        );
      // controller reads settings of tenants once in a while
      const probe = await registered();
      await assign(probe, await newSet(), { confirmationRequired: false });
      await eventually(async () => {
        backend.register(probe);
        await batchOf(backend, [probe], 1_000);
      }, 30_000);
      await assignAll([...own, ...others], await newSet(), { confirmationRequired: false });
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
            expect(one).toEqual({
              actionId: expect.any(Number),
              controllerId: expect.any(String),
              targetSecurityToken: expect.any(String),
            });
            got.push(one.controllerId);
            from.report(one.actionId, "FINISHED");
          }
        }
        expect(got.toSorted()).toEqual(ids.toSorted());
      }
      const id = await registered();
      await assign(id, await newSet(), { confirmationRequired: true });
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
    const options = { devices: 40, fail: 0.5, pollSeconds: 0.5, timeoutMs: 100_000 };
    const result = await runDemo({ ...options, baseUrl, password, file, dmf: url }).finally(() => rmSync(dir, { recursive: true }));
    expect(result).toMatchObject({ ok: true, differences: [], things: { things: 20, finished: 20, violations: [], bytes: 20_000_000 } });
    expect(result.things?.failed).toBeGreaterThan(0);
    const connection = await connect(url);
    const channel = await connection.createChannel();
    channel.on("error", () => undefined);
    await expect(channel.checkQueue(`${result.run}.replies.queue`)).rejects.toThrow(/404/);
    await connection.close();
  });
}
