import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { contentKey } from "../storage/storage.ts";
import { type Bench, openBench, principal, randomContent, silentLog, storeContent, tenantId } from "../testing.suite.ts";
import { attachUpload, type PendingUpload } from "../upload/attach.ts";
import { dropUpload } from "../upload/store.ts";
import { releaseArtifact, statBlob, sweepBlobs } from "./blobs.ts";

const empty = { blobs: 0, blobReferences: 0, uploads: 0 };
let bench: Bench;
let nextArtifact = 100;

beforeAll(async () => {
  bench = await openBench();
});
afterAll(async () => bench?.dispose());
beforeEach(() => bench.clear());

async function attach(upload: PendingUpload, artifactId = nextArtifact++): Promise<number> {
  const catalogue = {
    checkUpload: () => Promise.reject(new Error("not asked here")),
    attachArtifact: async () => ({ id: artifactId, createdBy: "admin", createdAt: 0 }),
  };
  const deps = { ...bench, catalogue, fault: () => {}, log: silentLog };
  const outcome = await attachUpload(deps, upload, { principal, rid: "r", deadline: Date.now() + 5_000, uploader: "admin" });
  expect(outcome.kind).toBe("attached");
  return artifactId;
}

const release = (artifactId: number, sha256: string) =>
  releaseArtifact({ ...bench, onSweepFailed: (error) => expect(error).toBeUndefined() }, { tenantId, artifactId, sha256 });

describe("blobs", () => {
  it("stores equal content once and deletes it with the last artifact", async () => {
    const { bytes, sha256 } = randomContent();
    const first = await attach(await storeContent(bench, bytes));
    const second = await attach(await storeContent(bench, bytes));
    expect(await bench.files()).toEqual([contentKey(tenantId, sha256)]);
    expect(await bench.rows()).toEqual({ blobs: 1, blobReferences: 2, uploads: 0 });
    expect(await statBlob(bench, tenantId, sha256)).toBe(bytes.length);
    await release(first, sha256);
    await release(first, sha256);
    expect(await bench.files()).toEqual([contentKey(tenantId, sha256)]);
    await release(second, sha256);
    expect(await bench.files()).toEqual([]);
    expect(await bench.rows()).toEqual(empty);
    expect(await statBlob(bench, tenantId, sha256)).toBeUndefined();
  });

  it("keeps a blob that only a running upload refers to", async () => {
    const { bytes, sha256 } = randomContent();
    const first = await attach(await storeContent(bench, bytes));
    const upload = await storeContent(bench, bytes);
    await release(first, sha256);
    expect(await bench.files()).toEqual([contentKey(tenantId, sha256)]);
    await dropUpload(bench, upload, upload);
    expect(await bench.files()).toEqual([]);
    expect(await bench.rows()).toEqual(empty);
  });

  it("releases the blob if the artifact was released before its upload learnt the artifact's id", async () => {
    const { bytes, sha256 } = randomContent();
    const upload = await storeContent(bench, bytes);
    await release(4711, sha256);
    await attach(upload, 4711);
    expect(await bench.files()).toEqual([]);
    expect(await bench.rows()).toEqual(empty);
  });

  it("does not touch a tenant's blob when another tenant releases the same content", async () => {
    const { bytes, sha256 } = randomContent();
    const artifact = await attach(await storeContent(bench, bytes));
    await releaseArtifact({ ...bench, onSweepFailed: () => {} }, { tenantId: 2, artifactId: artifact, sha256 });
    expect(await bench.files()).toEqual([contentKey(tenantId, sha256)]);
    await release(artifact, sha256);
  });

  it("deletes an object later if the store could not delete it", async () => {
    const { bytes, sha256 } = randomContent();
    const artifact = await attach(await storeContent(bench, bytes));
    const failures: unknown[] = [];
    const storage = { ...bench.storage, delete: () => Promise.reject(new Error("no")) };
    const deps = { ...bench, storage, onSweepFailed: (error: unknown) => failures.push(error) };
    await releaseArtifact(deps, { tenantId, artifactId: artifact, sha256 });
    expect(failures).toHaveLength(1);
    expect(await statBlob(bench, tenantId, sha256)).toBeUndefined();
    expect(await bench.files()).toHaveLength(1);
    expect(await sweepBlobs(bench)).toBe(1);
    expect(await bench.files()).toEqual([]);
    expect(await bench.rows()).toEqual(empty);
  });

  it("stores the bytes again when a half deleted blob is uploaded anew", async () => {
    const { bytes, sha256 } = randomContent();
    const artifact = await attach(await storeContent(bench, bytes));
    // the object is deleted but its row is not, as after a crash between the two
    const storage = {
      ...bench.storage,
      async delete(key: string) {
        await bench.storage.delete(key);
        throw new Error("killed");
      },
    };
    await releaseArtifact({ ...bench, storage, onSweepFailed: () => {} }, { tenantId, artifactId: artifact, sha256 });
    expect(await bench.rows()).toMatchObject({ blobs: 1, blobReferences: 0 });
    const again = await attach(await storeContent(bench, bytes));
    expect(await bench.files()).toEqual([contentKey(tenantId, sha256)]);
    await release(again, sha256);
    expect(await bench.rows()).toEqual(empty);
  });

  it("stays consistent when the same content is uploaded and released at the same time", async () => {
    const { bytes, sha256 } = randomContent(50_000);
    let held: number[] = [];
    for (let round = 0; round < 25; round += 1) {
      const uploads = Array.from({ length: 3 }, async () => attach(await storeContent(bench, bytes)));
      const refused = storeContent(bench, bytes).then((upload) => dropUpload(bench, upload, upload));
      await Promise.all([...held.map((artifact) => release(artifact, sha256)), refused, sweepBlobs(bench)]);
      held = await Promise.all(uploads);
      expect(await bench.files()).toEqual([contentKey(tenantId, sha256)]);
      expect(await bench.rows()).toEqual({ blobs: 1, blobReferences: 3, uploads: 0 });
    }
    await Promise.all(held.map((artifact) => release(artifact, sha256)));
    expect(await bench.files()).toEqual([]);
    expect(await bench.rows()).toEqual(empty);
  });
});
