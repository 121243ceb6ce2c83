import { createJob } from "@harrier/jobs";
import { eventually } from "@harrier/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, it, test, vi } from "vitest";
import { jobs } from "../jobs.ts";
import { form, limitVolume, type RunningService, startService } from "../service.suite.ts";
import { randomContent, tenantId } from "../testing.suite.ts";
import { createTraffic, monthOf } from "./traffic.ts";

const content = randomContent(3_000_000);
const name = "fw.bin";
const path = `/DEFAULT/controller/v1/open/softwaremodules/11/artifacts/${name}`;
/** What another replica has counted is known here within this time. */
const limitMs = 10_000;
const warnings: string[] = [];
const log = { warn: (_: object, message: string) => warnings.push(message) };
let service: RunningService;
let artifactId: number;

beforeAll(async () => {
  service = await startService();
  const answer = await service.call(
    "POST",
    "/rest/v1/softwaremodules/11/artifacts",
    form({ name: "file", filename: name, body: content.bytes }),
  );
  artifactId = answer.json()["id"] as number;
});
afterAll(async () => service?.stop());
beforeEach(async () => {
  warnings.length = 0;
  await limitVolume(service, null); // this also writes what earlier tests have sent
  await service.bench.sql("delete from artifact_store.data_traffic");
});

const get = (headers: Record<string, string> = {}, method = "GET", url = path) =>
  service.call(method, url, { controllerId: "open", headers });
/** Returns all bytes that have been counted; they count before the client has received them. */
const written = async (): Promise<number> => {
  await service.traffic.beat();
  const [row] = await service.bench.sql<{ bytes: string }>(
    "select coalesce(sum(bytes), 0)::text as bytes from artifact_store.data_traffic_v1 where tenant_id = $1 and month = $2",
    [tenantId, monthOf(Date.now())],
  );
  return Number(row?.bytes);
};
describe("the bytes that are sent", () => {
  it("count for whole files, for ranges and for downloads by users, but not for HEAD or a failed If-Match", async () => {
    await get();
    await get({ range: "bytes=0-999" });
    await get({ range: "bytes=0-9,100-109" });
    await get({}, "HEAD");
    await get({ "if-match": '"other"' });
    await service.call("GET", `/rest/v1/softwaremodules/11/artifacts/${artifactId}/download`);
    expect(await written()).toBe(2 * content.bytes.length + 1_020);
  });

  it("count only as far as they were sent if a download is cut", async () => {
    const large = randomContent(60_000_000);
    const file = form({ name: "file", filename: "large.bin", body: large.bytes });
    await service.call("POST", "/rest/v1/softwaremodules/11/artifacts", file);
    const { request, answer } = service.open("GET", path.replace(name, "large.bin"), { controllerId: "open" });
    const body = await answer;
    body.on("error", () => {});
    await new Promise((resolve) => body.once("data", resolve));
    body.pause();
    expect(await written()).toBeGreaterThan(0);
    request.destroy();
    // when another request is answered, the service has noticed the end of this connection
    await get({}, "HEAD");
    expect(await written()).toBeLessThan(large.bytes.length / 2);
  });
});

it("a used-up data volume gives 403 for every artifact to all devices until the limit is raised; users may download", async () => {
  expect((await get()).status).toBe(200);
  await limitVolume(service, content.bytes.length);
  expect((await get({}, "HEAD")).status).toBe(403);
  for (const [method, url] of [
    ["GET", path],
    ["GET", `${path}.MD5SUM`],
    ["HEAD", path],
    ["GET", `/api/v1/DEFAULT/download/controller/open/softwaremodules/11/filename/${name}`],
  ] as const) {
    const answer = await get({}, method, url);
    expect(answer.status, url).toBe(403);
    if (method === "GET") {
      expect(answer.json()).toMatchObject({
        errorCode: "hawkbit.server.error.quota.dataVolumeExceeded",
        message: `Quota exceeded: the data volume of ${content.bytes.length} bytes for this month is used up.`,
      });
    }
  }
  expect((await get({}, "GET", path.replace(name, "unknown.bin"))).status).toBe(404);
  const byAdmin = await service.call("GET", `/rest/v1/softwaremodules/11/artifacts/${artifactId}/download`);
  expect(byAdmin.status).toBe(200);
  await limitVolume(service, 10 * content.bytes.length);
  expect((await get()).status).toBe(200);
});

