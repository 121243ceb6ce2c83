import { randomUUID } from "node:crypto";
import { type Minio, startMinio } from "@harrier/testkit";
import { Client } from "minio";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type Answer, form, limitVolume, type RunningService, startService } from "../service.suite.ts";
import { contentKey } from "../storage/storage.ts";
import { randomContent, tenantId } from "../testing.suite.ts";
import { monthOf } from "../traffic/traffic.ts";

// Links into a real bucket (contract device.md §6.6, ADR 43).

const content = randomContent(300_000);
const path = "/DEFAULT/controller/v1/open/softwaremodules/11/artifacts/fw 1.bin".replace(" ", "%20");
const bucket = `links-${randomUUID()}`;
let minio: Minio;
let service: RunningService;

const settings = () => ({
  HARRIER_STORAGE_DIR: undefined,
  HARRIER_S3_ENDPOINT: minio.endpoint,
  HARRIER_S3_ACCESS_KEY: minio.accessKey,
  HARRIER_S3_SECRET_KEY: minio.secretKey,
  HARRIER_S3_BUCKET: bucket,
  // another name than the one by which artifact-store itself reaches the store
  HARRIER_S3_PUBLIC_ENDPOINT: minio.endpoint.replace("127.0.0.1", "localhost"),
});
const presigned = (running: RunningService, value: boolean) =>
  running.bench.sql(
    `insert into management.settings (tenant_id, key, value, created_by, last_modified_by)
     values ($1, 'artifact.links.presigned', to_jsonb($2::boolean), 'admin', 'admin')
     on conflict (tenant_id, key) do update set value = excluded.value`,
    [tenantId, value],
  );
const upload = (running: RunningService, filename: string, body: Buffer): Promise<Answer> =>
  running.call("POST", "/rest/v1/softwaremodules/11/artifacts", form({ name: "file", filename, body }));

beforeAll(async () => {
  minio = await startMinio();
  service = await startService(settings());
  expect((await upload(service, "fw 1.bin", content.bytes)).status).toBe(201);
  await presigned(service, true);
});
afterAll(async () => {
  await service?.stop();
  await minio?.stop();
});
beforeEach(async () => {
  service.neighbours.noted.length = 0;
  await service.traffic.beat();
  await service.bench.sql("delete from artifact_store.data_traffic");
});

const ask = (headers: Record<string, string> = {}, method = "GET", url = path): Promise<Answer> =>
  service.call(method, url, { controllerId: "open", headers });
const linkOf = (answer: Answer): string => {
  expect(answer.status).toBe(302);
  expect(answer.body).toHaveLength(0);
  expect(answer.headers["cache-control"]).toBe("no-store");
  return String(answer.headers["location"]);
};
const follow = async (link: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(link, { headers });
  return { status: answer.status, headers: answer.headers, body: Buffer.from(await answer.arrayBuffer()) };
};
/** A new file of so many bytes, to which nobody has got a link. */
const fresh = async (size = 1_000): Promise<{ bytes: Buffer; sha256: string; path: string }> => {
  const { bytes, sha256 } = randomContent(size);
  const name = `${sha256.slice(0, 12)}.bin`;
  expect((await upload(service, name, bytes)).status).toBe(201);
  return { bytes, sha256, path: path.replace("fw%201.bin", name) };
};
const counted = async (): Promise<number> => {
  await service.traffic.beat();
  const [row] = await service.bench.sql<{ bytes: string }>(
    "select coalesce(sum(bytes), 0)::text as bytes from artifact_store.data_traffic_v1 where tenant_id = $1 and month = $2",
    [tenantId, monthOf(Date.now())],
  );
  return Number(row?.bytes);
};

it("a whole file comes from the bucket by a link, which is in the history of the action and counts its bytes", async () => {
  const link = linkOf(await ask());
  expect(new URL(link).hostname).toBe("localhost");
  expect(service.neighbours.noted).toHaveLength(1);
  const answer = await follow(link);
  expect(answer.status).toBe(200);
  expect(answer.body.equals(content.bytes)).toBe(true);
  expect(answer.headers.get("content-type")).toBe("application/octet-stream");
  expect(answer.headers.get("content-disposition")).toBe("attachment;filename=fw 1.bin");
  expect(await counted()).toBe(content.bytes.length);
});

it("one range comes by a link that is good for this range alone, and only its bytes count", async () => {
  const file = await fresh();
  const size = file.bytes.length;
  const linkTo = async (range: string) => linkOf(await ask({ range }, "GET", file.path));
  const range = "bytes=100-299";
  const link = await linkTo(range);
  const answer = await follow(link, { range });
  expect(answer.status).toBe(206);
  expect(answer.headers.get("content-range")).toBe(`bytes 100-299/${size}`);
  expect(answer.body.equals(file.bytes.subarray(100, 300))).toBe(true);
  // MinIO calls a signed header that is missing a bad request
  expect([400, 403]).toContain((await follow(link)).status);
  expect((await follow(link, { range: `bytes=0-${size - 1}` })).status).toBe(403);
  const rest = `bytes=${size - 10}-`;
  expect((await follow(await linkTo(rest), { range: rest })).body.equals(file.bytes.subarray(-10))).toBe(true);
  const last = "bytes=-7";
  expect((await follow(await linkTo(last), { range: last })).body.equals(file.bytes.subarray(-7))).toBe(true);
  expect(await counted()).toBe(217);
  expect(service.neighbours.noted).toHaveLength(0);
});

