import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { form, type RunningService, startService } from "../service.suite.ts";
import { contentKey, partSize } from "../storage/storage.ts";
import { randomContent, tenantId } from "../testing.suite.ts";
import { blockBytes } from "./blocks-in-threads.ts";
import { hashThreads } from "./file-hashes.ts";

const path = "/api/mgmt/v1/softwaremodules/11/artifacts";
const mebi = 1024 * 1024;
const failed = "hawkbit.server.error.artifact.uploadFailed";
let service: RunningService;
/** The threads that have begun since the test did; both of a file begin with its first block. */
let begun: Worker[];
const note = (worker: Worker): void => void begun.push(worker);

beforeAll(async () => {
  service = await startService();
});
afterAll(async () => service?.stop());
beforeEach(async () => {
  await service.bench.sql("delete from artifact_store.resumable_uploads");
  await service.bench.clear();
  service.neighbours.attached.length = 0;
  // those of a test before would not be seen here
  await hashThreads.end();
  begun = [];
  process.on("worker", note);
});
afterEach(() => void process.off("worker", note));

/** The bytes of all files in the storage. */
async function stored(): Promise<number> {
  const entries = await readdir(service.bench.root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Sends the bytes, and kills a thread when half of them are sent and the first of them are hashed: before that, the file would have a new thread. */
async function* killing(bytes: Buffer, thread: number): AsyncGenerator<Buffer> {
  const before = await stored();
  const half = Math.floor(bytes.length / 2);
  yield bytes.subarray(0, half);
  // bytes go to the threads, by blocks, before they go to the storage
  await expect.poll(stored, { timeout: 10_000 }).toBeGreaterThan(before + blockBytes);
  expect(begun).toHaveLength(2);
  await begun[thread]?.terminate();
  for (let at = half; at < bytes.length; at += mebi) yield bytes.subarray(at, Math.min(at + mebi, bytes.length));
}

describe.each([0, 1])("when thread %i of the two dies in the middle", (thread) => {
  it("an upload in one request fails and leaves nothing behind, and the next one has a new thread", async () => {
    const { bytes, sha256, sha1, md5 } = randomContent(6 * mebi);
    const { headers, body } = form({ name: "file", filename: "fw.bin", body: bytes });
    const answer = await service.call("POST", path, { headers, body: killing(body, thread) });
    expect([answer.status, answer.json()["errorCode"]]).toEqual([500, failed]);
    expect(await service.bench.files()).toEqual([]);
    expect(await service.bench.rows()).toEqual({ blobs: 0, blobReferences: 0, uploads: 0 });
    const again = await service.call("POST", path, { headers, body });
    expect(again.status, String(again.body)).toBe(201);
    expect(again.json()).toMatchObject({ size: bytes.length, hashes: { sha256, sha1, md5 } });
    expect(begun).toHaveLength(3);
  });

  it("a part fails and does not count, and the upload goes on behind the part before", async () => {
    const { bytes, sha256, sha1, md5 } = randomContent(2 * partSize + 5);
    const json = { "content-type": "application/json" };
    const order = Buffer.from(JSON.stringify({ filename: "fw.bin", size: bytes.length }));
    const opened = await service.call("POST", `${path}/uploads`, { headers: json, body: order });
    const upload = `${path}/uploads/${String(opened.json()["id"])}`;
    const put = (at: number, body: Buffer | AsyncIterable<Buffer>) =>
      service.call("PUT", `${upload}?offset=${at}`, { headers: { "content-type": "application/octet-stream" }, body });
    const partOf = (at: number): Buffer => bytes.subarray(at, at + partSize);

    expect((await put(0, partOf(0))).status).toBe(200);
    const answer = await put(partSize, killing(partOf(partSize), thread));
    expect([answer.status, answer.json()["errorCode"]]).toEqual([500, failed]);
    expect((await service.call("GET", upload)).json()).toMatchObject({ status: "open", offset: partSize });
    for (const at of [partSize, 2 * partSize]) expect((await put(at, partOf(at))).status).toBe(200);
    const completed = await service.call("POST", `${upload}/complete`);
    expect(completed.status, String(completed.body)).toBe(201);
    expect(completed.json()).toMatchObject({ size: bytes.length, hashes: { sha256, sha1, md5 } });
    expect(await service.bench.files()).toEqual([contentKey(tenantId, sha256)]);
    expect(begun).toHaveLength(3);
  });
});
