import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { createUpstreams, type Upstreams } from "./upstreams.ts";

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** A service that is ready, with a clock that is so many seconds ahead. */
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
  upstreams.start();
  ends.push(() => upstreams.stop());
  return upstreams;
}

test("a replica whose clock is within a minute of ours is asked, another one is not, and is named", async () => {
  const [right, near, far] = [await replicaWith(0), await replicaWith(-50), await replicaWith(300)];
  const upstreams = watch({ controller: `${near},${far}`, others: right });
  await expect.poll(() => upstreams.allReady(), { timeout: 5_000 }).toBe(true);
  await expect.poll(() => Object.keys(upstreams.wrongClocks()), { timeout: 5_000 }).toEqual([far]);
  expect(Math.abs((upstreams.wrongClocks()[far] as number) - 300)).toBeLessThan(3);
  for (let n = 0; n < 6; n += 1) expect(upstreams.pick("controller").url).toBe(near);
});

test("when no replica's clock fits ours, we are not ready: ours may be the wrong one", async () => {
  const far = await replicaWith(-90);
  const upstreams = watch({ controller: far, others: far });
  await expect.poll(() => Object.keys(upstreams.wrongClocks()), { timeout: 5_000 }).toEqual([far]);
  expect(upstreams.allReady()).toBe(false);
});
