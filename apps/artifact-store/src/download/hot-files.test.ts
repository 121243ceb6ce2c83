import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import type { Storage } from "../storage/storage.ts";
import { type HotFile, HotFiles } from "./hot-files.ts";

const limits = { fileBytes: 1_000, bytes: 3_500, tenantBytes: 2_500, keptMs: 60_000, reads: 2, readMs: 10_000 };

/** Where the time of a file matters: so long that a busy machine asks for it in time. */
const keptMs = 500;

/** A store of random files, which are as long as their key says: "7/a/900" is of tenant 7. */
function storeOf(): { opened: string[]; files: Map<string, Buffer>; open: Storage["open"]; stat: Storage["stat"] } {
  const opened: string[] = [];
  const files = new Map<string, Buffer>();
  return {
    opened,
    files,
    async open(key) {
      opened.push(key);
      const bytes = files.get(key) ?? randomBytes(sizeOf(key));
      files.set(key, bytes);
      return Readable.from([bytes.subarray(0, 10), bytes.subarray(10)]);
    },
    async stat(key) {
      const size = files.get(key)?.length;
      return size === undefined ? undefined : { size };
    },
  };
}
const sizeOf = (key: string): number => Number(key.split("/")[2]);
const ask = (hot: HotFiles, key: string): HotFile | undefined => hot.take(key, sizeOf(key));

/** Asks until the file is in memory. */
async function heat(hot: HotFiles, key: string): Promise<HotFile> {
  ask(hot, key);
  ask(hot, key);
  await sleep(1);
  return ask(hot, key) as HotFile;
}

it("a file is read into memory when it is asked for the second time, once, and answered from the next time on", async () => {
  const store = storeOf();
  const hot = new HotFiles(store, limits);
  expect(ask(hot, "1/a/900")).toBeUndefined();
  await sleep(1);
  expect(store.opened).toEqual([]);
  for (let n = 0; n < 3; n += 1) expect(ask(hot, "1/a/900")).toBeUndefined();
  await sleep(1);
  const found = ask(hot, "1/a/900");
  expect(found?.bytes.equals(store.files.get("1/a/900") as Buffer)).toBe(true);
  expect(store.opened).toEqual(["1/a/900"]);
});

it("a large file is never read into memory", async () => {
  const store = storeOf();
  const hot = new HotFiles(store, limits);
  expect(await heat(hot, "1/a/1001")).toBeUndefined();
  expect([store.opened, hot.bytes]).toEqual([[], 0]);
});

it("more files than fit are read from the store, of a tenant and of all, and none that is kept makes room for them", async () => {
  const store = storeOf();
  const hot = new HotFiles(store, limits);
  const held = [await heat(hot, "1/a/1000"), await heat(hot, "1/b/1000"), await heat(hot, "2/a/1000")];
  expect(held.map((file) => file?.bytes.length)).toEqual([1_000, 1_000, 1_000]);
  for (const key of ["1/c/1000", "2/b/1000", "3/a/501"]) expect(await heat(hot, key)).toBeUndefined();
  expect([store.opened.length, hot.bytes]).toEqual([3, 3_000]);
  expect(await heat(hot, "3/b/500")).toBeDefined();
  for (const key of ["1/a/1000", "1/b/1000", "2/a/1000"]) expect(ask(hot, key)).toBeDefined();
});

it("files that are asked for in turn and do not all fit are read once more at most", async () => {
  const store = storeOf();
  const hot = new HotFiles(store, limits);
  for (let round = 0; round < 50; round += 1) {
    for (let n = 0; n < 9; n += 1) ask(hot, `1/${n}/500`)?.release();
    await sleep(0);
  }
  expect(store.opened.length).toBe(5);
});

it("a file whose time is over takes its memory until nobody sends it, and its release counts once", async () => {
  const hot = new HotFiles(storeOf(), { ...limits, keptMs });
  const { release } = await heat(hot, "1/a/900");
  await sleep(keptMs + 200);
  expect([ask(hot, "1/a/900"), hot.bytes]).toEqual([undefined, 900]);
  release();
  release();
  expect(hot.bytes).toBe(0);
});

it("a file that slow devices are still being sent is kept on without a second copy, unless the store has lost it", async () => {
  const store = storeOf();
  const hot = new HotFiles(store, { ...limits, keptMs });
  const slow = await heat(hot, "1/a/900");
  await sleep(keptMs + 200);
  const again = await heat(hot, "1/a/900");
  expect([again?.bytes === slow.bytes, store.opened.length, hot.bytes]).toEqual([true, 1, 900]);
  again.release();
  await sleep(keptMs + 200);
  store.files.clear();
  expect([await heat(hot, "1/a/900"), hot.bytes]).toEqual([undefined, 900]);
  slow.release();
  expect(hot.bytes).toBe(0);
});

it("a store that does not send a file frees its place and its memory", async () => {
  const store = storeOf();
  const silent: Readable[] = [];
  const open = async () => {
    silent.push(new Readable({ read() {} }));
    return silent.at(-1) as Readable;
  };
  const hot = new HotFiles({ ...store, open }, { ...limits, reads: 1, readMs: 500 });
  expect(await heat(hot, "1/a/900")).toBeUndefined();
  expect(hot.bytes).toBe(900);
  await expect.poll(() => hot.bytes, { timeout: 5_000 }).toBe(0);
  expect(silent[0]?.destroyed).toBe(true);
  await heat(hot, "1/b/900");
  expect(silent.length).toBe(2);
});

it("as many files as the limit says are read at a time", async () => {
  const waiting: Readable[] = [];
  const open = async () => {
    const stream = new Readable({ read() {} });
    waiting.push(stream);
    return stream;
  };
  const hot = new HotFiles({ ...storeOf(), open }, limits);
  for (const key of ["1/a/100", "1/b/100", "1/c/100"]) await heat(hot, key);
  expect(waiting.length).toBe(2);
  for (const stream of waiting) stream.push(Buffer.alloc(100)) && stream.push(null);
  await sleep(5);
  expect(ask(hot, "1/a/100")).toBeDefined();
  ask(hot, "1/c/100");
  expect(waiting.length).toBe(3);
});

it.each([
  ["is missing", () => Promise.reject(new Error("ENOENT"))],
  ["breaks", async () => Readable.from([Buffer.alloc(10), Promise.reject(new Error("EIO"))])],
  ["is shorter", async () => Readable.from([Buffer.alloc(99)])],
])("a file that %s is not kept, takes no memory, and is tried again", async (_what, broken) => {
  const store = storeOf();
  let works = false;
  const hot = new HotFiles({ ...store, open: (key, size) => (works ? store.open(key, size) : broken()) }, limits);
  expect(await heat(hot, "1/a/100")).toBeUndefined();
  await sleep(5);
  expect(hot.bytes).toBe(0);
  works = true;
  expect(await heat(hot, "1/a/100")).toBeDefined();
});

it("a file is kept for its time, however often it is asked for, and then read again", async () => {
  const store = storeOf();
  const hot = new HotFiles(store, { ...limits, keptMs });
  (await heat(hot, "1/a/100")).release();
  await expect.poll(() => hot.bytes, { timeout: 5_000 }).toBe(0);
  expect(store.opened).toEqual(["1/a/100"]);
  expect(await heat(hot, "1/a/100")).toBeDefined();
  expect(store.opened).toEqual(["1/a/100", "1/a/100"]);
});
