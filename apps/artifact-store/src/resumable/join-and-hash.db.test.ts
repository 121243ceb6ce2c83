import { Readable } from "node:stream";
import { TenantLimiter } from "@harrier/service";
import { eventually } from "@harrier/testkit";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { hashThreads } from "../hashing/file-hashes.ts";
import { partSize, type Storage, stagingKey } from "../storage/storage.ts";
import { type Bench, openBench, principal, randomContent, silentLog, tenantId } from "../testing.suite.ts";
import { completeUpload } from "./complete-upload.ts";
import { type JoinDeps, joinAndHash, waitForJoin } from "./join-and-hash.ts";
import { KeptHashes } from "./kept-hashes.ts";
import { receivePart } from "./receive-part.ts";
import { type Claimed, claimAt } from "./resumable.ts";

let bench: Bench;
/** How often a file was read, how many are read now, and what a reading waits for. */
let reads: number;
let reading: number;
let gate: Promise<void>;

beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench.dispose());
beforeEach(() => {
  [reads, reading, gate] = [0, 0, Promise.resolve()];
});

function depsOf(more: Partial<Omit<JoinDeps, "fault">> = {}) {
  const storage: Storage = {
    ...bench.storage,
    open: async (...args) => {
      reads += 1;
      reading += 1;
      await gate;
      reading -= 1;
      return await bench.storage.open(...args);
    },
  };
  const kept = new KeptHashes();
  const readers = new TenantLimiter({ perTenant: 1, total: 2, waiting: 50 });
  return {
    db: bench.db,
    storage,
    keepMs: 0,
    kept,
    readers,
    idleMs: 10_000,
    joinMs: 10_000,
    fault: (_name: string) => undefined,
    log: silentLog,
    ...more,
  };
}

/** An upload of two parts that has all its bytes. */
async function sent(deps: ReturnType<typeof depsOf>) {
  const content = randomContent(partSize + 1_000);
  const [row] = await bench.sql<{ id: string }>(
    `insert into artifact_store.resumable_uploads (tenant_id, id, module_id, filename, size, given, expires_at)
     values ($1, gen_random_uuid(), 11, 'fw.bin', $2, '{}', now() + interval '1 day') returning id`,
    [tenantId, content.bytes.length],
  );
  const named = { tenantId, moduleId: 11, uploadId: row?.id ?? "" };
  for (const offset of [0, partSize]) {
    const source = Readable.from([content.bytes.subarray(offset, offset + partSize)]);
    await receivePart(deps, { ...named, offset, length: undefined, digest: undefined, source });
  }
  const { sha256, sha1, md5 } = content;
  return { named, size: content.bytes.length, hashes: { sha256, sha1, md5 } };
}

/** One that is leased as by a completion. */
async function whole(deps: ReturnType<typeof depsOf>) {
  const { named, size, hashes } = await sent(deps);
  return { named, upload: await claimAt(deps, named, size), hashes };
}

const rowOf = async ({ id }: Claimed) =>
  (
    await bench.sql<{ hashes: object | null; leased: boolean }>(
      "select hashes, lease_id is not null as leased from artifact_store.resumable_uploads where id = $1",
      [id],
    )
  )[0];

it("has the hashes of the parts without reading them again, and saves them", async () => {
  const deps = depsOf();
  const { upload, hashes } = await whole(deps);
  expect(await joinAndHash(deps, upload)).toEqual(hashes);
  expect([reads, await rowOf(upload)]).toEqual([0, { hashes, leased: true }]);
  expect(await bench.storage.stat(stagingKey(tenantId, upload.id))).toEqual({ size: upload.size });
});

it("reads the file where another process has received parts, one of a tenant at a time", async () => {
  const deps = depsOf({ kept: new KeptHashes() });
  const uploads = [await whole(depsOf()), await whole(depsOf()), await whole(depsOf())];
  let open = (): void => undefined;
  gate = new Promise((resolve) => {
    open = resolve;
  });
  const found = uploads.map(({ upload }) => joinAndHash(deps, upload));
  await eventually(() => expect(reading).toBe(1));
  open();
  expect(await Promise.all(found)).toEqual(uploads.map(({ hashes }) => hashes));
  expect(reads).toBe(3);
});

