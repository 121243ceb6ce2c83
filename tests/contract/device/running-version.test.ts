import { routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { build, unique } from "../support/build.ts";
import { actionIdOf, device, report } from "../support/device.ts";
import { view } from "../support/look.ts";

const unreadable = [400, "rest.body.notReadable"] as const;
const notFound = [404, "repo.entityNotFound"] as const;

const fresh = async () => device((await build.target()).controllerId);

describe("running version", () => {
  it("device 13.79 a new version is 201, a known one 200, an unknown set 404; the poll shows it as installed", async () => {
    const [d, set] = [await fresh(), await build.set()];
    const { name, version } = set;
    await d.refused(r.device.runningVersion, {}, notFound, { body: { name, version: "9.9" } });
    const answer = await d.ask(r.device.runningVersion, {}, { body: { name, version } });
    expect([answer.status, answer.text]).toEqual([201, ""]);
    expect(await d.runs({ name, version })).toBe(200);
    expect(await view.standing(d.controllerId)).toEqual({ updateStatus: "in_sync", assigned: set.id, installed: set.id });
    const actionId = actionIdOf((await d.links()).installedBase);
    expect((await d.installedBase(actionId)).deployment.chunks).toHaveLength(1);
    const { content } = await view.actions(d.controllerId);
    expect(content.map(({ id }) => id)).toEqual([actionId]);
    expect(await view.state(d.controllerId, actionId)).toEqual({ type: "update", active: false, state: "finished" });
    const [entry, ...more] = await view.history(d.controllerId, actionId);
    expect([entry?.type, more]).toEqual(["finished", []]);
    expect(entry?.messages).toEqual([
      `Assignment initiated by user '${d.controllerId}'`,
      "Update Server: Action reported as offline deployment",
    ]);
  });

  it("device 5.4 a version can follow another one; a version that an installation brought is known already", async () => {
    const { controllerId, actionId, setId } = await build.deployment();
    const d = device(controllerId);
    await d.feedback(actionId, report("closed", "success"));
    const { name, version } = await view.set(setId);
    expect(await d.runs({ name, version })).toBe(200);
    const other = await build.set();
    expect(await d.runs({ name: other.name, version: other.version, more: {} })).toBe(201);
    expect(await view.standing(controllerId)).toMatchObject({ assigned: other.id, installed: other.id });
    expect(actionIdOf((await d.links()).installedBase)).not.toBe(actionId);
    expect(await d.runs({ name, version })).toBe(201);
    expect(await view.standing(controllerId)).toMatchObject({ installed: setId });
  });

  it("device 5.4 during a pending deployment nothing changes", async () => {
    const { controllerId, setId } = await build.deployment();
    const { name, version } = await build.set();
    expect(await device(controllerId).runs({ name, version })).toBe(200);
    expect(await view.standing(controllerId)).toEqual({ updateStatus: "pending", assigned: setId, installed: undefined });
  });

  it("device 13.79 an incomplete set is 400 and leaves the target unchanged", async () => {
    const d = await fresh();
    const before = await view.standing(d.controllerId);
    const application = await build.module({ type: "application" });
    // One set has no module, the other lacks the one that its type demands.
    const incomplete = [await build.set({ modules: [] }), await build.set({ type: "os_app", modules: [{ id: application.id }] })];
    for (const { name, version } of incomplete) {
      const refused = await d.refused(r.device.runningVersion, {}, [400, "distributionset.incomplete"], { body: { name, version } });
      expect(refused.json.message).toContain(`${name}:${version}`);
    }
    expect(await view.standing(d.controllerId)).toEqual(before);
    expect((await view.actions(d.controllerId)).total).toBe(0);
    expect((await d.links()).installedBase).toBeUndefined();
  });

  it("device 5.4 an unknown target is not found and bad bodies are rejected", async () => {
    const d = await fresh();
    const { name, version } = await build.set();
    const unknown = device(unique("unknown"));
    const { json } = await unknown.refused(r.device.runningVersion, {}, notFound, { body: { name, version } });
    expect(json.info).toEqual({ type: "Target", entityId: unknown.controllerId });
    for (const body of [{}, { name }, { version }, { name: {}, version }, "{", [], "null"]) {
      await d.refused(r.device.runningVersion, {}, unreadable, { body });
    }
    await d.refused(r.device.runningVersion, {}, [400, "repo.constraintViolation"], { body: { name: null, version } });
    await d.refused(r.device.runningVersion, {}, [415], { body: { name, version }, headers: { "content-type": "text/plain" } });
    for (const method of ["GET", "POST", "DELETE"]) await d.refused(r.device.runningVersion, {}, [405], { method });
    expect(await view.standing(d.controllerId)).toMatchObject({ assigned: undefined });
  });
});
