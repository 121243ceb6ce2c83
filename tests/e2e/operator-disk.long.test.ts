import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statfsSync } from "node:fs";
import { join } from "node:path";
import type { Stack } from "@harrier/stack";
import { type Admin, eventually, mountSmallDisk, type SmallDisk, uniqueName } from "@harrier/testkit";
import { afterEach, expect, test } from "vitest";
import { adminOf } from "./support/replicas.ts";
import { startAnsweringStack } from "./support/serving.ts";

// Artifacts fill a disk: uploads are denied with the reason, deletions free the room, and the database on the same disk survives.

const MB = 1_000_000;
const uploadBytes = 8 * MB;
const concurrency = 4;
let stack: Stack | undefined;
let disk: SmallDisk | undefined;

afterEach(async () => {
  await stack?.stop();
  await disk?.remove();
  [stack, disk] = [undefined, undefined];
});

interface Upload {
  status: number;
  body: unknown;
  path: string;
}

async function upload(api: Admin): Promise<Upload> {
  const { id } = await api.createModule();
  const body = new FormData();
  body.set("file", new Blob([randomBytes(uploadBytes)]), uniqueName("file"));
  const path = `softwaremodules/${id}/artifacts`;
  const answer = await api.call<{ id: number }>(path, { method: "POST", body });
  return { status: answer.status, body: answer.body, path: `${path}/${answer.body?.id}` };
}

/** Uploads files, several at once, until none is accepted any more. */
async function fill(api: Admin): Promise<{ taken: Upload[]; refused: Upload[] }> {
  const [taken, refused]: [Upload[], Upload[]] = [[], []];
  for (let round = 0; round < 50; round += 1) {
    const answers = await Promise.all(Array.from({ length: concurrency }, () => upload(api)));
    taken.push(...answers.filter(({ status }) => status === 201));
    refused.push(...answers.filter(({ status }) => status !== 201));
    if (answers.every(({ status }) => status !== 201)) return { taken, refused };
  }
  throw new Error("the disk does not get full");
}

async function expectFullAndFreeAgain(api: Admin): Promise<void> {
  const { taken, refused } = await fill(api);
  expect(taken.length).toBeGreaterThan(0);
  for (const { status, body } of refused) {
    expect([503, 507]).toContain(status);
    expect(body).toMatchObject({ errorCode: expect.stringMatching(/\S/), message: expect.stringMatching(/\S/) });
  }
  // Everything except uploads continues.
  await api.createTarget();
  await api.get("targets?limit=1");
  for (const { path } of taken) expect([200, 204], path).toContain((await api.call(path, { method: "DELETE" })).status);
  await eventually(async () => expect((await upload(api)).status).toBe(201), 30_000, 500);
}

const logsOf = ({ dataDir }: Stack): string =>
  readdirSync(join(dataDir, "logs"))
    .map((file) => readFileSync(join(dataDir, "logs", file), "utf8"))
    .join("\n");

test("artifacts on a disk of their own, without a reserve: the very last byte is used", async () => {
  disk = await mountSmallDisk(64 * MB);
  stack = await startAnsweringStack({ env: { HARRIER_STORAGE_DIR: join(disk.dir, "artifacts"), HARRIER_STORAGE_RESERVE: "0" } });
  await expectFullAndFreeAgain(adminOf(stack));
});

test("artifacts and database on one disk: the reserve keeps the database alive", async () => {
  const reserve = 120 * MB;
  disk = await mountSmallDisk(480 * MB);
  stack = await startAnsweringStack({ dataDir: join(disk.dir, "data"), env: { HARRIER_STORAGE_RESERVE: String(reserve) } });
  const api = adminOf(stack);
  const { taken } = await fill(api);
  const { bavail, bsize } = statfsSync(disk.dir);
  // The rest is for uploads under way when it gets tight, and for what the database writes meanwhile.
  expect(bavail * bsize).toBeGreaterThan(reserve / 2);
  for (const { path } of taken) expect([200, 204]).toContain((await api.call(path, { method: "DELETE" })).status);
  await expectFullAndFreeAgain(api);
  expect(logsOf(stack)).not.toMatch(/PANIC|No space left on device/);
  expect(existsSync(join(disk.dir, "data", "postgres"))).toBe(true);
});
