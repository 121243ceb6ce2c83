import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Swupdate, type SwupdateOptions, startSwupdate } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Fleet, POLL_SECONDS, soon, startFleet } from "./support/fleet.ts";
import { outcomeOf, setOf } from "./support/outcome.ts";
import { slowProxy } from "./support/slow-proxy.ts";
import { createSigner, type ImageOptions, type Signer, swuImage } from "./support/swu.ts";
import { becomesSilent, newVersion, oldVersion, safetyOf, showVersions, watchedPolicy } from "./support/watched.ts";

// Debian's SWUpdate gets a signed image that is installed, rejected or cancelled (spec 000 §§1-4).

/** The SWUpdate processes of one machine share the name of a socket, so they run one at a time; no retry may hide a failure. */
const oneByOne = { retry: 0 } as const;

const board = { name: "harrier", revision: "1" };

let fleet: Fleet;
let dir: string;
let signer: Signer;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "harrier-clients-"));
  signer = await createSigner(dir);
  fleet = await startFleet();
  await showVersions(fleet.admin);
});
afterAll(async () => {
  await fleet?.stack.stop();
  rmSync(dir, { recursive: true, force: true });
});

interface Assigned {
  controllerId: string;
  actionId: number;
  setId: number;
  /** The content that the device shall have at the end, and its path. */
  content: Buffer;
  path: string;
  /** Runs SWUpdate there while `during` runs. */
  device<T>(options: Partial<SwupdateOptions>, during: (swupdate: Swupdate) => Promise<T>): Promise<T>;
}

/** Makes a target with an assigned image that its device has not seen yet. */
async function assigned(
  options: { size?: number; script?: string; safety?: object; damage?: (image: Buffer) => void } = {},
): Promise<Assigned> {
  const { stack, admin } = fleet;
  const target = await admin.createTarget();
  const content = randomBytes(options.size ?? 300_000);
  const path = join(dir, `${target.controllerId}.img`);
  const parts: ImageOptions = { path, content, revision: board.revision };
  const image = swuImage(signer, options.script === undefined ? parts : { ...parts, script: options.script });
  options.damage?.(image);
  const { set } = await admin.createSetWithFile(image, "update.swu");
  const actionId = await admin.assign(target.controllerId, set.id, options.safety === undefined ? {} : { safety: options.safety });
  return {
    controllerId: target.controllerId,
    actionId,
    setId: set.id,
    content,
    path,
    async device(more, during) {
      const swupdate = await startSwupdate({
        baseUrl: stack.baseUrl,
        controllerId: target.controllerId,
        targetToken: target.securityToken,
        certificate: signer.certificate,
        hardware: `${board.name}:${board.revision}`,
        speed: "100k",
        ...more,
      });
      try {
        return await during(swupdate);
      } catch (error) {
        const state = `SWUpdate's last words:\n${swupdate.output()}\nIt waits for:\n${swupdate.waitsFor()}`;
        throw new Error(`${(error as Error).message}\n${state}`, { cause: error });
      } finally {
        await swupdate.stop();
      }
    },
  };
}

const outcome = ({ controllerId, actionId }: Assigned) => outcomeOf(fleet.admin, controllerId, actionId);

test("SWUpdate installs an image, and closes the action when the new software runs", oneByOne, async () => {
  const update = await assigned();
  await update.device({}, () => soon(async () => expect((await outcome(update)).messages).toContain("All Chunks Installed.")));
  expect(readFileSync(update.path).equals(update.content)).toBe(true);
  // The action is open until the device has seen that the new software starts.
  expect(await outcome(update)).toMatchObject({ target: "pending", action: "update running (open)" });
  await update.device({ outcome: "success", identify: { board: board.name, firmware: "1.0" } }, () =>
    soon(async () => {
      expect(await outcome(update)).toMatchObject({ target: "in_sync", action: "update finished" });
      // The success requests the attributes again.
      expect(await fleet.admin.get(`targets/${update.controllerId}/attributes`)).toEqual({ board: board.name, firmware: "1.0" });
    }),
  );
  const { history, messages } = await outcome(update);
  expect(history[0]).toBe("running");
  expect(history[1]).toBe("retrieved");
  expect(history).toContain("download");
  expect(history.at(-1)).toBe("finished");
  expect(messages).toContain("Installing Update Chunk Artifacts.");
  expect(messages.at(-1)).toBe("Update Installed.");
  expect(await setOf(fleet.admin, update.controllerId, "installedDS")).toBe(update.setId);
});