describe("a traffic counter at rest", () => {
  it("reads nothing while nobody downloads; a download decides by limits of the last second, and what was sent is written", async () => {
    let queries = 0;
    const { pool } = service.bench.db;
    const query = (config: never) => {
      queries += 1;
      return pool.query(config);
    };
    let at = performance.now();
    const clock = vi.spyOn(performance, "now").mockImplementation(() => at);
    const traffic = createTraffic({ pool: { query } as never, now: () => Date.UTC(2034, 0, 1) });
    const during = async (passes: number, work: () => Promise<void>): Promise<number> => {
      at += passes;
      const before = queries;
      await work();
      return queries - before;
    };
    try {
      await traffic.beat();
      expect(await during(500, () => traffic.refresh())).toBe(0);
      expect(await during(2_000, () => traffic.refresh())).toBe(1);
      expect(await during(500, () => traffic.beatUnlessAtRest())).toBe(1);
      expect(await during(6_000, () => traffic.beatUnlessAtRest())).toBe(0);
      expect(await during(10_000, () => traffic.beatUnlessAtRest())).toBe(1);
      expect(await during(500, () => traffic.beatUnlessAtRest())).toBe(0);
      await limitVolume(service, 100);
      expect(await during(1_500, () => traffic.refresh())).toBe(1);
      traffic.sent(tenantId, 100);
      expect(() => traffic.check(tenantId)).toThrow(expect.objectContaining({ code: "dataVolumeExceeded" }));
      expect(await during(6_000, () => traffic.beatUnlessAtRest())).toBe(2);
    } finally {
      clock.mockRestore();
    }
  });
});

describe("a traffic counter", () => {
  const month = Date.UTC(2031, 4, 31, 23, 59, 59);
  const counter = (more: Partial<Parameters<typeof createTraffic>[0]> = {}) => {
    const traffic = createTraffic({ pool: service.bench.db.pool, now: () => month, ...more });
    return { traffic, job: createJob(jobs["data-traffic"], { traffic }, { log, everyMs: 20 }) };
  };

  test("denies downloads until it has read the limits, and then counts its own bytes at once", async () => {
    await limitVolume(service, 100);
    const { traffic, job } = counter();
    expect(() => traffic.check(tenantId)).toThrow(expect.objectContaining({ code: "unavailable" }));
    await traffic.beat();
    expect(traffic.ready()).toBe(true);
    traffic.sent(tenantId, 99);
    traffic.check(tenantId);
    traffic.sent(tenantId, 1);
    expect(() => traffic.check(tenantId)).toThrow(expect.objectContaining({ code: "dataVolumeExceeded" }));
    traffic.check(2);
    await job.stop();
  });

  test("includes the bytes of other replicas, and begins each month with none", async () => {
    await limitVolume(service, 1_000);
    let now = month;
    const counters = [counter({ now: () => now }), counter({ now: () => now })] as const;
    const [{ traffic: one }, { traffic: two }] = counters;
    for (const { job } of counters) void job.start();
    await eventually(() => expect(one.ready() && two.ready()).toBe(true), limitMs);
    one.sent(tenantId, 600);
    two.sent(tenantId, 600);
    for (const traffic of [one, two]) {
      await eventually(
        () => expect(() => traffic.check(tenantId)).toThrow(expect.objectContaining({ code: "dataVolumeExceeded" })),
        limitMs,
      );
    }
    now += 1_000;
    await eventually(() => expect(() => one.check(tenantId)).not.toThrow(), limitMs);
    await Promise.all(counters.map(({ job }) => job.stop()));
  });

  test("keeps bytes in memory during an outage of the database, logs one line, and writes them afterwards", async () => {
    let broken = false;
    let failures = 0;
    const { pool } = service.bench.db;
    const query = (config: never) => {
      if (!broken) return pool.query(config);
      failures += 1;
      return Promise.reject(new Error("no database"));
    };
    const { traffic, job } = counter({ now: () => Date.UTC(2032, 0, 1), pool: { query } as never });
    await job.start();
    broken = true;
    traffic.sent(tenantId, 5);
    await expect.poll(() => failures).toBeGreaterThan(0);
    traffic.sent(tenantId, 6);
    const then = failures;
    await expect.poll(() => failures).toBeGreaterThan(then + 1);
    expect(warnings).toEqual(["data traffic could not be written or read"]);
    broken = false;
    await job.stop();
    const [row] = await service.bench.sql<{ bytes: string }>("select bytes from artifact_store.data_traffic_v1 where month = '2032-01-01'");
    expect(Number(row?.bytes)).toBe(11);
  });

  test("loses no bytes when many replicas write at once", async () => {
    const all = Array.from({ length: 8 }, () => counter({ now: () => Date.UTC(2033, 0, 1) }));
    for (const { traffic } of all) for (let t = 1; t <= 20; t += 1) traffic.sent(t, 10);
    await Promise.all(all.map(({ job }) => job.stop()));
    const [row] = await service.bench.sql<{ bytes: string }>(
      "select sum(bytes)::text as bytes from artifact_store.data_traffic_v1 where month = '2033-01-01'",
    );
    expect(Number(row?.bytes)).toBe(8 * 20 * 10);
  });
});
