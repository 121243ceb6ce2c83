import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { uniqueName } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Fleet, sideBySide, soon, startFleet } from "./support/fleet.ts";
import { type DdiDevice, type DdiDeviceOptions, startDdiDevice } from "./support/hawkbit-ddi.ts";
import { newestEntry, outcomeOf, setOf } from "./support/outcome.ts";

// A client from npm registers itself, polls with ETags and resumes partial downloads (spec 000 §§1-4).

let fleet: Fleet;
let dir: string;
const devices: DdiDevice[] = [];

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "harrier-clients-"));
  fleet = await startFleet();
});
afterAll(async () => {
  for (const device of devices) device.stop();
  await fleet?.stack.stop();
  rmSync(dir, { recursive: true, force: true });
});

interface Come {
  controllerId: string;
  device: DdiDevice;
  /** The folder for its downloads. */
  own: string;
}

/** Starts a device that connects to the server by itself. */
async function come(
  install: DdiDeviceOptions["install"],
  known: Partial<Pick<DdiDeviceOptions, "controllerId" | "credential">> = {},
): Promise<Come> {
  const { stack, gatewayToken } = fleet;
  const { controllerId = uniqueName("npm"), credential = { gatewayToken } } = known;
  const own = join(dir, controllerId);
  mkdirSync(own);
  const device = await startDdiDevice({ baseUrl: stack.baseUrl, controllerId, credential, dir: own, install });
  devices.push(device);
  return { controllerId, device, own };
}

const attributesOf = (controllerId: string) => fleet.admin.get(`targets/${controllerId}/attributes`);

interface Updated extends Come {
  actionId: number;
  setId: number;
  content: Buffer;
  file: string;
  sha256: string;
}

/** Starts a device that registers itself and gets an update; it holds `has` of its bytes from an earlier attempt. */
async function updated(install: DdiDeviceOptions["install"], has = 0): Promise<Updated> {
  const { admin } = fleet;
  const here = await come(install);
  const { controllerId, own } = here;
  await soon(async () => expect(await attributesOf(controllerId)).toEqual({ device: controllerId }));
  const content = randomBytes(1_000_000);
  const file = join(own, "image.bin");
  if (has > 0) writeFileSync(file, content.subarray(0, has));
  const { set } = await admin.createSetWithFile(content, "image.bin");
  const actionId = await admin.assign(controllerId, set.id);
  const sha256 = createHash("sha256").update(content).digest("hex");
  return { ...here, actionId, setId: set.id, content, file, sha256 };
}

const outcome = ({ controllerId, actionId }: Updated) => outcomeOf(fleet.admin, controllerId, actionId);

test("the npm client registers itself by the gateway token, and sends its attributes", sideBySide, async () => {
  const { controllerId, device } = await come(() => "success");
  await soon(async () => expect(await attributesOf(controllerId)).toEqual({ device: controllerId }));
  expect(await fleet.admin.get(`targets/${controllerId}`)).toMatchObject({ name: controllerId, updateStatus: "registered" });
  expect(device.errors).toEqual([]);
  expect(device.statuses).toEqual([200, 200]);
});

test("the npm client signs in by the token of its target", sideBySide, async () => {
  const { controllerId, securityToken } = await fleet.admin.createTarget();
  const { device } = await come(() => "success", { controllerId, credential: { targetToken: securityToken } });
  await soon(async () => expect(await attributesOf(controllerId)).toEqual({ device: controllerId }));
  expect(device.errors).toEqual([]);
});

test("the npm client is denied with a wrong token, and nothing is registered", sideBySide, async () => {
  const { controllerId, device } = await come(() => "success", { credential: { gatewayToken: "another's" } });
  await soon(() => expect(device.errors).toEqual(["Error: invalid statusCode (401) value"]));
  expect((await fleet.admin.call(`targets/${controllerId}`)).status).toBe(404);
});

test("the npm client installs a whole file, and its report is the newest entry", sideBySide, async () => {
  const update = await updated(() => "success");
  await soon(async () => expect(await outcome(update)).toMatchObject({ target: "in_sync", action: "update finished" }));
  expect(readFileSync(update.file).equals(update.content)).toBe(true);
  // It reports within milliseconds of its download; a later entry would be there by now.
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  expect(await newestEntry(fleet.admin, update.controllerId, update.actionId)).toMatchObject({
    type: "finished",
    messages: [`installed ${update.sha256}`],
  });
  expect((await outcome(update)).history).toEqual(["running", "retrieved", "running", "download", "retrieved", "finished"]);
  expect(update.device.errors).toEqual([]);
});

test("the npm client resumes a half downloaded file, installs it and reports it", sideBySide, async () => {
  const update = await updated(() => "success", 400_000);
  await soon(async () => expect(await outcome(update)).toMatchObject({ target: "in_sync", action: "update finished" }));
  expect(readFileSync(update.file).equals(update.content)).toBe(true);
  const { history, messages } = await outcome(update);
  // A part of a file is no download of its own in the history.
  expect(history).toEqual(["running", "retrieved", "running", "retrieved", "finished"]);
  expect(messages).toContain("downloading");
  expect(messages.at(-1)).toBe(`installed ${update.sha256}`);
  expect(await setOf(fleet.admin, update.controllerId, "installedDS")).toBe(update.setId);
  expect(update.device.errors).toEqual([]);
  expect([...new Set(update.device.statuses)].sort()).toEqual([200, 206, 304]);
});

test("the npm client rejects its download, and reports the reason", sideBySide, async () => {
  const update = await updated(() => "failure");
  await soon(async () => expect(await outcome(update)).toMatchObject({ target: "error", action: "update error" }));
  const { history, messages } = await outcome(update);
  expect(history.at(-1)).toBe("error");
  expect(messages.at(-1)).toBe(`refused ${update.sha256}`);
  expect(await setOf(fleet.admin, update.controllerId, "installedDS")).toBeUndefined();
  expect(await setOf(fleet.admin, update.controllerId, "assignedDS")).toBeUndefined();
  expect(update.device.errors).toEqual([]);
});

test("the npm client ends an installation that is cancelled meanwhile", sideBySide, async () => {
  const update = await updated(() => "unfinished");
  await soon(async () => expect((await outcome(update)).messages).toContain("installing"));
  await soon(async () => expect((await outcome(update)).history).toContain("download"));
  expect((await fleet.admin.cancel(update.controllerId, update.actionId)).status).toBe(204);
  expect((await outcome(update)).action).toBe("cancel canceling (open)");
  await soon(async () => expect((await outcome(update)).action).toBe("cancel canceled"));
  const { history, messages } = await outcome(update);
  expect(history.filter((type) => type === "canceled")).toHaveLength(1);
  expect(messages).toContain(`gave up action ${update.actionId}`);
  expect(await setOf(fleet.admin, update.controllerId, "installedDS")).toBeUndefined();
  expect(update.device.errors).toEqual([]);
});
