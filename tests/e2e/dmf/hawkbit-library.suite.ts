import { eventually, startHawkbitDmf, uniqueName } from "@harrier/testkit";
import { expect, test } from "vitest";
import { admin, url } from "./stack.ts";
import { type ActionView, actionsOf, assignAll, limitMs, newSet, target } from "./things.ts";

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
}