it("a device that asks again and again, and fetches nothing, counts the size of the file once; the rest counts as it is sent", async () => {
  const file = await fresh();
  const size = file.bytes.length;
  const asks = Array.from({ length: 100 }, (_, n) => ask(n % 2 === 0 ? {} : { range: `bytes=${n}-` }, "GET", file.path));
  const answers = await Promise.all(asks);
  const received = answers.reduce((sum, { body }) => sum + body.length, 0);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 206, 302]));
  const unfetched = (await counted()) - received;
  expect(unfetched).toBeGreaterThan(0);
  expect(unfetched).toBeLessThanOrEqual(size);
  const through = await ask({}, "GET", file.path);
  expect([through.status, through.body.equals(file.bytes)]).toEqual([200, true]);
});

it("what the bucket would answer otherwise goes through artifact-store: several ranges, conditions, HEAD, checksums, downloads of users", async () => {
  const some = await ask({ range: "bytes=0-9,20-29" });
  expect([some.status, String(some.headers["content-type"])]).toEqual([206, expect.stringContaining("multipart/byteranges")]);
  const etag = String((await ask({}, "HEAD")).headers["etag"]);
  expect(etag).toMatch(/^"[0-9a-f]{40}"$/);
  expect((await ask({ "if-match": etag })).status).toBe(200);
  expect((await ask({ "if-match": '"other"' })).status).toBe(412);
  expect((await ask({ range: "bytes=0-9", "if-range": etag })).status).toBe(206);
  expect((await ask({ range: `bytes=${content.bytes.length}-` })).status).toBe(416);
  expect((await ask({ range: "lines=1-2" })).status).toBe(416);
  expect((await ask({}, "GET", `${path}.MD5SUM`)).status).toBe(200);
  const { id } = service.neighbours.attached[0] ?? { id: 0 };
  expect((await service.call("GET", `/rest/v1/softwaremodules/11/artifacts/${id}/download`)).status).toBe(200);
});

it("a device without an action, a tenant whose volume is used up, and one that has not turned links on get no link", async () => {
  const foreign = await service.call("GET", path.replace("/open/", "/canceled/"), { controllerId: "canceled" });
  expect([foreign.status, foreign.headers["location"]]).toEqual([404, undefined]);
  await limitVolume(service, 200);
  const file = await fresh();
  linkOf(await ask({ range: "bytes=0-199" }, "GET", file.path));
  const used = await ask({}, "GET", file.path);
  expect([used.status, used.headers["location"]]).toEqual([403, undefined]);
  await limitVolume(service, null);
  await presigned(service, false);
  const through = await ask();
  expect([through.status, through.body.equals(content.bytes)]).toEqual([200, true]);
  await presigned(service, true);
});

it("a link names one object for one method, and is good for its seconds only", async () => {
  const file = await fresh();
  const link = linkOf(await ask({}, "GET", file.path));
  expect((await follow(link.replace(file.sha256, "0".repeat(64)))).status).toBe(403);
  expect((await fetch(link, { method: "DELETE" })).status).toBe(403);
  expect((await follow(link.replace(/X-Amz-Expires=\d+/, "X-Amz-Expires=3600"))).status).toBe(403);
  const other = await startService({ ...settings(), HARRIER_S3_LINK_SECONDS: "1" });
  try {
    expect((await upload(other, "fw 1.bin", content.bytes)).status).toBe(201);
    await presigned(other, true);
    const short = linkOf(await other.call("GET", path, { controllerId: "open" }));
    await expect.poll(async () => (await follow(short)).status, { timeout: 20_000, interval: 200 }).toBe(403);
  } finally {
    await other.stop();
  }
});

it("an object that the bucket has lost is an error and no link; a bucket that is away is 503 with Retry-After", async () => {
  const lost = randomContent(1_000);
  expect((await upload(service, "lost.bin", lost.bytes)).status).toBe(201);
  const { hostname, port } = new URL(minio.endpoint);
  const { accessKey, secretKey } = minio;
  const client = new Client({ endPoint: hostname, port: Number(port), useSSL: false, accessKey, secretKey });
  await client.removeObject(bucket, contentKey(tenantId, lost.sha256));
  const answer = await ask({}, "GET", path.replace("fw%201.bin", "lost.bin"));
  expect([answer.status, answer.json()["errorCode"]]).toEqual([500, "hawkbit.server.error.artifact.loadFailed"]);
  const file = await fresh();
  await minio.kill();
  const away = await ask({}, "GET", file.path);
  expect([away.status, away.headers["retry-after"], away.headers["location"]]).toEqual([503, "5", undefined]);
  await minio.restart();
  // what could not be given does not count
  linkOf(await ask({}, "GET", file.path));
});
