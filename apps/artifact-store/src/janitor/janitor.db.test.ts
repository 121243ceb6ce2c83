import { randomUUID } from "node:crypto";
import { utimes } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { createDatabase } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { BlobHashes } from "../blobs/blobs.sql.ts";
import { sweepBlobs } from "../blobs/blobs.ts";
import { contentKey, type Storage, stagingKey } from "../storage/storage.ts";
import { type Bench, openBench, principal, randomContent, silentLog, storeContent, tenantId } from "../testing.suite.ts";
import type { Catalogue } from "../upload/attach.ts";
import { type UploadDeps, uploadArtifact } from "../upload/upload-artifact.ts";
import { createJanitor, type JanitorDeps, mendUploads, removeStrays } from "./janitor.ts";

const empty = { blobs: 0, blobReferences: 0, uploads: 0 };
let bench: Bench;

beforeAll(async () => {
  bench = await openBench();
  await bench.sql("insert into management.tenants (tenant_id, name, default_set_type_id) values (1, 'DEFAULT', 11) on conflict do nothing");
  await bench.sql(`insert into management.software_module_types (tenant_id, id, key, name, max_assignments, created_by, last_modified_by)
                   values (1, 11, 'os', 'OS', 1, 'a', 'a') on conflict do nothing`);
  await bench.sql(`insert into management.software_modules (tenant_id, id, type_id, name, version, created_by, last_modified_by)
                   values (1, 11, 11, 'm', '1', 'a', 'a')`);
});
afterAll(async () => bench?.dispose());
beforeEach(() => bench.clear());

/** Creates a test double of management that keeps its answers: the same command gives the same artifact. */
function createCatalogue(): Catalogue & { answers: Map<string, number>; calls: number; failure: HarrierError | undefined } {
  const answers = new Map<string, number>();
  return {
    answers,
    calls: 0,
    failure: undefined,
    checkUpload: async () => ({ maxBytes: 1_000_000, storageBound: false, storageLeft: 0 }),
    async attachArtifact(request, { commandId = "" }) {
      this.calls += 1;
      if (this.failure !== undefined) throw this.failure;
      const id = answers.get(commandId) ?? 100 + answers.size;
      answers.set(commandId, id);
      await bench.sql(
        `insert into management.artifacts (tenant_id, id, module_id, filename, size, sha1, md5, sha256, created_by, last_modified_by)
         values (1, $1, 11, $2, $3, $4, $5, $6, 'a', 'a') on conflict do nothing`,
        [id, request.filename, request.size, request.sha1, request.md5, request.sha256],
      );
      return { id, createdBy: "admin", createdAt: 1 };
    },
  };
}

const depsWith = (catalogue: Catalogue, storage: Storage = bench.storage): JanitorDeps & UploadDeps => ({
  db: bench.db,
  storage,
  catalogue,
  fault: () => {},
  now: Date.now,
  log: silentLog,
});

function upload(deps: UploadDeps, bytes: Buffer): Promise<unknown> {
  return uploadArtifact(deps, {
    principal,
    rid: "r",
    moduleId: 11,
    given: {},
    read: async (store: (file: Readable) => Promise<BlobHashes>) => ({
      fields: {},
      file: { originalName: "fw.bin", stored: await store(Readable.from([bytes.subarray(0, 10), bytes.subarray(10)])) },
    }),
  });
}

/** Lets all leases run out, as after the death of their process, and runs the janitor. */
async function mend(deps: JanitorDeps): Promise<number> {
  await bench.sql("update artifact_store.uploads set lease_until = now() - interval '1 second'");
  const mended = await mendUploads(deps);
  await sweepBlobs(deps);
  return mended;
}

/** Expects either an artifact with its reference and its bytes, or no trace of it at all. */
async function expectWhole(sha256: string): Promise<"there" | "gone"> {
  const artifacts = await bench.sql<{ id: number }>("select id::int from management.artifacts");
  const rows = await bench.rows();
  const files = await bench.files();
  if (artifacts.length === 0) {
    expect([rows, files]).toEqual([empty, []]);
    return "gone";
  }
  expect([rows, files]).toEqual([{ blobs: 1, blobReferences: 1, uploads: 0 }, [contentKey(tenantId, sha256)]]);
  return "there";
}

const never = new Promise<never>(() => {});

/** Creates the dependencies of a process that is killed before or after its nth step: nothing that follows happens. */
function dyingAt(step: number, when: "before" | "after") {
  const catalogue = createCatalogue();
  let steps = 0;
  let died: () => void = () => {};
  const death = new Promise<void>((resolve) => {
    died = resolve;
  });
  const dying = <Args extends unknown[], Result>(act: (...args: Args) => Promise<Result>) => {
    return async (...args: Args): Promise<Result> => {
      steps += 1;
      if (steps > step) return never;
      if (steps === step && when === "before") {
        died();
        return never;
      }
      const result = await act(...args);
      if (steps < step) return result;
      died();
      return never;
    };
  };
  const { put, promote, stat, delete: remove } = bench.storage;
  const storage = { ...bench.storage, put: dying(put), promote: dying(promote), stat: dying(stat), delete: dying(remove) };
  const attachArtifact = dying(catalogue.attachArtifact.bind(catalogue));
  const fault = dying(async () => {});
  // the connections of a killed process end with it, and so do its locks
  const applicationName = `dying ${randomUUID()}`;
  const db = createDatabase({ url: bench.database.urlOf("artifact-store"), applicationName });
  const bury = () => bench.sql("select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1", [applicationName]);
  return { catalogue, death: death.then(bury), db, deps: { ...depsWith({ ...catalogue, attachArtifact }, storage), db, fault } };
}

