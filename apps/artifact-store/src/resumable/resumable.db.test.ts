import { createHash } from "node:crypto";
import { eventually } from "@harrier/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type RunningService, startService } from "../service.suite.ts";
import { contentKey, partSize } from "../storage/storage.ts";
import { randomContent, tenantId } from "../testing.suite.ts";
import { code, octets, path, uploadsOf } from "./resumable.suite.ts";

const mebi = 1024 * 1024;
let service: RunningService;
const { open, put, get, complete, cancel, sendFrom, clear, expectNothingLeft } = uploadsOf(() => service);

beforeAll(async () => {
  service = await startService();
});
afterAll(async () => service?.stop());
beforeEach(clear);

/** Waits until the one upload has a writer, or has none any more. */
async function untilLeased(leased: boolean): Promise<void> {
  await eventually(async () => {
    expect(await service.bench.sql("select lease_id is not null as leased from artifact_store.resumable_uploads")).toEqual([{ leased }]);
  });
}

describe("an upload in parts (contract console.md M15)", () => {
  it.each([1, partSize, partSize + 1, 2 * partSize + 5])("of %d bytes becomes an artifact with all three hashes", async (size) => {
    const { bytes, sha256, sha1, md5 } = randomContent(size);
    const id = await open(size, { sha256sum: sha256.toUpperCase(), sha1sum: sha1, md5sum: md5 });
    await sendFrom(id, bytes);
    const answer = await complete(id);
    expect(answer.status, String(answer.body)).toBe(201);
    expect(answer.json()).toMatchObject({ providedFilename: "fw.bin", size, hashes: { sha256, sha1, md5 }, createdBy: "admin" });
    expect(await service.bench.files()).toEqual([contentKey(tenantId, sha256)]);
    expect(await service.bench.rows()).toEqual({ blobs: 1, blobReferences: 1, uploads: 0 });
    const artifactId = answer.json()["id"];
    expect((await get(id)).json()).toMatchObject({ status: "completed", offset: size, artifactId });
    const again = await complete(id);
    expect([again.status, again.json()]).toEqual([201, answer.json()]);
    const download = await service.call("GET", `/api/mgmt/v1/softwaremodules/11/artifacts/${String(artifactId)}/download`);
    expect(createHash("sha256").update(download.body).digest("hex")).toBe(sha256);
  });

  it("tells where the next part begins, and that it is kept for a day", async () => {
    const id = await open(20 * mebi);
    const row = (await get(id)).json();
    expect(row).toEqual({
      id,
      status: "open",
      filename: "fw.bin",
      size: 20 * mebi,
      offset: 0,
      partSize: 8 * mebi,
      softwareModuleId: 11,
      openedBy: "admin",
      createdAt: expect.any(Number),
      expiresAt: expect.any(Number),
    });
    expect(Math.abs(Number(row["expiresAt"]) - Date.now() - 24 * 3_600_000)).toBeLessThan(60_000);
  });

  it("goes on behind the last whole part when the client is gone in the middle of one", async () => {
    const { bytes, sha256 } = randomContent(2 * partSize + 17);
    const id = await open(bytes.length);
    await sendFrom(id, bytes.subarray(0, partSize));
    for (let n = 0; n < 3; n += 1) {
      const { request } = service.open("PUT", `${path}/${id}?offset=${partSize}`, {
        headers: { "content-type": "application/octet-stream", "content-length": String(partSize) },
        body: (async function* () {
          yield bytes.subarray(partSize, partSize + 1_000_000 * (n + 1));
          await new Promise((resolve) => request.once("close", resolve));
        })(),
      });
      await untilLeased(true);
      request.destroy();
      await untilLeased(false);
      expect((await get(id)).json()["offset"]).toBe(partSize);
    }
    await sendFrom(id, bytes, partSize);
    expect((await complete(id)).json()).toMatchObject({ hashes: { sha256 } });
  });

  it("takes one writer at a time, and goes on when the lease of a dead one has run out", async () => {
    const { bytes, sha256 } = randomContent(2 * partSize + 3);
    const id = await open(bytes.length);
    await sendFrom(id, bytes.subarray(0, partSize));
    const taken = async (until: string): Promise<void> => {
      await service.bench.sql(
        `update artifact_store.resumable_uploads set lease_id = gen_random_uuid(), lease_until = now() + interval '${until}'`,
      );
    };
    await taken("10 seconds");
    const refused = await put(id, partSize, bytes.subarray(partSize, 2 * partSize));
    expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "3"]);
    expect((await cancel(id)).status).toBe(429);
    await taken("-1 seconds");
    await sendFrom(id, bytes, partSize);
    expect(
      (await service.bench.sql("select receipt from artifact_store.upload_parts order by number")).map((row) => Object.values(row)[0]),
    ).toEqual(["0", "1", "1"]);
    expect((await complete(id)).json()).toMatchObject({ hashes: { sha256 }, size: bytes.length });
    const [file] = await service.bench.files();
    expect(file).toBe(contentKey(tenantId, sha256));
  });

  it("refuses a part that does not continue it, and says where it is", async () => {
    const { bytes } = randomContent(partSize + 5);
    const id = await open(bytes.length);
    await sendFrom(id, bytes.subarray(0, partSize));
    for (const offset of [0, 5, partSize - 1, 2 * partSize]) {
      const answer = await put(id, offset, bytes.subarray(0, 5));
      expect(code(answer)).toEqual([409, "hawkbit.server.error.artifact.uploadOffset"]);
      expect(answer.json()["info"]).toEqual({ offset: partSize });
    }
    expect(code(await complete(id))).toEqual([409, "hawkbit.server.error.artifact.uploadOffset"]);
    await sendFrom(id, bytes, partSize);
    expect((await put(id, bytes.length, Buffer.from("x"))).status).toBe(409);
  });

  it.each([
    ["shorter", partSize - 1],
    ["longer", partSize + 1],
  ])("refuses a part that is %s than the others, with and without a length", async (_what, size) => {
    const { bytes } = randomContent(size);
    const id = await open(3 * partSize);
    expect((await put(id, 0, bytes)).status).toBe(400);
    const chunked = await service.call("PUT", `${path}/${id}?offset=0`, {
      headers: { "content-type": "application/octet-stream" },
      body: (async function* () {
        for (let at = 0; at < bytes.length; at += 100_000) yield bytes.subarray(at, at + 100_000);
      })(),
    });
    expect(code(chunked)).toEqual([400, "hawkbit.server.error.repo.constraintViolation"]);
    expect((await get(id)).json()["offset"]).toBe(0);
  });

  it("checks the digest of a part before it counts", async () => {
    const { bytes, sha256 } = randomContent(10_000);
    const id = await open(bytes.length);
    const digest = (algorithm: string, of: Buffer): string => createHash(algorithm).update(of).digest("base64");
    for (const wrong of [`sha-256=:${digest("sha256", Buffer.from("x"))}:`, "sha-256=:AA==:", "sha-512=xyz"]) {
      expect((await put(id, 0, bytes, { "content-digest": wrong })).status).toBe(400);
    }
    expect((await get(id)).json()["offset"]).toBe(0);
    const right = `unknown=:AA==:, sha-256=:${digest("sha256", bytes)}:, sha-512=:${digest("sha512", bytes)}:`;
    expect((await put(id, 0, bytes, { "content-digest": right })).status).toBe(200);
    expect((await complete(id)).json()).toMatchObject({ hashes: { sha256 } });
  });

  it.each([
    ["sha256sum", "0".repeat(64), "sha256"],
    ["sha1sum", "0".repeat(40), "sha1"],
    ["md5sum", "0".repeat(32), "md5"],
  ])("ends with a wrong %s", async (name, value, what) => {
    const { bytes } = randomContent(5_000);
    const id = await open(bytes.length, { [name]: value });
    await sendFrom(id, bytes);
    expect(code(await complete(id))).toEqual([400, `hawkbit.server.error.artifact.uploadFailed.checksum.${what}.match`]);
    expect((await get(id)).status).toBe(404);
    await expectNothingLeft();
  });

  it("is found in its own module only", async () => {
    const id = await open(5);
    const elsewhere = path.replace("/11/", "/12/");
    expect((await service.call("GET", `${elsewhere}/${id}`)).status).toBe(404);
    expect((await service.call("PUT", `${elsewhere}/${id}?offset=0`, octets(Buffer.from("12345")))).status).toBe(404);
    expect((await service.call("POST", `${elsewhere}/${id}/complete`)).status).toBe(404);
    expect((await service.call("DELETE", `${elsewhere}/${id}`)).status).toBe(404);
  });

  it("stays open while the module cannot take it, and is completed afterwards", async () => {
    const { bytes, sha256 } = randomContent(1_000);
    const id = await open(bytes.length);
    await sendFrom(id, bytes);
    const { HarrierError } = await import("@harrier/errors");
    service.neighbours.failures.checkUpload.push(new HarrierError("locked"));
    expect((await complete(id)).status).toBe(423);
    expect((await complete(id)).json()).toMatchObject({ hashes: { sha256 } });
    expect((await cancel(id)).status).toBe(409);
  });

  it("shares the bytes of an artifact that exists", async () => {
    const { bytes, sha256 } = randomContent(1_000);
    for (const filename of ["one", "two"]) {
      const id = await open(bytes.length, { filename });
      await sendFrom(id, bytes);
      expect((await complete(id)).status).toBe(201);
    }
    expect(await service.bench.files()).toEqual([contentKey(tenantId, sha256)]);
    expect(await service.bench.rows()).toEqual({ blobs: 1, blobReferences: 2, uploads: 0 });
  });

  it("is whole however many others of the tenant are sent beside it", async () => {
    service.neighbours.maxBytes = 200_000_000;
    const uploads = await Promise.all(
      Array.from({ length: 6 }, async (_, n) => ({
        id: await open(2 * partSize + n, { filename: `fw-${n}` }),
        ...randomContent(2 * partSize + n),
      })),
    );
    for (const offset of [0, partSize, 2 * partSize]) {
      for (const { id, bytes } of uploads) {
        const part = bytes.subarray(offset, offset + partSize);
        if (part.length > 0) expect((await put(id, offset, part)).status).toBe(200);
      }
    }
    for (const { id, sha256, sha1, md5 } of uploads) expect((await complete(id)).json()).toMatchObject({ hashes: { sha256, sha1, md5 } });
  });

  it("costs four round trips for every part, two of them for the audit entry", async () => {
    const parts = 4;
    const { bytes } = randomContent(partSize);
    const id = await open(parts * partSize);
    for (let n = 0; n < parts; n += 1) expect(await service.counter.during(() => put(id, n * partSize, bytes))).toBe(4);
  });
});