test("SWUpdate rejects an image that was damaged, and nothing is installed", oneByOne, async () => {
  const update = await assigned({
    // The damage is within the file, behind the signed description.
    damage: (image) => image.writeUInt8(image.readUInt8(image.length >> 1) ^ 1, image.length >> 1),
  });
  await update.device({}, () => soon(async () => expect(await outcome(update)).toMatchObject({ target: "error", action: "update error" })));
  const { history, messages } = await outcome(update);
  expect(history.at(-1)).toBe("error");
  expect(messages.some((message) => message.includes("HASH mismatch"))).toBe(true);
  expect(messages.at(-1)).toBe("No suitable .swu image found");
  expect(existsSync(update.path)).toBe(false);
  expect(await setOf(fleet.admin, update.controllerId, "installedDS")).toBeUndefined();
});

test("SWUpdate reports an installation whose script fails, with the script's output", oneByOne, async () => {
  const update = await assigned({ script: '#!/bin/sh\n[ "$1" = preinst ] || { echo "the board does not start with it" >&2; exit 1; }\n' });
  await update.device({}, () => soon(async () => expect(await outcome(update)).toMatchObject({ target: "error", action: "update error" })));
  const { messages } = await outcome(update);
  expect(messages.some((message) => message.includes("the board does not start with it"))).toBe(true);
  expect(await setOf(fleet.admin, update.controllerId, "assignedDS")).toBeUndefined();
});

test("a cancellation reaches SWUpdate while it downloads, and ends the download", oneByOne, async () => {
  // At this speed the download takes three times as long as the wait for the next poll, which brings the cancellation.
  const speed = 50_000;
  const update = await assigned({ size: 3 * POLL_SECONDS * speed });
  writeFileSync(update.path, "as before");
  const slow = await slowProxy(fleet.stack.baseUrl, speed);
  try {
    await update.device({ baseUrl: slow.url }, async () => {
      await soon(async () => expect((await outcome(update)).history).toContain("download"));
      expect((await fleet.admin.cancel(update.controllerId, update.actionId)).status).toBe(204);
      expect((await outcome(update)).action).toBe("cancel canceling (open)");
      await soon(async () => expect((await outcome(update)).action).toBe("cancel canceled"));
    });
  } finally {
    slow.stop();
  }
  const { history, messages } = await outcome(update);
  expect(history.filter((type) => type === "canceled")).toHaveLength(1);
  expect(history.at(-1)).toBe("canceled");
  expect(messages).toContain("cancellation acknowledged.");
  expect(readFileSync(update.path, "utf8")).toBe("as before");
  expect(await setOf(fleet.admin, update.controllerId, "installedDS")).toBeUndefined();
  expect(await setOf(fleet.admin, update.controllerId, "assignedDS")).toBeUndefined();
});

test(
  "beyond 1.23 SWUpdate that is switched off counts as silent, and what it shows after its restart proves its success",
  oneByOne,
  async () => {
    const update = await assigned({ safety: watchedPolicy });
    const { controllerId, actionId } = update;
    const safety = () => safetyOf(fleet.admin, controllerId, actionId);
    await update.device({}, () => soon(async () => expect((await outcome(update)).messages).toContain("All Chunks Installed.")));
    await becomesSilent(fleet, controllerId, actionId);
    expect(await safety()).toMatchObject({ stage: "installing" });
    await update.device({ outcome: "success", identify: { sw_version: newVersion } }, () =>
      soon(async () => expect(await safety()).toMatchObject({ proof: { state: "proven", by: "attributes" } })),
    );
    expect(await outcome(update)).toMatchObject({ target: "in_sync", action: "update finished" });
    expect(await safety()).not.toHaveProperty("silentSince");
    expect(await setOf(fleet.admin, controllerId, "installedDS")).toBe(update.setId);
  },
);

test("beyond 1.23 SWUpdate that reports success and shows the old version fell back", oneByOne, async () => {
  const update = await assigned({ safety: watchedPolicy });
  const { controllerId, actionId } = update;
  await update.device({}, () => soon(async () => expect((await outcome(update)).messages).toContain("All Chunks Installed.")));
  await update.device({ outcome: "success", identify: { sw_version: oldVersion } }, () =>
    soon(async () =>
      expect(await safetyOf(fleet.admin, controllerId, actionId)).toMatchObject({ proof: { state: "refuted", by: "attributes" } }),
    ),
  );
  const { target, action, messages } = await outcome(update);
  expect([target, action]).toEqual(["error", "update error"]);
  expect(messages.at(-1)).toBe(`Update Server: The device shows sw_version ${oldVersion} instead of ${newVersion}: it fell back.`);
  expect(await setOf(fleet.admin, controllerId, "installedDS")).toBeUndefined();
});
