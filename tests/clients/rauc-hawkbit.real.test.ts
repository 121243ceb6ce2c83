import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { uniqueName } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Fleet, sideBySide, soon, startFleet } from "./support/fleet.ts";
import { newestEntry, outcomeOf, setOf } from "./support/outcome.ts";
import { type RaucDevice, startRaucDevice } from "./support/rauc-hawkbit.ts";
import { becomesSilent, newVersion, oldVersion, safetyOf, showVersions, watchedPolicy } from "./support/watched.ts";

// The DDI client of rauc-hawkbit (PyPI) accepts nothing but 200 for a success (spec 000 §§1-4).

let fleet: Fleet;
let dir: string;
const devices: RaucDevice[] = [];

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "harrier-clients-"));
  fleet = await startFleet();
  await showVersions(fleet.admin);
});
afterAll(async () => {
  for (const device of devices) await device.stop();
  await fleet?.stack.stop();
  rmSync(dir, { recursive: true, force: true });
});

async function started(controllerId: string, token: string): Promise<RaucDevice> {
  const device = await startRaucDevice({ baseUrl: fleet.stack.baseUrl, controllerId, token });
  devices.push(device);
  return device;
}

interface Assigned {
  device: RaucDevice;
  actionId: number;
  setId: number;
  content: Buffer;
  /** Finds the update and downloads its file; returns the path. */
  fetch(): Promise<string>;
  /** Reports on the update. */
  report(execution: string, finished: string, details: readonly string[], percentage?: number): Promise<void>;
}

/** Makes a known device with an update that it has not seen yet. */
async function assigned(fields: object = {}): Promise<Assigned> {
  const { controllerId, securityToken } = await fleet.admin.createTarget();
  const device = await started(controllerId, securityToken);
  const content = randomBytes(400_000);
  const { set } = await fleet.admin.createSetWithFile(content, "bundle.raucb");
  const actionId = await fleet.admin.assign(controllerId, set.id, fields);
  const fetch = async () => {
    const link = (await device.poll())._links?.deploymentBase;
    if (link === undefined) throw new Error("there is no update");
    const { deployment } = await device.deployment(link.href);
    const [artifact] = deployment.chunks.flatMap(({ artifacts }) => artifacts);
    if (artifact === undefined) throw new Error("the update has no file");
    const path = join(dir, controllerId);
    expect(await device.download(artifact._links["download"]?.href ?? "", path)).toBe(artifact.hashes.md5);
    return path;
  };
  return {
    ...{ device, actionId, setId: set.id, content, fetch },
    report: (execution, finished, details, percentage) => {
      const progress = percentage === undefined ? {} : { percentage };
      return device.report({ action: String(actionId), execution, finished, details, progress });
    },
  };
}

const outcome = ({ device, actionId }: Assigned) => outcomeOf(fleet.admin, device.controllerId, actionId);
const newest = ({ device, actionId }: Assigned) => newestEntry(fleet.admin, device.controllerId, actionId);

test("rauc-hawkbit registers, and sends its attributes", sideBySide, async () => {
  const { controllerId, securityToken } = await fleet.admin.createTarget();
  const device = await started(controllerId, securityToken);
  expect((await device.poll())._links?.configData).toBeDefined();
  await device.identify({ MAC: "52:54:00:12:34:56" });
  expect(await fleet.admin.get(`targets/${controllerId}/attributes`)).toEqual({ MAC: "52:54:00:12:34:56" });
  expect(await fleet.admin.get(`targets/${controllerId}`)).toMatchObject({ updateStatus: "registered" });
  expect((await device.poll())._links).toBeUndefined();
});

test("rauc-hawkbit is denied with another device's token, and as an unknown device", sideBySide, async () => {
  const [one, other] = [await fleet.admin.createTarget(), await fleet.admin.createTarget()];
  for (const controllerId of [one.controllerId, uniqueName("nobody")]) {
    const foreign = await started(controllerId, other.securityToken);
    await expect(foreign.poll()).rejects.toThrow("401: The request requires user authentication.");
  }
  expect(await fleet.admin.get(`targets/${one.controllerId}`)).toMatchObject({ updateStatus: "unknown" });
});

test("rauc-hawkbit installs an update, and reports its progress", sideBySide, async () => {
  const update = await assigned();
  expect(readFileSync(await update.fetch()).equals(update.content)).toBe(true);
  await update.report("proceeding", "none", ["Copying image to rootfs.1"], 60);
  expect(await outcome(update)).toMatchObject({ target: "pending", action: "update running (open)" });
  await update.report("closed", "success", ["Rauc bundle update completed with result: 0"]);
  const { target, action, history, messages } = await outcome(update);
  expect([target, action]).toEqual(["in_sync", "update finished"]);
  expect(history).toEqual(["running", "retrieved", "download", "running", "finished"]);
  expect(messages.at(-1)).toBe("Rauc bundle update completed with result: 0");
  expect(await setOf(fleet.admin, update.device.controllerId, "installedDS")).toBe(update.setId);
  // Any later report is too late.
  await expect(update.report("proceeding", "none", ["once more"])).rejects.toThrow("410: Gone");
});

