import { runThings } from "@harrier/simulator";
import { eventually, startHawkbitDmf, uniqueName } from "@harrier/testkit";
import { expect, test } from "vitest";
import { admin, enable, newTenant, url } from "./stack.ts";
import { type ActionView, actionsOf, assign, assignAll, limitMs, newSet, target } from "./things.ts";

/** Things that somebody else has written: hawkBit's own library for DMF. */
export function thingsByHawkbitsLibrary(): void {
  test("things that speak by hawkBit's own library install what they are told, give up what is cancelled, and read every message", async () => {
    const [id, stays] = [uniqueName("hawkbit"), uniqueName("hawkbit-stays")];
    const things = await startHawkbitDmf({ url, tenant: "DEFAULT", exchange: "hawkbit.replies", ids: [id, stays] });
    try {
      for (const one of [id, stays]) await eventually(async () => expect((await target(one))["controllerId"]).toBe(one), limitMs);
      await assignAll([id, stays], await newSet());
      const isNow = (one: string, detailStatus: string) =>
        eventually(async () => {
          const actions = await actionsOf(one);
          expect(actions).toMatchObject([{ detailStatus }]);
          return actions[0] as ActionView;
        }, limitMs);
      const done = await isNow(id, "finished");
      const { content } = await admin.get<{ content: { messages: string[] }[] }>(`targets/${id}/actions/${done.id}/status`);
      expect(content.flatMap(({ messages }) => messages)).toEqual(expect.arrayContaining(["1 files", `done by ${id}`]));
      await eventually(async () => expect(await admin.get(`targets/${id}/attributes`)).toEqual({ by: id }), limitMs);
      const isTold = expect.objectContaining({ thingId: stays, topic: "DOWNLOAD_AND_INSTALL", files: 1 });
      await eventually(() => expect(things.lines).toContainEqual(isTold), limitMs);
      const given = await isNow(stays, "running");
      expect((await admin.call(`targets/${stays}/actions/${given.id}`, { method: "DELETE" })).status).toBe(204);
      await isNow(stays, "canceled");
      expect((await admin.call(`targets/${stays}`, { method: "DELETE" })).status).toBeLessThan(300);
      await eventually(() => {
        const kinds = things.lines.map(({ type, thingId, topic }) => [type, thingId, topic]);
        expect(kinds).toContainEqual(["THING_DELETED", stays, undefined]);
        expect(kinds).toContainEqual(["EVENT", id, "REQUEST_ATTRIBUTES_UPDATE"]);
      }, limitMs);
      expect(things.lines.find(({ type }) => type === "PING_RESPONSE")).toMatchObject({
        correlationId: "ping-of-DEFAULT",
        time: expect.any(Number),
      });
      expect(things.lines.filter(({ error }) => error !== undefined)).toEqual([]);
    } catch (error) {
      throw new Error(`what the client has said: ${JSON.stringify(things.lines)} ${things.log()}`, { cause: error });
    } finally {
      await things.stop();
    }
  });

  test("things that speak by hawkBit's own library have a name, only download what is only to be downloaded, and remove themselves", async () => {
    const id = uniqueName("hawkbit-named");
    const things = await startHawkbitDmf({ url, tenant: "DEFAULT", exchange: "hawkbit.named", ids: [id] });
    try {
      await eventually(async () => expect((await target(id))["name"]).toBe(`name of ${id}`), limitMs);
      await assign(id, await newSet(), { type: "downloadonly" });
      await eventually(async () => expect(await actionsOf(id)).toMatchObject([{ detailStatus: "downloaded" }]), limitMs);
      expect(things.lines).toContainEqual(expect.objectContaining({ thingId: id, topic: "DOWNLOAD", files: 1 }));
      things.remove(id);
      await eventually(() => expect(things.lines).toContainEqual(expect.objectContaining({ type: "THING_DELETED", thingId: id })), limitMs);
      expect((await admin.call(`targets/${id}`)).status).toBe(404);
      expect(things.lines.filter(({ error }) => error !== undefined)).toEqual([]);
    } finally {
      await things.stop();
    }
  });

  test("a thing that speaks by hawkBit's own library does several actions of one message, also where one of them is a cancellation, and so do simulated ones", async () => {
    const name = uniqueName("library");
    const boss = await newTenant(name);
    const own = await enable(boss);
    await boss.configure("multi.assignments.enabled", true);
    await boss.configure("authentication.targettoken.enabled", true);
    const id = uniqueName("stays");
    const things = await startHawkbitDmf({ url: own.url, tenant: name, exchange: "hawkbit.several", ids: [id] });
    try {
      await eventually(async () => expect((await target(id, boss))["controllerId"]).toBe(id), limitMs);
      const toldOf = (text: string) => things.lines.some(({ topic, actions = [] }) => topic === "MULTI_ACTION" && actions.join() === text);
      await assign(id, await newSet(boss), { weight: 10 }, boss);
      // settings of tenants are read once in a while: the first message may be one for a single action
      await eventually(
        () => expect(things.lines.filter(({ topic }) => topic?.includes("ACTION") || topic?.includes("DOWNLOAD"))).not.toEqual([]),
        limitMs,
      );
      await assign(id, await newSet(boss), { weight: 900 }, boss);
      await eventually(() => expect(toldOf("DOWNLOAD_AND_INSTALL 900,DOWNLOAD_AND_INSTALL 10")).toBe(true), limitMs);
      const light = (await actionsOf(id, boss)).find(({ weight }) => weight === 10);
      expect((await boss.call(`targets/${id}/actions/${light?.id}`, { method: "DELETE" })).status).toBe(204);
      await eventually(() => expect(toldOf("DOWNLOAD_AND_INSTALL 900,CANCEL_DOWNLOAD 10")).toBe(true), limitMs);
      await eventually(async () => {
        const actions = await actionsOf(id, boss);
        expect(actions.map(({ weight, detailStatus }) => [weight, detailStatus]).toSorted()).toEqual([
          [10, "canceled"],
          [900, "running"],
        ]);
      }, limitMs);
      expect(things.lines.filter(({ error }) => error !== undefined)).toEqual([]);
      // by now the setting is known everywhere
      const simulated = uniqueName("simulated");
      const others = await runThings({ url: own.url, tenant: name, ids: [simulated], exchange: "simulated.several", temporary: true });
      try {
        await eventually(async () => expect((await target(simulated, boss))["controllerId"]).toBe(simulated), limitMs);
        for (const weight of [10, 900]) await assign(simulated, await newSet(boss), { weight }, boss);
        await eventually(async () => {
          const actions = await actionsOf(simulated, boss);
          expect(actions).toMatchObject([{ detailStatus: "finished" }, { detailStatus: "finished" }]);
        }, limitMs);
      } finally {
        await others.stop();
      }
    } finally {
      await things.stop();
    }
  });
}
