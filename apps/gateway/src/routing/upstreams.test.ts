import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createJob } from "@harrier/jobs";
import { afterEach, expect, test } from "vitest";
import { jobs } from "../jobs.ts";
import { createUpstreams, type Upstreams } from "./upstreams.ts";

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** Starts a service that is ready, with a clock that is this many seconds ahead. */
async function replicaWith(aheadSeconds: number): Promise<string> {
  const server: Server = createServer((_req, res) => {
    res.setHeader("date", new Date(Date.now() + aheadSeconds * 1_000).toUTCString());
    res.end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ends.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function watch(addresses: { controller: string; others: string }): Upstreams {
  const { controller, others } = addresses;
  const upstreams = createUpstreams({ controller, management: others, "artifact-store": others, "rollout-engine": others });
  const job = createJob(jobs["upstream-readiness"], { upstreams, attention: { rests: false } }, { log: {} });
  void job.start();
  ends.push(() => void job.stop());
  ends.push(() => upstreams.stop());
  return upstreams;
}

test("a replica whose clock is within a minute of ours is called, another one is not, and is named", async () => {
  const [right, near, far] = [await replicaWith(0), await replicaWith(-50), await replicaWith(300)];
  const upstreams = watch({ controller: `${near},${far}`, others: right });
  await expect.poll(() => upstreams.allReady(), { timeout: 5_000 }).toBe(true);
  await expect.poll(() => Object.keys(upstreams.wrongClocks()), { timeout: 5_000 }).toEqual([far]);
  expect(Math.abs((upstreams.wrongClocks()[far] as number) - 300)).toBeLessThan(3);
  for (let n = 0; n < 6; n += 1) expect(upstreams.pick("controller").url).toBe(near);
});

test("requests with the same key go to the same replica while it serves, and those without take turns", async () => {
  const replicas = [await replicaWith(0), await replicaWith(0), await replicaWith(0)];
  const upstreams = watch({ controller: replicas.join(","), others: replicas.join(",") });
  const keys = Array.from({ length: 40 }, (_, n) => `upload-${n}`);
  const pickAll = () => keys.map((key) => upstreams.pick("artifact-store", key));
  await expect.poll(() => new Set(pickAll().filter(({ ready }) => ready)).size, { timeout: 5_000 }).toBe(replicas.length);
  const picked = pickAll();
  const turns = Array.from({ length: 6 }, () => upstreams.pick("artifact-store"));
  expect(turns.slice(0, 3)).toEqual(turns.slice(3));
  expect(pickAll()).toEqual(picked);
  const gone = picked[0] as (typeof picked)[number];
  gone.ready = false;
  const others = pickAll();
  expect(others).not.toContain(gone);
  expect(others.filter((_, n) => picked[n] !== gone)).toEqual(picked.filter((replica) => replica !== gone));
});

test("when no replica's clock matches ours, we are not ready: ours may be the wrong one", async () => {
  const far = await replicaWith(-90);
  const upstreams = watch({ controller: far, others: far });
  await expect.poll(() => Object.keys(upstreams.wrongClocks()), { timeout: 5_000 }).toEqual([far]);
  expect(upstreams.allReady()).toBe(false);
});

/** Starts beside replicas whose clocks are this many seconds ahead; undefined for one that does not answer. The far ones have been asked. */
async function besideThese(controller: number | undefined, others: readonly (number | undefined)[]): Promise<Upstreams> {
  const made = await Promise.all(others.map((ahead) => (ahead === undefined ? nobody : replicaWith(ahead))));
  const first = controller === undefined ? nobody : await replicaWith(controller);
  const upstreams = watch({ controller: first, others: made.join(",") });
  const far = [controller, ...others].filter((ahead) => ahead !== undefined && Math.abs(ahead) > 60);
  await expect.poll(() => Object.keys(upstreams.wrongClocks()).length, { timeout: 5_000 }).toBe(far.length);
  return upstreams;
}
const nobody = "http://127.0.0.1:1";

test.each<[number | undefined, (number | undefined)[], boolean]>([
  [300, [300], true],
  [-300, [-290, -310], true],
  [300, [300, undefined], true],
  // one service alone may have a wrong clock itself
  [300, [undefined], false],
  [300, [-300], false],
  [300, [300, 1], false],
])("replicas that are %s and %j s ahead: is our own clock wrong? %s", async (controller, others, wrong) => {
  const upstreams = await besideThese(controller, others);
  await expect.poll(() => upstreams.isOwnClockWrong()).toBe(wrong);
});

test("before any answer our clock counts as right", async () => {
  const upstreams = watch({ controller: nobody, others: nobody });
  expect(upstreams.isOwnClockWrong()).toBe(false);
});
