import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type RunningService, startService } from "../service.suite.ts";
import { contentKey, partSize, stagingKey } from "../storage/storage.ts";
import { randomContent, silentLog, tenantId } from "../testing.suite.ts";
import { expireUploads } from "./expire-uploads.ts";
import { uploadsOf } from "./resumable.suite.ts";

let service: RunningService;
const { open, put, get, cancel, sendFrom, clear, expectNothingLeft } = uploadsOf(() => service);

beforeAll(async () => {
  service = await startService();
});
afterAll(async () => service?.stop());
beforeEach(clear);

describe("an upload in parts that becomes no artifact (contract console.md M15)", () => {
  it("leaves nothing behind when its client gives it up", async () => {
    const { bytes } = randomContent(partSize + 10);
    const id = await open(bytes.length);
    await sendFrom(id, bytes.subarray(0, partSize));
    expect((await cancel(id)).status).toBe(200);
    expect((await get(id)).status).toBe(404);
    expect((await cancel(id)).status).toBe(404);
    await expectNothingLeft();
  });

  it("is removed when nobody has continued it for a day", async () => {
    const { bytes } = randomContent(partSize + 10);
    const deps = { db: service.bench.db, storage: service.bench.storage, log: silentLog };
    const [halfway, whole, kept] = [await open(bytes.length), await open(bytes.length), await open(bytes.length)];
    await sendFrom(halfway, bytes.subarray(0, partSize));
    await sendFrom(whole, bytes);
    await service.bench.sql("update artifact_store.resumable_uploads set expires_at = now() - interval '1 second' where id <> $1", [kept]);
    expect((await get(halfway)).status).toBe(404);
    expect((await put(halfway, partSize, bytes.subarray(partSize))).status).toBe(404);
    expect(await expireUploads(deps)).toBe(2);
    expect(await expireUploads(deps)).toBe(0);
    expect((await get(kept)).status).toBe(200);
    await cancel(kept);
    await expectNothingLeft();
  });

  it("is removed with the bytes that an interrupted completion has stored under their hash", async () => {
    const { bytes, sha256, sha1, md5 } = randomContent(1_000);
    const { db, storage } = service.bench;
    const deps = { db, storage, keepMs: 0, log: silentLog };
    const staged = stagingKey(tenantId, randomUUID());
    const [expired, cancelled] = [await open(bytes.length), await open(bytes.length)];
    for (const id of [expired, cancelled]) {
      await sendFrom(id, bytes);
      await storage.put(staged, Readable.from([bytes]));
      await storage.promote(staged, contentKey(tenantId, sha256));
      await storage.delete(staged);
      await service.bench.sql(
        "update artifact_store.resumable_uploads set hashes = $2, expires_at = now() - interval '1 second' where id = $1",
        [id, JSON.stringify({ sha256, sha1, md5 })],
      );
      if (id === expired) expect(await expireUploads(deps)).toBe(1);
      else {
        await service.bench.sql("update artifact_store.resumable_uploads set expires_at = now() + interval '1 hour' where id = $1", [id]);
        expect((await cancel(id)).status).toBe(200);
      }
      await expectNothingLeft();
    }
  });
});
