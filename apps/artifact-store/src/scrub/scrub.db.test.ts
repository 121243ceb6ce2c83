import { appendFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { HarrierError } from "@harrier/errors";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { contentKey, type Storage } from "../storage/storage.ts";
import { type Bench, openBench, randomContent, storeContent, tenantId } from "../testing.suite.ts";
import { type Damage, type ScrubDeps, scrub } from "./scrub.ts";

let bench: Bench;

beforeAll(async () => {
  bench = await openBench();
});
afterAll(async () => bench?.dispose());
beforeEach(() => bench.clear());

async function scrubbed(more: Partial<ScrubDeps> = {}) {
  const damages: Damage[] = [];
  const sums = await scrub({ ...bench, bytesPerSecond: 10 ** 12, onDamage: (damage) => damages.push(damage), ...more });
  return { sums, found: Object.fromEntries(damages.map(({ sha256, problem }) => [sha256, problem])) };
}

async function store(size = 2_000): Promise<{ sha256: string; file: string; bytes: Buffer }> {
  const { bytes, sha256 } = randomContent(size);
  await storeContent(bench, bytes);
  return { bytes, sha256, file: join(bench.root, contentKey(tenantId, sha256)) };
}

it("reports objects that are missing, too long, too short or changed, and nothing else", async () => {
  const [sound, missing, long, short, changed] = [await store(), await store(), await store(), await store(), await store(700_000)];
  await rm(missing.file);
  await appendFile(long.file, "x");
  await writeFile(short.file, short.bytes.subarray(1));
  changed.bytes[650_000] = (changed.bytes[650_000] ?? 0) ^ 1;
  await writeFile(changed.file, changed.bytes);
  const { sums, found } = await scrubbed();
  expect(found).toEqual({ [missing.sha256]: "missing", [long.sha256]: "size", [short.sha256]: "size", [changed.sha256]: "content" });
  expect(sums).toEqual({ blobs: 5, bytes: 4 * 2_000 + 700_000, damaged: 4 });
  expect(await bench.files()).toContain(contentKey(tenantId, sound.sha256));
});

it("a blob that is released meanwhile is no damage", async () => {
  const { file, sha256 } = await store();
  const storage: Storage = {
    ...bench.storage,
    async stat(key) {
      await bench.sql("update artifact_store.blobs set state = 'deleting' where sha256 = $1", [sha256]);
      await rm(file);
      return await bench.storage.stat(key);
    },
  };
  expect(await scrubbed({ storage })).toEqual({ found: {}, sums: { blobs: 1, bytes: 2_000, damaged: 0 } });
});

it("a store that does not answer ends it, because what is left is not known to be sound", async () => {
  await store();
  const stat = (): Promise<never> => Promise.reject(new HarrierError("unavailable"));
  await expect(scrubbed({ storage: { ...bench.storage, stat } })).rejects.toMatchObject({ code: "unavailable" });
});

it("an object that breaks off is read again before it is reported", async () => {
  const { sha256 } = await store();
  let opened = 0;
  const breaking = (times: number): Storage => ({
    ...bench.storage,
    async open(key, size) {
      opened += 1;
      const source = await bench.storage.open(key, size);
      if (opened <= times) source.destroy(new Error("broken off"));
      return source;
    },
  });
  expect((await scrubbed({ storage: breaking(2) })).found).toEqual({});
  opened = 0;
  expect((await scrubbed({ storage: breaking(3) })).found).toEqual({ [sha256]: "unreadable" });
});

it("walks more blobs than a page has", async () => {
  await bench.sql(
    `insert into artifact_store.blobs (tenant_id, sha256, sha1, md5, size, state)
     select 1 + n % 3, encode(sha256(n::text::bytea), 'hex'), repeat('0', 40), repeat('0', 32), 1, 'stored' from generate_series(1, 1203) as n`,
  );
  const { sums } = await scrubbed();
  expect(sums).toEqual({ blobs: 1_203, bytes: 1_203, damaged: 1_203 });
});

it("reads no faster than it is allowed to", async () => {
  for (let n = 0; n < 4; n += 1) await store(1_000_000);
  let clock = 0;
  const pause = async (ms: number): Promise<void> => {
    clock += ms;
  };
  await scrubbed({ bytesPerSecond: 500_000, pause, now: () => clock });
  expect(clock).toBeGreaterThanOrEqual(7_900);
  expect(clock).toBeLessThanOrEqual(8_100);
});
