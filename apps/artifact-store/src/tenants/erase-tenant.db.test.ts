import { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { dumpTenants, withClient } from "@harrier/testkit";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { contentKey, stagingKey } from "../storage/storage.ts";
import { type Bench, openBench, principal, randomContent, silentLog, storeContent, tenantId } from "../testing.suite.ts";
import { attachUpload } from "../upload/attach.ts";
import { openUpload } from "../upload/lease.ts";
import { dropUpload } from "../upload/store.ts";
import { eraseTenant } from "./erase-tenant.ts";

let bench: Bench;
let nextArtifact = 100;
const call = { principal: { ...principal, permissions: [] } };

beforeAll(async () => {
  bench = await openBench();
  await bench.sql("insert into management.tenants (tenant_id, name, default_set_type_id) values (1, 'DEFAULT', 13)");
});
afterAll(async () => bench?.dispose());
beforeEach(async () => {
  await bench.clear();
  await bench.sql("update management.tenants set status = 'active'");
});

async function attached(bytes: Buffer): Promise<void> {
  const upload = await storeContent(bench, bytes);
  const attachArtifact = async () => ({ id: nextArtifact++, createdBy: "admin", createdAt: 0 });
  const catalogue = { checkUpload: () => Promise.reject(new Error("not asked here")), attachArtifact };
  const deps = { ...bench, catalogue, fault: () => {}, log: silentLog };
  await attachUpload(deps, upload, { principal, rid: "r", deadline: Date.now() + 5_000, uploader: "admin" });
}
/** Makes uploads in parts that have received one part each. */
async function partsOf(count: number): Promise<void> {
  const uploads = await bench.sql<{ id: string }>(
    `insert into artifact_store.resumable_uploads (tenant_id, id, module_id, filename, size, given, received, hash_states, place, expires_at)
     select $1, gen_random_uuid(), 11, 'f' || n, 100, '{}', 10, '', 'directory', now() + interval '1 day' from generate_series(1, $2) as n
     returning id`,
    [tenantId, count],
  );
  await bench.sql(
    "insert into artifact_store.upload_parts (tenant_id, upload_id, number, receipt) select tenant_id, id, 1, '0' from artifact_store.resumable_uploads",
  );
  for (const { id } of uploads) {
    const part = { key: stagingKey(tenantId, id), place: null, number: 1, offset: 0, size: 10, interruptions: 0 };
    await bench.storage.putPart(part, Readable.from([Buffer.alloc(10)]));
  }
}
const dump = () => withClient(bench.database.adminUrl, (client) => dumpTenants(client, [tenantId]));
const erased = async (): Promise<number> => {
  for (let rows = 0; ; ) {
    const slice = await eraseTenant(bench, { countOnly: false }, call);
    rows += slice.rows;
    if (slice.done) return rows;
  }
};

test("a tenant that is not being deleted keeps its rows and its files", async () => {
  await attached(randomContent().bytes);
  const before = [await dump(), await bench.files()];
  await expect(eraseTenant(bench, { countOnly: false }, call)).rejects.toMatchObject({ code: "constraintViolation" });
  expect([await dump(), await bench.files()]).toEqual(before);
});

test("references, blobs, running uploads and all files are erased; those of another tenant stay", async () => {
  const { bytes, sha256 } = randomContent();
  for (let n = 0; n < 25; n += 1) await attached(randomContent(500).bytes);
  await attached(bytes);
  await attached(bytes);
  await storeContent(bench, randomContent().bytes);
  const staged = await openUpload(bench.db, principal, 11);
  const key = stagingKey(tenantId, staged.id);
  await bench.storage.put(key, Readable.from([bytes]));
  await partsOf(30);
  await bench.sql(
    `insert into artifact_store.blobs (tenant_id, sha256, sha1, md5, size, state)
     select 2, sha256, sha1, md5, size, state from artifact_store.blobs where sha256 = $1`,
    [sha256],
  );
  await bench.storage.promote(contentKey(tenantId, sha256), contentKey(2, sha256));
  await bench.sql("update management.tenants set status = 'deleting'");
  const { rows } = await eraseTenant(bench, { countOnly: true }, call);
  expect(rows).toBe(27 + 27 + 2 + 2 * 30);
  // rows of parts go with their uploads
  expect(await erased()).toBe(rows - 30);
  expect(await bench.files()).toEqual([`2/${sha256}`]);
  expect(Object.keys(await dump()).filter((table) => table.startsWith("artifact_store."))).toEqual([]);
  expect(await bench.rows()).toEqual({ blobs: 1, blobReferences: 0, uploads: 0 });
});

test("blobs are swept a few at a time, so that a slow store leaves connections for other commands", async () => {
  for (let n = 0; n < 12; n += 1) await attached(randomContent(500).bytes);
  await bench.sql("update management.tenants set status = 'deleting'");
  let max = 0;
  let open = 0;
  const storage = {
    ...bench.storage,
    delete: async (key: string) => {
      open += 1;
      max = Math.max(max, open);
      await wait(20);
      await bench.storage.delete(key);
      open -= 1;
    },
  };
  while (!(await eraseTenant({ ...bench, storage }, { countOnly: false }, call)).done);
  expect(max).toBe(3);
  expect(await bench.files()).toEqual([]);
  expect(await bench.rows()).toMatchObject({ blobs: 0, blobReferences: 0 });
});

test("an upload whose row is erased while it runs ends and leaves nothing behind", async () => {
  const upload = await storeContent(bench, randomContent().bytes);
  await bench.sql("update management.tenants set status = 'deleting'");
  await erased();
  await dropUpload(bench, upload, upload);
  expect(await bench.files()).toEqual([]);
  expect(await bench.rows()).toEqual({ blobs: 0, blobReferences: 0, uploads: 0 });
});

test("the row of an object is kept while the store cannot delete the object", async () => {
  await attached(randomContent().bytes);
  await bench.sql("update management.tenants set status = 'deleting'");
  const storage = { ...bench.storage, delete: () => Promise.reject(new Error("no store")) };
  await expect(eraseTenant({ ...bench, storage }, { countOnly: false }, call)).rejects.toThrow("no store");
  expect(await bench.rows()).toMatchObject({ blobs: 1 });
  await erased();
  expect(await bench.files()).toEqual([]);
});
