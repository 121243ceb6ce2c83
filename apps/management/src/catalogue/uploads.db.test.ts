import { createJob } from "@harrier/jobs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listArtifacts, removeArtifact } from "../artifacts/artifacts.ts";
import { createSets } from "../distribution-sets/distribution-sets.ts";
import { jobs } from "../jobs.ts";
import { releaseDue } from "../operations/release-worker.ts";
import { changeModule, createModules, removeModule } from "../software-modules/software-modules.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";
import type { Upload } from "./uploads.ts";
import { attachArtifact, checkUpload } from "./uploads.ts";

let fixture: Fixture;
let n = 0;
const storedBytes = 5_000;
beforeAll(async () => {
  fixture = await managementFixture();
  await fixture.setQuota("ARTIFACTS_PER_SOFTWARE_MODULE_MAX_COUNT", 3);
  await fixture.setQuota("ARTIFACT_MAX_BYTES", 1_000);
  await fixture.setQuota("ARTIFACT_STORAGE_MAX_BYTES", storedBytes);
});
afterAll(() => fixture.close());

const newModule = async () => {
  const [module] = await createModules(fixture, fixture.actor, [{ name: `m-${n++}`, version: "1", type: "os", encrypted: false }]);
  return module?.id ?? 0;
};
const upload = (moduleId: number, members: Partial<Upload> = {}): Upload => ({
  moduleId,
  filename: `file-${n++}.bin`,
  size: 10,
  sha1: "a".repeat(40),
  md5: "b".repeat(32),
  sha256: "c".repeat(64),
  ...members,
});
const attach = (request: Upload, commandId = `command-${n++}`) =>
  attachArtifact({ ...fixture, fault: () => {} }, { ...fixture.actor, commandId }, request);
const stored = async () => Number((await fixture.rows("select artifact_bytes from tenants"))[0]?.["artifact_bytes"]);
const check = (moduleId: number, filename = "") => checkUpload(fixture, 1, { moduleId, filename });

test("an upload ends with a row, and updates the module, its sets and the tenant's storage", async () => {
  const moduleId = await newModule();
  const set = { name: `s-${n++}`, version: "1", type: "os", requiredMigrationStep: false, locked: false, modules: [{ id: moduleId }] };
  const [row] = await createSets({ ...fixture, fault: () => {} }, fixture.actor, [set]);
  const before = await stored();
  const request = upload(moduleId, { size: 123 });
  const attached = await attach(request);
  expect(attached).toMatchObject({ createdBy: "admin" });
  expect(attached.id).toBeGreaterThanOrEqual(11);
  expect(await listArtifacts(fixture, 1, moduleId)).toMatchObject([
    {
      id: attached.id,
      moduleId,
      filename: request.filename,
      size: 123,
      sha1: request.sha1,
      createdAt: attached.createdAt,
      moduleDeleted: false,
    },
  ]);
  expect(await stored()).toBe(before + 123);
  expect(await fixture.rows("select revision from software_modules where id = $1", [moduleId])).toEqual([{ revision: 2 }]);
  expect(await fixture.rows("select revision from distribution_sets where id = $1", [row?.id])).toEqual([{ revision: 2 }]);
});

test("a repeated command gets its first answer, also if it is concurrent, also if the artifact is deleted", async () => {
  const moduleId = await newModule();
  const request = upload(moduleId);
  const [one, two] = await Promise.all([attach(request, "same"), attach(request, "same")]);
  expect(two).toEqual(one);
  expect(await listArtifacts(fixture, 1, moduleId)).toHaveLength(1);
  await removeArtifact({ ...fixture, wake: () => {} }, fixture.actor, { moduleId, id: one.id });
  expect(await attach(request, "same")).toEqual(one);
  expect(await listArtifacts(fixture, 1, moduleId)).toHaveLength(0);
});

test("name, lock, count and size are refused, each with its own error, and nothing is stored", async () => {
  const moduleId = await newModule();
  const first = upload(moduleId);
  await attach(first);
  const before = await stored();
  await expect(attach(upload(moduleId, { filename: first.filename }))).rejects.toMatchObject({ code: "entityAlreadyExists" });
  await expect(attach(upload(moduleId, { size: 1001 }))).rejects.toMatchObject({ code: "fileSizeExceeded" });
  await expect(attach(upload(9999))).rejects.toMatchObject({ code: "entityNotFound" });
  await changeModule(fixture, fixture.actor, { id: moduleId, change: { locked: true } });
  await expect(attach(upload(moduleId))).rejects.toMatchObject({ code: "locked" });
  await expect(check(moduleId)).rejects.toMatchObject({ code: "locked" });
  await changeModule(fixture, fixture.actor, { id: moduleId, change: { locked: false } });
  expect(await stored()).toBe(before);
  await attach(upload(moduleId));
  await attach(upload(moduleId));
  await expect(attach(upload(moduleId))).rejects.toMatchObject({ code: "quotaTooManyEntries" });
  await expect(check(moduleId)).rejects.toMatchObject({ code: "quotaTooManyEntries" });
});

test("of two concurrent uploads with the same name one succeeds", async () => {
  const moduleId = await newModule();
  const results = await Promise.allSettled([1, 2, 3].map(() => attach(upload(moduleId, { filename: "same.bin" }))));
  expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(1);
  for (const result of results) if (result.status === "rejected") expect(result.reason.code).toBe("entityAlreadyExists");
});