it("goes on under its lease where it takes longer than the client should wait, and the next completion finds what it has saved", async () => {
  const deps = depsOf({ kept: new KeptHashes(), joinMs: 50 });
  const { named, upload, hashes } = await whole(depsOf());
  let open = (): void => undefined;
  gate = new Promise((resolve) => {
    open = resolve;
  });
  expect(await joinAndHash(deps, upload)).toBeUndefined();
  expect(await waitForJoin(deps, upload.id)).toBe("late");
  await expect(claimAt(deps, named, upload.size)).rejects.toMatchObject({ code: "tooManyRequests" });
  open();
  await eventually(async () => expect(await rowOf(upload)).toEqual({ hashes, leased: false }));
  expect(await waitForJoin(deps, upload.id)).toBe("idle");
  expect((await claimAt(deps, named, upload.size)).hashes).toEqual(hashes);
  expect(reads).toBe(1);
});

it("gives its lease back where it fails while nobody waits, so that the upload can be completed again", async () => {
  const warned: string[] = [];
  const log = { warn: (_fields: object, message: string) => void warned.push(message) };
  const deps = depsOf({ kept: new KeptHashes(), joinMs: 50, log });
  const { named, upload, hashes } = await whole(depsOf());
  let fail = (_error: Error): void => undefined;
  gate = new Promise((_resolve, reject) => {
    fail = reject;
  });
  expect(await joinAndHash(deps, upload)).toBeUndefined();
  // only a reading that waits hears of the failure
  await eventually(() => expect(reading).toBe(1));
  fail(new Error("the disk does not answer"));
  await eventually(async () => expect(await rowOf(upload)).toEqual({ hashes: null, leased: false }));
  expect(warned).toEqual(["an upload in parts could not be joined; it can be completed again"]);
  gate = Promise.resolve();
  expect(await joinAndHash(depsOf(), await claimAt(deps, named, upload.size))).toEqual(hashes);
});

it("gives up a file of which no byte comes any more, so that others can be read", async () => {
  const deps = depsOf({ kept: new KeptHashes(), idleMs: 100 });
  const { upload } = await whole(depsOf());
  const silent = new Readable({ read: () => undefined });
  silent.push(Buffer.alloc(10));
  const stuck = joinAndHash({ ...deps, storage: { ...deps.storage, open: async () => silent } }, upload);
  await expect(stuck).rejects.toMatchObject({ code: "unavailable" });
  const next = await whole(depsOf());
  expect(await joinAndHash(deps, next.upload)).toEqual(next.hashes);
});

it("saves no hashes of a file of which too few bytes come", async () => {
  const deps = depsOf({ kept: new KeptHashes() });
  const { upload } = await whole(depsOf());
  const short = { ...deps.storage, open: async () => Readable.from([Buffer.alloc(10)]) };
  await expect(joinAndHash({ ...deps, storage: short }, upload)).rejects.toMatchObject({ code: "unavailable" });
  expect(await rowOf(upload)).toEqual({ hashes: null, leased: true });
});

it("reads the file where a thread that had its hashes has died", async () => {
  const deps = depsOf();
  const { upload, hashes } = await whole(deps);
  await hashThreads.end();
  expect(await joinAndHash(deps, upload)).toEqual(hashes);
  expect(reads).toBe(1);
});

it("saves nothing when its lease is lost meanwhile", async () => {
  const deps = depsOf();
  const { upload } = await whole(deps);
  await bench.sql("update artifact_store.resumable_uploads set lease_id = gen_random_uuid() where id = $1", [upload.id]);
  await expect(joinAndHash(deps, upload)).rejects.toMatchObject({ code: "unavailable" });
  expect(await rowOf(upload)).toEqual({ hashes: null, leased: true });
});

it("a completion is 503 with Retry-After while its file is read, as is one that waits beside it, and then it has the artifact", async () => {
  const { named, size, hashes } = await sent(depsOf());
  const made = { id: 7, createdBy: "admin", createdAt: 1 };
  const catalogue = { checkUpload: async () => ({ maxBytes: size, storageBound: false }), attachArtifact: async () => made };
  const deps = { ...depsOf({ kept: new KeptHashes(), joinMs: 50 }), catalogue: catalogue as never, now: Date.now };
  const complete = () => completeUpload(deps, { ...named, principal, rid: "r", given: {} });
  let open = (): void => undefined;
  gate = new Promise((resolve) => {
    open = resolve;
  });
  const late = { code: "unavailable", headers: { "retry-after": "5" } };
  await expect(complete()).rejects.toMatchObject(late);
  await expect(complete()).rejects.toMatchObject(late);
  open();
  await eventually(async () => expect(await waitForJoin(deps, named.uploadId)).toBe("idle"));
  await eventually(async () => expect(await complete()).toMatchObject({ ...made, ...hashes, size }));
  expect(reads).toBe(1);
});