describe("janitor", () => {
  it.each(["before", "after"] as const)("ends an upload whose process was killed %s any step", async (when) => {
    const ends: string[] = [];
    for (let step = 1; ; step += 1) {
      const { bytes, sha256 } = randomContent();
      const { deps, death, catalogue, db } = dyingAt(step, when);
      const outcome = await Promise.race([upload(deps, bytes).then(() => "done"), death.then(() => "died")]);
      if (outcome === "died") {
        // management may have written the artifact for the killed process; another process's janitor must reach the same end
        await mend(depsWith(catalogue));
        ends.push(await expectWhole(sha256));
      }
      await bench.clear();
      if (outcome === "done") {
        await db.close();
        break;
      }
    }
    // the steps are put, fault, stat, promote, stat, delete, fault, attach, fault
    expect(ends.length).toBeGreaterThanOrEqual(9);
    expect(new Set(ends)).toEqual(new Set(["gone", "there"]));
    expect(ends.toSorted()).toEqual(ends); // "gone" sorts before "there": from the step that holds the blob on, the artifact exists
  });

  it("repeats the same command until it gets an answer", async () => {
    const { bytes, sha256 } = randomContent();
    const pending = await storeContent(bench, bytes);
    const catalogue = createCatalogue();
    catalogue.failure = new HarrierError("unavailable");
    await mend(depsWith(catalogue));
    await mend(depsWith(catalogue));
    expect(await bench.rows()).toEqual({ blobs: 1, blobReferences: 0, uploads: 1 });
    const [row] = await bench.sql<{ attempts: number; last_error: string }>("select attempts, last_error from artifact_store.uploads");
    expect(row).toEqual({ attempts: 2, last_error: "unavailable" });
    catalogue.failure = undefined;
    await mend(depsWith(catalogue));
    expect([...catalogue.answers.keys()]).toEqual([pending.id]);
    expect(await expectWhole(sha256)).toBe("there");
  });

  it("releases the blob if management refuses the artifact", async () => {
    await storeContent(bench, randomContent().bytes);
    const catalogue = createCatalogue();
    catalogue.failure = new HarrierError("locked");
    await mend(depsWith(catalogue));
    expect(await bench.rows()).toEqual(empty);
    expect(await bench.files()).toEqual([]);
  });

  it("finds the artifact of its own earlier attempt if management no longer keeps the command's answer", async () => {
    const { bytes, sha256 } = randomContent();
    const pending = await storeContent(bench, bytes);
    const catalogue = createCatalogue();
    await catalogue.attachArtifact({ ...pending }, { commandId: pending.id } as never);
    catalogue.failure = new HarrierError("entityAlreadyExists");
    await mend(depsWith(catalogue));
    expect(await expectWhole(sha256)).toBe("there");
  });

  it("does not mistake another upload's artifact of the same name for its own", async () => {
    const { bytes } = randomContent();
    await storeContent(bench, bytes);
    const catalogue = createCatalogue();
    catalogue.failure = new HarrierError("entityAlreadyExists");
    await mend(depsWith(catalogue));
    expect(await bench.rows()).toEqual(empty);
  });

  it("settles an upload by management's published rows after a day without an answer", async () => {
    await storeContent(bench, randomContent().bytes);
    await bench.sql("update artifact_store.uploads set created_at = now() - interval '25 hours'");
    const catalogue = createCatalogue();
    catalogue.failure = new HarrierError("internal");
    await mend(depsWith(catalogue));
    expect(await bench.rows()).toEqual(empty);
    expect(await bench.files()).toEqual([]);
  });

  it("does not touch uploads whose process is alive", async () => {
    await storeContent(bench, randomContent().bytes);
    expect(await mendUploads(depsWith(createCatalogue()))).toBe(0);
  });

  it("claims each upload for one janitor only when several run at once", async () => {
    for (let i = 0; i < 5; i += 1) await storeContent(bench, randomContent().bytes);
    await bench.sql("update artifact_store.uploads set lease_until = now() - interval '1 second'");
    const catalogue = createCatalogue();
    const counts = await Promise.all(Array.from({ length: 4 }, () => mendUploads(depsWith(catalogue))));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(5);
    expect(catalogue.calls).toBe(5);
  });

  it("keeps a process that lost its lease from changing anything", async () => {
    const { bytes } = randomContent();
    const stolen: Storage = {
      ...bench.storage,
      async put(key, source) {
        await bench.storage.put(key, source);
        await mend(depsWith(createCatalogue()));
      },
    };
    await expect(upload(depsWith(createCatalogue(), stolen), bytes)).rejects.toMatchObject({ code: "unavailable" });
    expect(await bench.rows()).toEqual(empty);
    expect(await bench.files()).toEqual([]);
  });

  it("rests where it has found nothing", async () => {
    const round = createJanitor(depsWith(createCatalogue()));
    expect(await round()).toBe(false);
    await storeContent(bench, randomContent().bytes);
    await bench.sql("update artifact_store.uploads set lease_until = now() - interval '1 second'");
    expect(await round()).toBeUndefined();
    expect(await round()).toBe(false);
  });

  it("removes old staged objects without an upload", async () => {
    const stray = stagingKey(tenantId, randomUUID());
    await bench.storage.put(stray, Readable.from([Buffer.from("x")]));
    expect(await removeStrays(depsWith(createCatalogue()))).toBe(0);
    const longAgo = new Date(Date.now() - 2 * 3_600_000);
    await utimes(join(bench.root, stray), longAgo, longAgo);
    expect(await removeStrays(depsWith(createCatalogue()))).toBe(1);
    expect(await bench.files()).toEqual([]);
  });
});
