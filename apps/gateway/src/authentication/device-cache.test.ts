import { expect, test } from "vitest";
import { DeviceCache } from "./device-cache.ts";

const device = { tenantId: 1, tenant: "DEFAULT", scheme: "TargetToken" } as const;
let now = 0;
const open = () => {
  now = 1_000_000_000;
  const cache = new DeviceCache({ ttlSeconds: 300, now: () => now });
  cache.streamAlive();
  return cache;
};
const keep = (cache: DeviceCache, controllerId: string, revision = 100) =>
  cache.keep(device, { controllerId, digest: cache.digest("TargetToken t"), revision, generation: cache.generation });

test("a cached credential is known in any spelling of the tenant, another one is not", () => {
  const cache = open();
  keep(cache, "a");
  expect(cache.lookup("default", "a", cache.digest("TargetToken t"))).toEqual(device);
  expect(cache.lookup("DEFAULT", "a", cache.digest("TargetToken u"))).toBeUndefined();
  expect(cache.lookup("DEFAULT", "A", cache.digest("TargetToken t"))).toBeUndefined();
  expect(cache.lookup("OTHER", "a", cache.digest("TargetToken t"))).toBeUndefined();
});

test("a change of one device does not evict the others", () => {
  const cache = open();
  keep(cache, "a");
  keep(cache, "b");
  cache.forget({ tenantId: 1, controllerId: "a", revision: 101 });
  expect(cache.size).toBe(1);
  cache.forget({ tenantId: 1, controllerId: "", revision: 102 });
  expect(cache.size).toBe(0);
});

test.each([
  ["of the device", { tenantId: 1, controllerId: "a", revision: 100 }],
  ["of the tenant", { tenantId: 1, controllerId: "", revision: 150 }],
])("an answer older than a change %s is not cached", (_what, change) => {
  const cache = open();
  cache.forget(change);
  keep(cache, "a", 100);
  expect(cache.size).toBe(0);
  keep(cache, "a", 151);
  expect(cache.size).toBe(1);
});

test("a change of another device does not prevent the caching", () => {
  const cache = open();
  cache.forget({ tenantId: 1, controllerId: "b", revision: 500 });
  keep(cache, "a", 100);
  expect(cache.size).toBe(1);
});

test("the hard time-out applies whatever the stream says, also across the wrap of the clock", () => {
  const cache = open();
  now = 65_535 * 60_000 * 7;
  keep(cache, "a");
  now += 4 * 60_000;
  expect(cache.lookup("DEFAULT", "a", cache.digest("TargetToken t"))).toBeDefined();
  now += 60_000;
  expect(cache.lookup("DEFAULT", "a", cache.digest("TargetToken t"))).toBeUndefined();
});

test("a credential that expires is cold from that moment on, and so is its entry", () => {
  const cache = open();
  const digest = cache.digest("ApiKey k");
  const keepUntil = (expiresAt: number) =>
    cache.keep({ ...device, scheme: "ApiKey" }, { controllerId: "key 1", digest, revision: 100, generation: cache.generation, expiresAt });
  keepUntil(now + 2_000);
  now += 1_999;
  expect(cache.lookup("default", "key 1", digest)).toEqual({ ...device, scheme: "ApiKey" });
  now += 1;
  expect(cache.lookup("default", "key 1", digest)).toBeUndefined();
  expect(cache.size).toBe(0);
  keepUntil(now + 24 * 60 * 60_000);
  now += 5 * 60_000;
  expect(cache.lookup("default", "key 1", digest)).toBeUndefined();
});

test("a silent stream makes everything cold, and nothing from before comes back", () => {
  const cache = open();
  keep(cache, "a");
  cache.streamSilent();
  keep(cache, "b");
  expect(cache.lookup("DEFAULT", "a", cache.digest("TargetToken t"))).toBeUndefined();
  cache.streamAlive();
  expect(cache.size).toBe(0);
});

test("100,000 devices cost about a hundred bytes each", () => {
  const cache = open();
  const digest = cache.digest("TargetToken t");
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < 100_000; i++)
    cache.keep(device, { controllerId: `device-${i}`, digest, revision: 1_000, generation: cache.generation });
  const perDevice = (process.memoryUsage().heapUsed - before) / 100_000;
  expect(cache.size).toBe(100_000);
  expect(perDevice).toBeLessThan(400); // Without a forced collection the figure includes garbage.
});

test("an answer that was requested under another stream is not cached", () => {
  const cache = open();
  const { generation } = cache;
  cache.streamSilent();
  cache.streamAlive();
  cache.keep(device, { controllerId: "a", digest: cache.digest("TargetToken t"), revision: 1_000, generation });
  expect(cache.size).toBe(0);
});
