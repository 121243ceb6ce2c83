import { afterAll, beforeAll, expect, it } from "vitest";
import { releaseArtifact } from "../blobs/blobs.ts";
import { form, type RunningService, startService } from "../service.suite.ts";
import { principal, randomContent, storeContent, tenantId } from "../testing.suite.ts";
import { attachUpload } from "./attach.ts";

const path = "/api/mgmt/v1/softwaremodules/11/artifacts";
let service: RunningService;

beforeAll(async () => {
  // no disk has this much room, so the service finds its disk below the reserve from the start
  service = await startService({ HARRIER_STORAGE_RESERVE: String(Number.MAX_SAFE_INTEGER) });
});
afterAll(async () => service?.stop());

it.each(["/api/mgmt/v1", "/rest/v1"])("refuses uploads under %s with 507 while the disk is below its reserve", async (base) => {
  const answer = await service.call(
    "POST",
    `${base}/softwaremodules/11/artifacts`,
    form({ name: "file", filename: "fw.bin", body: randomContent(300_000).bytes }),
  );
  expect(answer.status).toBe(507);
  expect(answer.json()).toMatchObject({
    errorCode: "hawkbit.server.error.artifact.uploadFailed",
    message: expect.stringMatching(/store for artifacts is full/),
  });
  expect(await service.bench.files()).toEqual([]);
  expect(await service.bench.rows()).toEqual({ blobs: 0, blobReferences: 0, uploads: 0 });
});

it("still serves and deletes artifacts while the disk is below its reserve, and says so in its readiness", async () => {
  const { bench, neighbours } = service;
  const { bytes } = randomContent();
  // the storage of the fixture stores this file, because it has no reserve
  const upload = await storeContent(bench, bytes);
  const log = { warn: () => {} };
  const catalogue = {
    checkUpload: async () => ({ maxBytes: 1, storageBound: false, storageLeft: 0 }),
    attachArtifact: async () => ({ id: 900, createdBy: "admin", createdAt: 0 }),
  };
  await attachUpload({ ...bench, catalogue, log, fault: () => {} }, upload, {
    principal,
    rid: "r",
    uploader: "admin",
    deadline: Date.now() + 5_000,
  });
  await bench.sql(
    `insert into management.artifacts (tenant_id, id, module_id, filename, size, sha1, md5, sha256, created_by, last_modified_by)
     values ($1, 900, 11, 'kept.bin', $2, $3, $4, $5, 'admin', 'admin')`,
    [tenantId, upload.size, upload.sha1, upload.md5, upload.sha256],
  );
  const download = await service.call("GET", `${path}/900/download`);
  expect([download.status, download.body]).toEqual([200, bytes]);

  const ready = await service.call("GET", "/readyz");
  expect(ready.status).toBe(200);
  expect(ready.json()).toMatchObject({ ready: true, checks: { storage: expect.stringMatching(/^degraded: disk below reserve/) } });

  await releaseArtifact(
    { ...bench, onSweepFailed: (error) => expect.fail(String(error)) },
    { tenantId, artifactId: 900, sha256: upload.sha256 },
  );
  expect(await bench.files()).toEqual([]);
  expect(neighbours.attached).toEqual([]);
});