test("the newest entry is the final report, however soon it follows the download", sideBySide, async () => {
  const finals = Array.from({ length: 6 }, async (_, i) => {
    const update = await assigned();
    const finished = i % 2 === 0 ? "success" : "failure";
    await update.fetch();
    await update.report("closed", finished, [`this is the end: ${finished}`]);
    const entry = { type: i % 2 === 0 ? "finished" : "error", messages: [`this is the end: ${finished}`] };
    expect(await newest(update)).toMatchObject(entry);
    return { update, entry };
  });
  const ended = await Promise.all(finals);
  // No entry follows it either: a delayed one would be there by now.
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  for (const { update, entry } of ended) {
    expect(await newest(update)).toMatchObject(entry);
    expect((await outcome(update)).history.filter((type) => type === "download")).toHaveLength(1);
  }
});

test("rauc-hawkbit reports a failure, and nothing is installed", sideBySide, async () => {
  const update = await assigned();
  await update.fetch();
  // RAUC's last error comes as a proceeding report that failed: it ends the action, and later reports are too late.
  await update.report("proceeding", "failure", ["signature verification failed"]);
  await expect(update.report("closed", "failure", ["Rauc bundle update completed with result: 1"])).rejects.toThrow("410: Gone");
  const { target, action } = await outcome(update);
  expect([target, action]).toEqual(["error", "update error"]);
  expect(await newest(update)).toMatchObject({ type: "error", messages: ["signature verification failed"] });
  expect(await setOf(fleet.admin, update.device.controllerId, "installedDS")).toBeUndefined();
});

test("rauc-hawkbit rejects a cancellation and goes on; it accepts the next one", sideBySide, async () => {
  const update = await assigned();
  await update.fetch();
  const { controllerId } = update.device;
  const cancelled = async () => {
    expect((await fleet.admin.cancel(controllerId, update.actionId)).status).toBe(204);
    const links = (await update.device.poll())._links;
    expect(links?.deploymentBase).toBeUndefined();
    return (await update.device.cancellation(links?.cancelAction?.href ?? "")).cancelAction.stopId;
  };
  await update.device.answerCancellation(await cancelled(), "rejected", ["Cancelling not supported"]);
  expect(await outcome(update)).toMatchObject({ target: "pending", action: "update running (open)" });
  expect(readFileSync(await update.fetch()).equals(update.content)).toBe(true);
  const stop = await cancelled();
  expect(stop).toBe(String(update.actionId));
  await update.device.answerCancellation(stop, "closed", ["gave it up"]);
  const { action, messages } = await outcome(update);
  expect(action).toBe("cancel canceled");
  expect(messages).toEqual(expect.arrayContaining(["Cancelling not supported", "gave it up"]));
  expect((await update.device.poll())._links?.deploymentBase).toBeUndefined();
});

const safety = ({ device, actionId }: Assigned) => safetyOf(fleet.admin, device.controllerId, actionId);

test("beyond 1.24 rauc-hawkbit shows the old version until its restart, and the new one proves its success", sideBySide, async () => {
  const proof = { graceSeconds: 3_600, withinSeconds: 7_200, stable: { polls: 1 } };
  const update = await assigned({ safety: { proof } });
  const { device } = update;
  await update.fetch();
  await update.report("closed", "success", ["Rauc bundle update completed with result: 0"]);
  expect(await outcome(update)).toMatchObject({ target: "pending", action: "update finished" });
  // Before its restart it is asked, and answers with what it still runs: that says nothing, and it is asked again.
  expect((await device.poll())._links?.configData).toBeDefined();
  await device.identify({ sw_version: oldVersion });
  expect(await safety(update)).toMatchObject({ stage: "rebooting", proof: { state: "proving" } });
  expect((await device.poll())._links?.configData).toBeDefined();
  await device.identify({ sw_version: newVersion });
  await soon(async () => {
    // A proven success asks for the attributes again, as any success does, and a client answers each time.
    if ((await device.poll())._links?.configData !== undefined) await device.identify({ sw_version: newVersion });
    expect(await safety(update)).toMatchObject({ proof: { state: "proven", by: "attributes" } });
  });
  expect(await outcome(update)).toMatchObject({ target: "in_sync" });
  expect(await setOf(fleet.admin, device.controllerId, "installedDS")).toBe(update.setId);
});

test("beyond 1.24 rauc-hawkbit that reports success and shows the old version fell back", sideBySide, async () => {
  const update = await assigned({ safety: watchedPolicy });
  await update.fetch();
  await update.report("closed", "success", ["Rauc bundle update completed with result: 0"]);
  await update.device.identify({ sw_version: oldVersion });
  expect(await safety(update)).toMatchObject({ proof: { state: "refuted", by: "attributes" }, reason: "refuted" });
  expect(await outcome(update)).toMatchObject({ target: "error", action: "update error" });
  expect(await setOf(fleet.admin, update.device.controllerId, "installedDS")).toBeUndefined();
});

test("beyond 1.24 rauc-hawkbit that says nothing counts as silent until it reports", sideBySide, async () => {
  const update = await assigned({ safety: watchedPolicy });
  await update.fetch();
  await update.report("proceeding", "none", ["Copying image to rootfs.1"], 60);
  await becomesSilent(fleet, update.device.controllerId, update.actionId);
  // That it polls is no sign that it installs.
  expect((await update.device.poll())._links?.deploymentBase).toBeDefined();
  expect(await safety(update)).toMatchObject({ stage: "installing", silentSince: expect.any(Number) });
  await update.report("closed", "success", ["Rauc bundle update completed with result: 0"]);
  await update.device.identify({ sw_version: newVersion });
  await soon(async () => expect(await safety(update)).toMatchObject({ proof: { state: "proven" } }));
  expect(await outcome(update)).toMatchObject({ target: "in_sync", action: "update finished" });
});
