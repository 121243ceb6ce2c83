import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { contentKey } from "../storage/storage.ts";
import { type Bench, openBench, principal, randomContent, silentLog, storeContent, tenantId } from "../testing.suite.ts";
import { attachUpload } from "../upload/attach.ts";
import { releaseArtifact, sweepBlobs } from "./blobs.ts";

let bench: Bench;
let nextArtifact = 100;
const day = 24 * 3_600_000;

beforeAll(async () => {
  bench = await openBench();
});
afterAll(async () => bench?.dispose());
beforeEach(() => bench.clear());

/** Uploads content up to its artifact, whose id it returns; `deps` may die on the way. */
async function attached(deps: Pick<Bench, "db" | "storage">, bytes: Buffer): Promise<number> {
  const upload = await storeContent(deps, bytes);
  nextArtifact += 1;
  const id = nextArtifact;
  const catalogue = {
    checkUpload: () => Promise.reject(new Error("not asked here")),
    attachArtifact: async () => ({ id, createdBy: "a", createdAt: 0 }),
  };
  const call = { principal, rid: "r", deadline: Date.now() + 5_000, uploader: "admin" };
  await attachUpload({ ...deps, catalogue, fault: () => {}, log: silentLog }, upload, call);
  return id;
}

const unheldSince = (interval: string) =>
  bench.sql(`update artifact_store.blobs set unheld_at = now() - interval '${interval}' where state = 'deleting'`);

it("a file that no artifact has any more is kept as long as it is set, and then removed", async () => {
  const { bytes, sha256 } = randomContent();
  const deps = { ...bench, keepMs: day, onSweepFailed: () => {} };
  await releaseArtifact(deps, { tenantId, artifactId: await attached(bench, bytes), sha256 });
  await sweepBlobs(deps);
  await unheldSince("23 hours");
  await sweepBlobs(deps);
  expect(await bench.files()).toEqual([contentKey(tenantId, sha256)]);
  await unheldSince("25 hours");
  await sweepBlobs(deps);
  expect(await bench.files()).toEqual([]);
  expect(await bench.rows()).toMatchObject({ blobs: 0, blobReferences: 0 });
});

it("the time begins anew when the content was held again meanwhile", async () => {
  const { bytes, sha256 } = randomContent();
  const deps = { ...bench, keepMs: day, onSweepFailed: () => {} };
  await releaseArtifact(deps, { tenantId, artifactId: await attached(bench, bytes), sha256 });
  await unheldSince("23 hours");
  const again = await attached(bench, bytes);
  await bench.sql("update artifact_store.blobs set unheld_at = now() - interval '30 days'");
  await sweepBlobs(deps);
  expect(await bench.files()).toHaveLength(1);
  await releaseArtifact(deps, { tenantId, artifactId: again, sha256 });
  await sweepBlobs(deps);
  expect(await bench.files()).toHaveLength(1);
});

/** A storage whose process dies before or after one of its next steps, as `random` says. */
function mortal(random: () => number): Bench["storage"] {
  const dying =
    <Args extends unknown[], Result>(act: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      if (random() < 0.1) throw new Error("died before a step");
      const result = await act(...args);
      if (random() < 0.1) throw new Error("died after a step");
      return result;
    };
  const { put, promote, stat, delete: remove } = bench.storage;
  return { ...bench.storage, put: dying(put), promote: dying(promote), stat: dying(stat), delete: dying(remove) };
}

/** Makes the same numbers between 0 and 1 for the same seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

it("no blob that is referenced is ever removed by sweeps beside uploads and releases of the same content that die anywhere", {
  timeout: 120_000,
}, async () => {
  const seed = Number(process.env["HARRIER_TEST_SEED"] ?? Date.now() % 100_000);
  const random = randomOf(seed);
  const contents = [randomContent(), randomContent()];
  const held = new Map<number, string>();
  const step = async (): Promise<void> => {
    const { bytes, sha256 } = contents[random() < 0.5 ? 0 : 1] as (typeof contents)[number];
    const deps = { ...bench, storage: mortal(random), onSweepFailed: () => {} };
    const what = random();
    if (what < 0.45) held.set(await attached(deps, bytes), sha256);
    else if (what < 0.8) {
      const [artifactId] = [...held].find(([, hash]) => hash === sha256) ?? [];
      if (artifactId === undefined) return;
      held.delete(artifactId);
      await releaseArtifact(deps, { tenantId, artifactId, sha256 });
    } else await sweepBlobs(deps);
  };
  let checked = 0;
  for (let round = 0; round < 40; round += 1) {
    await Promise.allSettled(Array.from({ length: 6 }, step));
    const referenced = await bench.sql<{ sha256: string }>(
      "select distinct r.sha256 from artifact_store.blob_references r join artifact_store.blobs b using (tenant_id, sha256)",
    );
    const files = new Set(await bench.files());
    for (const { sha256 } of referenced) expect(files.has(contentKey(tenantId, sha256)), `seed ${seed}, round ${round}`).toBe(true);
    checked += referenced.length;
  }
  expect(checked).toBeGreaterThan(20);
});
