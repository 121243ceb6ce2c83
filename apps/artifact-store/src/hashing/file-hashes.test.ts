import { createHash, randomBytes } from "node:crypto";
import { afterAll, describe, expect, it } from "vitest";
import { blockBytes, blocksOfFile, FileHashes } from "./file-hashes.ts";
import { HashThreads } from "./hash-threads.ts";

const threads = new HashThreads();
afterAll(() => threads.end());

const hash = (name: string, bytes: Uint8Array): string => createHash(name).update(bytes).digest("hex");
const hashesOf = (bytes: Uint8Array) => ({ sha256: hash("sha256", bytes), sha1: hash("sha1", bytes), md5: hash("md5", bytes) });
const starts = { unsaved: "unsaved", saved: [null, null, null] } as const;

async function feed(hashes: FileHashes, bytes: Uint8Array, piece: number): Promise<void> {
  for (let at = 0; at < bytes.length; at += piece) await hashes.update(bytes.subarray(at, at + piece));
}

describe.each(Object.entries(starts))("%s hashes", (_kind, start) => {
  it.each([0, 1, blockBytes - 1, blockBytes, blockBytes + 1, blocksOfFile * blockBytes, (blocksOfFile + 3) * blockBytes + 7])(
    "of %i bytes are those of Node",
    async (size) => {
      const bytes = randomBytes(size);
      for (const piece of [1_000, 65_536, blockBytes, 3 * blockBytes]) {
        for (const blocks of [2, blocksOfFile] as const) {
          using hashes = new FileHashes(start, { threads, blocks });
          await feed(hashes, bytes, piece);
          expect(await hashes.digest()).toEqual(hashesOf(bytes));
        }
      }
    },
  );

  it("of many files at the same time are each its own, also beside files that are given up in the middle", async () => {
    const one = async (n: number): Promise<void> => {
      const bytes = randomBytes(300_000 + n * 60_000);
      using hashes = new FileHashes(start, { threads });
      if (n % 3 === 0) {
        void hashes.update(bytes)?.catch(() => undefined);
        return;
      }
      await feed(hashes, bytes, 50_000);
      expect(await hashes.digest()).toEqual(hashesOf(bytes));
    };
    for (let round = 0; round < 3; round += 1) await Promise.all(Array.from({ length: 40 }, (_, n) => one(n)));
  });
});

it("states that are saved behind any number of bytes are gone on with", async () => {
  const bytes = randomBytes(6 * blockBytes);
  let states: readonly (Uint8Array | null)[] = starts.saved;
  for (const [from, to] of [
    [0, 10],
    [10, 3 * blockBytes],
    [3 * blockBytes, bytes.length],
  ] as const) {
    using hashes = new FileHashes(states, { threads });
    await feed(hashes, bytes.subarray(from, to), 60_000);
    states = await hashes.save();
  }
  using hashes = new FileHashes(states, { threads });
  expect(await hashes.digest()).toEqual(hashesOf(bytes));
});

it.each([2, blocksOfFile] as const)(
  "a sender that is faster than the hashes waits: no more than its %i blocks are held",
  async (blocks) => {
    using hashes = new FileHashes("unsaved", { threads, blocks });
    const bytes = randomBytes(blockBytes);
    expect(hashes.update(bytes)).toBeUndefined();
    const taken = Array.from({ length: 2 * blocksOfFile }, () => hashes.update(bytes));
    let free = 0;
    for (const one of taken) void one?.then(() => free++);
    // the threads have had no turn yet, so that only the blocks that are there could be filled
    await Promise.resolve();
    expect(free).toBeLessThan(blocks);
  },
);

it("a file fails when a thread ends in its middle, and the next one has a new thread", async () => {
  const own = new HashThreads();
  const bytes = randomBytes((blocksOfFile + 2) * blockBytes);
  using hashes = new FileHashes("unsaved", { threads: own });
  await feed(hashes, bytes, blockBytes);
  await own.end();
  const error = expect.objectContaining({ code: "artifactUploadFailed" });
  await expect(feed(hashes, bytes, blockBytes).then(() => hashes.digest())).rejects.toEqual(error);
  await expect(hashes.digest()).rejects.toEqual(error);
  using next = new FileHashes("unsaved", { threads: own });
  await feed(next, bytes, blockBytes);
  expect(await next.digest()).toEqual(hashesOf(bytes));
  await own.end();
});

it("states that other code wrote fail the file", async () => {
  using hashes = new FileHashes([new Uint8Array(116), null, null], { threads });
  await expect(feed(hashes, randomBytes(2 * blockBytes), blockBytes).then(() => hashes.save())).rejects.toMatchObject({
    code: "artifactUploadFailed",
  });
});
