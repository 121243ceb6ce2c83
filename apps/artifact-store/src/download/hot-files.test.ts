import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { type HotFile, HotFiles } from "./hot-files.ts";

const limits = { fileBytes: 1_000, bytes: 2_500, keptMs: 60_000, reads: 2 };

/** A store of random files, which are as long as their key says: "a/900". */
function storeOf(): { opened: string[]; files: Map<string, Buffer>; open(key: string): Promise<Readable> } {
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
  };
}
const sizeOf = (key: string): number => Number(key.split("/")[1]);
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
  expect(ask(hot, "a/900")).toBeUndefined();
  await sleep(1);
  expect(store.opened).toEqual([]);
  for (let n = 0; n < 3; n += 1) expect(ask(hot, "a/900")).toBeUndefined();
  await sleep(1);
  const found = ask(hot, "a/900");
  expect(found?.bytes.equals(store.files.get("a/900") as Buffer)).toBe(true);
  expect(store.opened).toEqual(["a/900"]);
});

it("a large file is never read into memory", async () => {
  const store = storeOf();
  const hot = new HotFiles(store, limits);
  expect(await heat(hot, "a/1001")).toBeUndefined();
  expect([store.opened, hot.bytes]).toEqual([[], 0]);
});

it("what was asked for longest makes room, and what is being sent counts until it is given back", async () => {
  const hot = new HotFiles(storeOf(), limits);
  const [a, b] = [await heat(hot, "a/1000"), await heat(hot, "b/1000")];
  b.release();
  // `a` is dropped for `c` and still takes its memory, so `b` goes too
  const c = await heat(hot, "c/1000");
  expect([ask(hot, "a/1000"), ask(hot, "b/1000"), hot.bytes]).toEqual([undefined, undefined, 2_000]);
  // nobody gives anything back: there is no room, and nothing is read
  expect(await heat(hot, "d/1000")).toBeUndefined();
  expect(hot.bytes).toBe(2_000);
  a.release();
  a.release();
  c.release();
  expect(hot.bytes).toBe(0);
  expect(await heat(hot, "d/1000")).toBeDefined();
  expect(hot.bytes).toBe(1_000);
});

it("as many files as the limit says are read at a time", async () => {
  const waiting: Readable[] = [];
  const open = async () => {
    const stream = new Readable({ read() {} });
    waiting.push(stream);
    return stream;
  };
  const hot = new HotFiles({ open }, limits);
  for (const key of ["a/100", "b/100", "c/100"]) await heat(hot, key);
  expect(waiting.length).toBe(2);
  for (const stream of waiting) stream.push(Buffer.alloc(100)) && stream.push(null);
  await sleep(5);
  expect(ask(hot, "a/100")).toBeDefined();
  ask(hot, "c/100");
  expect(waiting.length).toBe(3);
});

it.each([
  ["is missing", () => Promise.reject(new Error("ENOENT"))],
  ["breaks", async () => Readable.from([Buffer.alloc(10), Promise.reject(new Error("EIO"))])],
  ["is shorter", async () => Readable.from([Buffer.alloc(99)])],
])("a file that %s is not kept, takes no memory, and is tried again", async (_what, broken) => {
  const store = storeOf();
  let works = false;
  const hot = new HotFiles({ open: (key) => (works ? store.open(key) : broken()) }, limits);
  expect(await heat(hot, "a/100")).toBeUndefined();
  await sleep(5);
  expect(hot.bytes).toBe(0);
  works = true;
  expect(await heat(hot, "a/100")).toBeDefined();
});

it("a file is kept for its time, however often it is asked for, and then read again", async () => {
  const store = storeOf();
  const hot = new HotFiles(store, { ...limits, keptMs: 150 });
  (await heat(hot, "a/100")).release();
  await expect.poll(() => hot.bytes).toBe(0);
  expect(store.opened).toEqual(["a/100"]);
  expect(await heat(hot, "a/100")).toBeDefined();
  expect(store.opened).toEqual(["a/100", "a/100"]);
});
