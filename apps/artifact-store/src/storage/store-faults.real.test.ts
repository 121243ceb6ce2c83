import { createHash, randomBytes, randomUUID } from "node:crypto";
import { type FaultyStore, type Minio, type StoreFault, startFaultyStore, startMinio } from "@harrier/testkit";
import { Client } from "minio";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Damage, scrub } from "../scrub/scrub.ts";
import { type Answer, form, type RunningService, startService } from "../service.suite.ts";
import { tenantId } from "../testing.suite.ts";
import { createS3Storage } from "./s3.ts";
import { contentKey, partSize, stagingPrefix } from "./storage.ts";

// A real MinIO that answers 503 or slowly, and one that has lost an object: uploads in one request and in parts, and downloads.

const artifacts = "/api/mgmt/v1/softwaremodules/11/artifacts";
const uploads = `${artifacts}/uploads`;
const bucket = `store-faults-${randomUUID()}`;
let minio: Minio;
let store: FaultyStore;
let client: Client;
let service: RunningService;

beforeAll(async () => {
  minio = await startMinio();
  store = await startFaultyStore(minio.endpoint);
  const { accessKey, secretKey } = minio;
  const { hostname, port } = new URL(minio.endpoint);
  client = new Client({ endPoint: hostname, port: Number(port), useSSL: false, accessKey, secretKey });
  service = await startService({
    HARRIER_STORAGE_DIR: undefined,
    HARRIER_S3_ENDPOINT: store.endpoint,
    HARRIER_S3_ACCESS_KEY: accessKey,
    HARRIER_S3_SECRET_KEY: secretKey,
    HARRIER_S3_BUCKET: bucket,
  });
});
afterAll(async () => {
  await service?.stop();
  await store?.stop();
  await minio?.stop();
});
afterEach(() => store.fault());

const shaOf = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
const upload = (bytes: Buffer, name: string = randomUUID()): Promise<Answer> =>
  service.call("POST", artifacts, form({ name: "file", filename: name, body: bytes }));
const download = (answer: Answer, headers: Record<string, string> = {}): Promise<Answer> =>
  service.call("GET", `${artifacts}/${String(answer.json()["id"])}/download`, { headers });

/** Opens an upload in parts. */
async function inParts(bytes: Buffer) {
  const body = Buffer.from(JSON.stringify({ filename: randomUUID(), size: bytes.length }));
  const opened = await service.call("POST", uploads, { headers: { "content-type": "application/json" }, body });
  const own = `${uploads}/${String(opened.json()["id"])}`;
  return {
    put(offset: number): Promise<Answer> {
      const part = bytes.subarray(offset, offset + partSize);
      const headers = { "content-type": "application/octet-stream", "content-length": String(part.length) };
      return service.call("PUT", `${own}?offset=${offset}`, { headers, body: part });
    },
    offset: async () => (await service.call("GET", own)).json()["offset"],
    complete: () => service.call("POST", `${own}/complete`),
  };
}

async function staged(): Promise<string[]> {
  const found = await client.listObjectsV2(bucket, stagingPrefix, true).toArray();
  return found.map(({ name }: { name: string }) => name);
}

const tooBusy = (answer: Answer) => [answer.status, answer.headers["retry-after"]];
const refusing: StoreFault = { status: 503 };