test("a check says how long the file may be, and changes nothing", async () => {
  const moduleId = await newModule();
  expect(await check(moduleId)).toEqual({ maxBytes: 1000, storageBound: false, storageLeft: expect.any(Number) });
  await fixture.rows("update tenants set artifact_bytes = 4900");
  expect(await check(moduleId)).toEqual({ maxBytes: 100, storageBound: true, storageLeft: 100 });
  await fixture.rows("update tenants set artifact_bytes = 5000");
  await expect(check(moduleId)).rejects.toMatchObject({ code: "storageExceeded" });
  await expect(check(9999)).rejects.toMatchObject({ code: "entityNotFound" });
  await fixture.rows("update tenants set artifact_bytes = (select sum(size) from artifacts)");
  expect(await fixture.rows("select 1 from artifacts where module_id = $1", [moduleId])).toEqual([]);
});

test("concurrent uploads into many modules do not exceed the tenant's storage", async () => {
  const before = await stored();
  const room = Math.floor((storedBytes - before) / 900);
  const modules = await Promise.all(Array.from({ length: room + 3 }, newModule));
  const results = await Promise.allSettled(modules.map((id) => attach(upload(id, { size: 900 }))));
  expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(room);
  for (const result of results) if (result.status === "rejected") expect(result.reason.code).toBe("storageExceeded");
  for (const id of modules) await removeModule(fixture, fixture.actor, { id });
  expect(await stored()).toBe(before);
});

test("a deletion releases the bytes: row and operation are written together, and the release is retried until acknowledged", async () => {
  await fixture.rows("delete from operations");
  const moduleId = await newModule();
  const { id } = await attach(upload(moduleId));
  const before = await stored();
  await changeModule(fixture, fixture.actor, { id: moduleId, change: { locked: true } });
  const remove = (artifactId: number) => removeArtifact({ ...fixture, wake: () => {} }, fixture.actor, { moduleId, id: artifactId });
  await expect(remove(id)).rejects.toMatchObject({ code: "locked" });
  await changeModule(fixture, fixture.actor, { id: moduleId, change: { locked: false } });
  await expect(remove(9999)).rejects.toMatchObject({ code: "entityNotFound" });
  await remove(id);
  expect(await stored()).toBe(before - 10);

  const requested: unknown[] = [];
  let alive = false;
  const releaseArtifact = async (request: object, call: { principal: { tenantId: number; kind: string } }) => {
    if (!alive) throw new Error("artifact-store is down");
    requested.push({ ...request, tenantId: call.principal.tenantId, kind: call.principal.kind });
    return {};
  };
  const worker = { db: fixture.db.pool, artifacts: { releaseArtifact }, log: { warn: () => {} } };
  await releaseDue(worker);
  expect(await fixture.rows("select attempts, last_error, due_at > now() as later from operations")).toEqual([
    { attempts: 1, last_error: "Error: artifact-store is down", later: true },
  ]);
  alive = true;
  await releaseDue(worker);
  expect(requested).toEqual([]);
  await fixture.rows("update operations set due_at = now()");
  await releaseDue(worker);
  expect(requested).toEqual([{ artifactId: id, sha256: "c".repeat(64), tenantId: 1, kind: "service" }]);
  expect(await fixture.rows("select * from operations")).toEqual([]);
});

test("a deleted module releases all its artifacts once, and their rows can still be read", async () => {
  const moduleId = await newModule();
  await attach(upload(moduleId));
  const { id } = await attach(upload(moduleId));
  const set = { name: `s-${n++}`, version: "1", type: "os", requiredMigrationStep: false, locked: false, modules: [{ id: moduleId }] };
  await createSets({ ...fixture, fault: () => {} }, fixture.actor, [set]);
  const before = await stored();
  await removeModule(fixture, fixture.actor, { id: moduleId });
  expect(await fixture.rows("select 1 from operations")).toHaveLength(2);
  expect(await stored()).toBe(before - 20);
  expect(await listArtifacts(fixture, 1, moduleId)).toMatchObject([{ moduleDeleted: true }, { moduleDeleted: true }]);
  await expect(attach(upload(moduleId))).rejects.toMatchObject({ code: "entityNotFound" });
  await removeArtifact({ ...fixture, wake: () => {} }, fixture.actor, { moduleId, id });
  expect(await fixture.rows("select 1 from operations")).toHaveLength(2);
  expect(await stored()).toBe(before - 20);
  await fixture.rows("delete from operations");
});

test("two workers share the operations, and none is done twice", async () => {
  const moduleId = await newModule();
  for (let i = 0; i < 3; i++) await attach(upload(moduleId));
  await removeModule(fixture, fixture.actor, { id: moduleId });
  const requested: number[] = [];
  const releaseArtifact = async (request: { artifactId?: unknown }) => {
    requested.push(Number(request.artifactId));
    return {};
  };
  const releases = { db: fixture.db.pool, artifacts: { releaseArtifact }, log: { warn: () => {} } };
  const workers = [1, 2].map(() => createJob(jobs["artifact-releases"], { releases }, { log: {}, everyMs: 5 }));
  for (const worker of workers) void worker.start();
  await expect.poll(() => fixture.rows("select 1 from operations")).toEqual([]);
  await Promise.all(workers.map((worker) => worker.stop()));
  expect(requested.toSorted()).toEqual([...new Set(requested)].toSorted());
  expect(requested).toHaveLength(3);
});
