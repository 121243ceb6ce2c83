import { createHash, randomBytes, randomUUID } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Minio, mountSmallDisk, startMinio } from "@harrier/testkit";
import { Client } from "minio";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, type RunningService, startService } from "../service.suite.ts";
import { partSize, stagingKey } from "../storage/storage.ts";
import { tenantId } from "../testing.suite.ts";

const path = "/api/mgmt/v1/softwaremodules/11/artifacts/uploads";
const mebi = 2 ** 20;

/** A client of one upload in parts. */
async function opened(service: RunningService, size: number) {
  const bytes = randomBytes(size);
  const body = Buffer.from(JSON.stringify({ filename: randomUUID(), size }));
  const answer = await service.call("POST", path, { headers: { "content-type": "application/json" }, body });
  const own = `${path}/${String(answer.json()["id"])}`;
  const put = (offset: number): Promise<Answer> => {
    const part = bytes.subarray(offset, offset + partSize);
    const headers = { "content-type": "application/octet-stream", "content-length": String(part.length) };
    return service.call("PUT", `${own}?offset=${offset}`, { headers, body: part });
  };
  return {
    id: String(answer.json()["id"]),
    sha256: createHash("sha256").update(bytes).digest("hex"),
    put,
    offset: async () => (await service.call("GET", own)).json()["offset"],
    complete: () => service.call("POST", `${own}/complete`),
    cancel: () => service.call("DELETE", own),
  };
}

describe("a disk that is really full", () => {
  it("refuses the part with 507, keeps those before it, and goes on when there is room again", async () => {
    const disk = await mountSmallDisk(64 * mebi);
    let service: RunningService | undefined;
    try {
      service = await startService({ HARRIER_STORAGE_DIR: disk.dir, HARRIER_STORAGE_RESERVE: "0" });
      const ballast = join(disk.dir, "ballast");
      await writeFile(ballast, Buffer.alloc(44 * mebi));
      const upload = await opened(service, 2 * partSize + 7_000_000);
      expect((await upload.put(0)).status).toBe(200);
      expect((await upload.put(partSize)).status).toBe(200);
      const full = await upload.put(2 * partSize);
      expect([full.status, full.json()["errorCode"]]).toEqual([507, "hawkbit.server.error.artifact.uploadFailed"]);
      expect(await upload.offset()).toBe(2 * partSize);
      await rm(ballast);
      expect((await upload.put(2 * partSize)).status).toBe(200);
      expect((await upload.complete()).json()).toMatchObject({ hashes: { sha256: upload.sha256 } });
    } finally {
      await service?.stop();
      await disk.remove();
    }
  });
});

describe("an object store with faults", () => {
  let minio: Minio;
  let service: RunningService;
  const bucket = `faults-${randomUUID()}`;

  beforeAll(async () => {
    minio = await startMinio();
    service = await startService({
      HARRIER_STORAGE_DIR: undefined,
      HARRIER_S3_ENDPOINT: minio.endpoint,
      HARRIER_S3_ACCESS_KEY: minio.accessKey,
      HARRIER_S3_SECRET_KEY: minio.secretKey,
      HARRIER_S3_BUCKET: bucket,
    });
  });
  afterAll(async () => {
    await service?.stop();
    await minio?.stop();
  });

  it("that is away makes a part, and a completion, 503 with Retry-After; both succeed when it is back", async () => {
    const upload = await opened(service, partSize + 1_000);
    expect((await upload.put(0)).status).toBe(200);
    await minio.kill();
    const away = await upload.put(partSize);
    expect([away.status, away.headers["retry-after"]]).toEqual([503, "5"]);
    expect(await upload.offset()).toBe(partSize);
    await minio.restart();
    expect((await upload.put(partSize)).status).toBe(200);
    await minio.kill();
    const incomplete = await upload.complete();
    expect([incomplete.status, incomplete.headers["retry-after"]]).toEqual([503, "5"]);
    await minio.restart();
    expect((await upload.complete()).json()).toMatchObject({ hashes: { sha256: upload.sha256 } });
  });

  it("that has lost the parts fails the completion, leaves no artifact, and the upload can be given up", async () => {
    const upload = await opened(service, partSize + 1_000);
    for (const offset of [0, partSize]) expect((await upload.put(offset)).status).toBe(200);
    const { hostname, port } = new URL(minio.endpoint);
    const client = new Client({
      endPoint: hostname,
      port: Number(port),
      useSSL: false,
      accessKey: minio.accessKey,
      secretKey: minio.secretKey,
    });
    const key = stagingKey(tenantId, upload.id);
    await client.removeIncompleteUpload(bucket, key);
    const attached = service.neighbours.attached.length;
    const failed = await upload.complete();
    expect([failed.status, failed.json()["errorCode"]]).toEqual([500, "hawkbit.server.error.artifact.uploadFailed"]);
    expect(service.neighbours.attached).toHaveLength(attached);
    expect(await upload.offset()).toBe(partSize + 1_000);
    expect((await upload.cancel()).status).toBe(200);
  });
});
