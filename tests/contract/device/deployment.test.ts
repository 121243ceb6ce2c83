import { type DeploymentView, routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { build, unique } from "../support/build.ts";
import { ask, call } from "../support/call.ts";
import { device, report } from "../support/device.ts";
import { type Page, view } from "../support/look.ts";
import { typeBuilder } from "../support/types.ts";
import { pause } from "../support/wait.ts";

const fromServer = "Update Server: ";

describe("the deployment document", () => {
  it.each([
    ["device 13.25", "forced", "forced", "forced"],
    ["device 13.26", "soft", "attempt", "attempt"],
    ["device 13.27", "downloadonly", "forced", "skip"],
  ] as const)("%s an action of type %s: download %s, update %s", async (_case, type, download, update) => {
    const { controllerId, actionId } = await build.deployment({ type });
    const document = await device(controllerId).deployment(actionId);
    expect(document.id).toBe(String(actionId));
    expect(document.deployment).toMatchObject({ download, update });
    expect(document.deployment).not.toHaveProperty("maintenanceWindow");
    expect(document).not.toHaveProperty("_links");
  });

  it("device 13.13 switching a soft action to forced changes c, the ETag and the document", async () => {
    const { controllerId, actionId } = await build.deployment({ type: "soft" });
    const d = device(controllerId);
    const before = await d.poll();
    const options = { params: { targetId: controllerId, actionId }, body: { forceType: "forced" } };
    await call(r.targets.forceAction, "spec", options);
    const after = await d.poll();
    expect(after.json._links?.deploymentBase?.href).not.toBe(before.json._links?.deploymentBase?.href);
    expect(after.headers["etag"]).not.toBe(before.headers["etag"]);
    expect((await d.deployment(actionId)).deployment).toMatchObject({ download: "forced", update: "forced" });
  });

  it("device 13.14 a timeforced action becomes forced at its time, and c changes", async () => {
    const forcetime = Date.now() + 5_000;
    const { controllerId, actionId } = await build.deployment({ type: "timeforced", forcetime });
    const d = device(controllerId);
    const before = (await d.links()).deploymentBase;
    expect((await d.deployment(actionId)).deployment).toMatchObject({ download: "attempt", update: "attempt" });
    // Reading the document is a change too, so the link is read again.
    const read = (await d.links()).deploymentBase;
    await pause(forcetime - Date.now() + 300);
    const after = (await d.links()).deploymentBase;
    expect(new Set([before, read, after]).size).toBe(3);
    expect((await d.deployment(actionId)).deployment).toMatchObject({ download: "forced", update: "forced" });
  });

  it("device 13.30, 13.31 chunks have part (by module type), version and name, always artifacts, and metadata only when there is some", async () => {
    const os = await build.module({ type: "os", version: "2.1" });
    const app = await build.module({ type: "application" });
    const artifact = await build.upload(os.id);
    const set = await build.set({ type: "os_app", modules: [{ id: os.id }, { id: app.id }] });
    const { controllerId } = await build.target();
    const actionId = await build.assign(set.id, controllerId);
    const { chunks } = (await device(controllerId).deployment(actionId)).deployment;
    expect(chunks.map(({ part, name, version }) => [part, name, version])).toEqual([
      ["os", os.name, "2.1"],
      ["bApp", app.name, app.version],
    ]);
    expect(chunks[0]?.artifacts).toEqual([
      { filename: artifact.providedFilename, hashes: artifact.hashes, size: artifact.bytes.length, _links: expect.any(Object) },
    ]);
    expect(chunks[1]?.artifacts).toEqual([]);
    for (const chunk of chunks) {
      expect(chunk).not.toHaveProperty("metadata");
      expect(chunk).not.toHaveProperty("encrypted");
    }
  });

  it("device 13.30 the part of a module of type runtime is jvm, of any other type it is the key", async () => {
    const { moduleType, setType } = typeBuilder("spec");
    // A key exists only once, and an earlier run may have made it.
    const body = [{ key: "runtime", name: "Runtime" }];
    expect([201, 409]).toContain((await ask(r.softwareModuleTypes.create, "spec", { body })).status);
    const found = await call<Page<{ id: number }>>(r.softwareModuleTypes.list, "spec", { query: { q: "key==runtime" } });
    const own = await moduleType();
    const type = await setType([found.json.content[0]?.id as number, own.id]);
    const [runtime, other] = await build.modules({ type: "runtime" }, { type: own.key });
    const set = await build.set({ type: type.key, modules: [{ id: runtime?.id as number }, { id: other?.id as number }] });
    const { controllerId } = await build.target();
    const actionId = await build.assign(set.id, controllerId);
    const { chunks } = (await device(controllerId).deployment(actionId)).deployment;
    expect(chunks.map(({ part }) => part)).toEqual(["jvm", own.key]);
  });

  it("device 13.32 a device sees the metadata meant for it, in its current state at each reading", async () => {
    const { controllerId, actionId, moduleId } = await build.deployment();
    const d = device(controllerId);
    const at = (metadataKey = "") => ({ params: { softwareModuleId: moduleId, metadataKey } });
    const metadata = async () => (await d.deployment(actionId)).deployment.chunks[0]?.metadata;
    expect(await metadata()).toBeUndefined();
    const entries = [
      { key: "hidden", value: "h" },
      { key: "z", value: "last", targetVisible: true },
      { key: "a", value: "first", targetVisible: true },
    ];
    await call(r.softwareModules.createMetadata, "spec", { ...at(), body: entries });
    expect(await metadata()).toEqual([
      { key: "a", value: "first" },
      { key: "z", value: "last" },
    ]);
    await call(r.softwareModules.updateMetadata, "spec", { ...at("hidden"), body: { targetVisible: true } });
    await call(r.softwareModules.updateMetadata, "spec", { ...at("a"), body: { value: "new" } });
    await call(r.softwareModules.deleteMetadata, "spec", at("z"));
    expect(await metadata()).toEqual([
      { key: "a", value: "new" },
      { key: "hidden", value: "h" },
    ]);
    for (const key of ["a", "hidden"]) await call(r.softwareModules.deleteMetadata, "spec", at(key));
    expect(await metadata()).toBeUndefined();
  });

  it("device 13.33 three readings of the document make one retrieved entry", async () => {
    const { controllerId, actionId } = await build.deployment();
    const d = device(controllerId);
    for (let n = 0; n < 3; n += 1) await d.deployment(actionId);
    const history = await view.history(controllerId, actionId);
    expect(history.map(({ type }) => type)).toEqual(["retrieved", "running"]);
    expect(history[0]?.messages).toEqual([`${fromServer}Target retrieved update action and should start now the download.`]);
    expect((await view.state(controllerId, actionId)).state).toBe("retrieved");
  });

  it("device 13.34 unknown targets, unknown actions and actions of other targets are 404", async () => {
    const [own, other] = await Promise.all([build.deployment(), build.deployment()]);
    const notFound = [404, "repo.entityNotFound"] as const;
    const foreign = await device(own.controllerId).refused(r.device.getDeployment, { actionId: other.actionId }, notFound);
    expect(foreign.json).not.toHaveProperty("info");
    const unknown = await device(own.controllerId).refused(r.device.getDeployment, { actionId: 2_000_000_000 }, notFound);
    expect(unknown.json.info).toEqual({ type: "Action", entityId: 2_000_000_000 });
    const nobody = await device(unique("nobody")).refused(r.device.getDeployment, { actionId: own.actionId }, notFound);
    expect(nobody.json.info).toMatchObject({ type: "Target" });
  });

  it("device 13.35 c is accepted if it is a number and ignored otherwise", async () => {
    const { controllerId, actionId } = await build.deployment();
    const d = device(controllerId);
    for (const c of ["-1", "0", "12345", "-2147483648", ""]) await d.deployment(actionId, { c });
    for (const query of [{ c: "abc" }, { actionHistory: "x" }, { c: "1.5" }, { c: "99999999999" }]) {
      await d.refused(r.device.getDeployment, { actionId }, [400, "rest.body.notReadable"], { query });
    }
    await d.refused(r.device.getDeployment, { actionId: "abc" }, [400, "rest.body.notReadable"]);
  });

  it("device 13.36 the document can still be read when the action is finished, which changes nothing", async () => {
    const { controllerId, actionId } = await build.deployment();
    const d = device(controllerId);
    await d.feedback(actionId, report("closed", "success"));
    const entries = await view.history(controllerId, actionId);
    await d.deployment(actionId);
    expect((await view.state(controllerId, actionId)).state).toBe("finished");
    expect(await view.history(controllerId, actionId)).toEqual(entries);
    expect(await d.linkNames()).toEqual(["configData", "installedBase"]);
  });

  it("device 13.80 installedBase: 404 while open, 404 when cancelled, 200 when finished", async () => {
    const { controllerId, actionId, setId } = await build.deployment();
    const d = device(controllerId);
    await d.refused(r.device.installedBase, { actionId }, [404, ""]);
    await build.cancel(controllerId, actionId);
    await d.refused(r.device.installedBase, { actionId }, [404, ""]);
    await d.cancelFeedback(actionId, report("closed", "success"));
    await d.refused(r.device.installedBase, { actionId }, [404, ""]);
    const second = await build.assign(setId, controllerId);
    await d.feedback(second, report("closed", "success"));
    const { installedBase } = await d.links();
    expect(installedBase).toMatch(new RegExp(`/installedBase/${second}$`));
    const { json } = await d.follow<DeploymentView>(installedBase as string);
    expect([json.id, json.deployment.chunks.length]).toEqual([String(second), 1]);
    await d.refused(r.device.installedBase, { actionId: 2_000_000_000 }, [404, "repo.entityNotFound"]);
  });
});

describe("the action history", () => {
  it("device 13.37 the history comes newest first, with as many messages as requested and without the server's own", async () => {
    const { controllerId, actionId } = await build.deployment();
    const d = device(controllerId);
    for (const word of ["one", "two", "three"]) await d.feedback(actionId, report("proceeding", "none", { details: [word] }));
    await d.feedback(actionId, report("proceeding"));
    const history = async (actionHistory: number | string) => (await d.deployment(actionId, { actionHistory })).actionHistory;
    expect(await history(2)).toMatchObject({ messages: ["three", "two"] });
    for (const none of [0, ""]) expect(await history(none)).toBeUndefined();
    expect(await d.deployment(actionId)).not.toHaveProperty("actionHistory");
    const all = await history(-1);
    expect(all?.messages.slice(0, 3)).toEqual(["three", "two", "one"]);
    expect(all?.messages.at(-1)).toMatch(/^Assignment initiated by user '/);
    expect(all?.messages.some((message) => message.startsWith(fromServer))).toBe(false);
  });

  it("device 13.38 a detail of 1300 characters becomes three messages", async () => {
    const { controllerId, actionId } = await build.deployment();
    const d = device(controllerId);
    const text = Array.from({ length: 1300 }, (_, n) => String.fromCharCode(97 + (n % 26))).join("");
    await d.feedback(actionId, report("proceeding", "none", { details: [text] }));
    const [newest] = await view.history(controllerId, actionId);
    expect(newest?.messages.map((message) => message.length)).toEqual([512, 512, 276]);
    expect(newest?.messages.join("")).toBe(text);
  });

  it("device 4.4 at most 100 messages are returned at once", async () => {
    const { controllerId, actionId } = await build.deployment();
    const d = device(controllerId);
    const details = Array.from({ length: 40 }, (_, n) => `line ${n}`);
    for (let n = 0; n < 3; n += 1) await d.feedback(actionId, report("proceeding", "none", { details }));
    for (const actionHistory of [500, -1])
      expect((await d.deployment(actionId, { actionHistory })).actionHistory?.messages).toHaveLength(100);
  });
});