describe("a store that answers 503", () => {
  it("for a moment is not noticed by either kind of upload, nor by a download", async () => {
    const bytes = randomBytes(partSize + 70_000);
    const refuseFirst = () => {
      const seen = new Set<string>();
      store.fault((line) => {
        // putting parts together is asked once, because its answer may be lost
        if (seen.has(line) || /^POST .*uploadId=/.test(line)) return undefined;
        seen.add(line);
        return refusing;
      });
    };
    refuseFirst();
    const whole = await upload(bytes);
    expect([whole.status, (whole.json()["hashes"] as { sha256: string }).sha256]).toEqual([201, shaOf(bytes)]);
    const other = randomBytes(partSize + 5);
    const parts = await inParts(other);
    for (const offset of [0, partSize]) expect((await parts.put(offset)).status).toBe(200);
    const made = await parts.complete();
    expect([made.status, (made.json()["hashes"] as { sha256: string }).sha256]).toEqual([201, shaOf(other)]);
    refuseFirst();
    for (const [answer, sent] of [
      [whole, bytes],
      [made, other],
    ] as const)
      expect((await download(answer)).body.equals(sent)).toBe(true);
  });

  it("for longer makes uploads, parts, completions and downloads 503 with Retry-After; what was stored before is there, and nothing else", async () => {
    const bytes = randomBytes(partSize + 70_000);
    const sound = await upload(bytes);
    const parts = await inParts(randomBytes(partSize + 9));
    expect((await parts.put(0)).status).toBe(200);
    const attached = service.neighbours.attached.length;
    store.fault(() => refusing);
    expect(tooBusy(await upload(randomBytes(100)))).toEqual([503, "5"]);
    expect(tooBusy(await upload(randomBytes(partSize + 100)))).toEqual([503, "5"]);
    expect(tooBusy(await parts.put(partSize))).toEqual([503, "5"]);
    expect(tooBusy(await download(sound))).toEqual([503, "5"]);
    expect(tooBusy(await download(sound, { range: "bytes=5-9" }))).toEqual([503, "5"]);
    store.fault();
    expect(await parts.offset()).toBe(partSize);
    expect((await parts.put(partSize)).status).toBe(200);
    store.fault(() => refusing);
    expect(tooBusy(await parts.complete())).toEqual([503, "5"]);
    expect(service.neighbours.attached).toHaveLength(attached);
    store.fault();
    expect((await parts.complete()).status).toBe(201);
    expect((await download(sound)).body.equals(bytes)).toBe(true);
  });

  it("in the middle of a large upload leaves no object of it", async () => {
    // the second block and all that follows are refused
    store.fault((line) => (/partNumber=2/.test(line) ? refusing : undefined));
    expect(tooBusy(await upload(randomBytes(3 * partSize)))).toEqual([503, "5"]);
    store.fault();
    expect(await staged()).toEqual([]);
    expect(await client.listIncompleteUploads(bucket, stagingPrefix, true).toArray()).toEqual([]);
  });
});

it("a slow store slows uploads and downloads down, and changes no byte", async () => {
  store.fault(() => ({ bytesPerSecond: 2 ** 22 }));
  const bytes = randomBytes(partSize + 70_000);
  const began = Date.now();
  const whole = await upload(bytes);
  expect(Date.now() - began).toBeGreaterThan(1_900);
  expect((whole.json()["hashes"] as { sha256: string }).sha256).toBe(shaOf(bytes));
  const parts = await inParts(bytes);
  for (const offset of [0, partSize]) expect((await parts.put(offset)).status).toBe(200);
  expect((await parts.complete()).status).toBe(201);
  expect((await download(whole)).body.equals(bytes)).toBe(true);
});

describe("an object that the bucket has lost", () => {
  const damages = async (): Promise<string[]> => {
    const found: Damage[] = [];
    const { accessKey, secretKey } = minio;
    const storage = createS3Storage({ endpoint: minio.endpoint, accessKey, secretKey, bucket });
    await scrub({ ...service.bench, storage, bytesPerSecond: 10 ** 12, onDamage: (damage) => found.push(damage) });
    return found.map(({ sha256, problem }) => `${sha256} ${problem}`);
  };

  it("is an error of the server for whoever wants it, is found by scrub, and comes back with an upload of the same content", async () => {
    const bytes = randomBytes(200_000);
    const lost = await upload(bytes);
    expect(await damages()).toEqual([]);
    await client.removeObject(bucket, contentKey(tenantId, shaOf(bytes)));
    for (const headers of [{}, { range: "bytes=0-9" }, { range: "bytes=0-9,20-29" }]) {
      const answer = await download(lost, headers as Record<string, string>);
      expect([answer.status, answer.json()["errorCode"]]).toEqual([500, "hawkbit.server.error.artifact.loadFailed"]);
    }
    expect(await damages()).toEqual([`${shaOf(bytes)} missing`]);
    const again = await upload(bytes);
    expect(again.status).toBe(201);
    for (const answer of [lost, again]) expect((await download(answer)).body.equals(bytes)).toBe(true);
    expect(await damages()).toEqual([]);
  });
});
