import { createHash, randomBytes } from "node:crypto";
import { afterAll, describe, expect, it } from "vitest";
import { blockBytes, blocksOfFile } from "./blocks-in-threads.ts";
import { FileHashes } from "./file-hashes.ts";
import { HashThreads } from "./hash-threads.ts";

const threads = new HashThreads();
afterAll(() => threads.end());

const hash = (name: string, bytes: Uint8Array): string => createHash(name).update(bytes).digest("hex");
const hashesOf = (bytes: Uint8Array) => ({ sha256: hash("sha256", bytes), sha1: hash("sha1", bytes), md5: hash("md5", bytes) });

async function feed(hashes: FileHashes, bytes: Uint8Array, piece: number): Promise<void> {
  for (let at = 0; at < bytes.length; at += piece) await hashes.update(bytes.subarray(at, at + piece));
}

describe("the hashes", () => {
  it.each([0, 1, blockBytes - 1, blockBytes, blockBytes + 1, blocksOfFile * blockBytes, (blocksOfFile + 3) * blockBytes + 7])(
    "of %i bytes are those of Node",
    async (size) => {
      const bytes = randomBytes(size);
      for (const piece of [1_000, 65_536, blockBytes, 3 * blockBytes]) {
        for (const sparing of [true, false]) {
          using hashes = new FileHashes({ threads, sparing });
          await feed(hashes, bytes, piece);
          expect(await hashes.digest()).toEqual(hashesOf(bytes));
        }
      }
    },
  );

  it("of many files at the same time are each its own, also beside files that are given up in the middle", async () => {
    const one = async (n: number): Promise<void> => {
      const bytes = randomBytes(300_000 + n * 60_000);
      using hashes = new FileHashes({ threads });
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

it.each([[2, true] as const, [blocksOfFile, false] as const])(
  "a sender that is faster than the hashes waits: no more than its %i blocks are held",
  async (blocks, sparing) => {
    using hashes = new FileHashes({ threads, sparing });
    const bytes = randomBytes(blockBytes);
    // the threads have no turn meanwhile, so that only the blocks that are there can be filled
    let taken = 0;
    while (hashes.update(bytes) === undefined) taken += 1;
    expect(taken).toBe(blocks);
  },
);

it("where the blocks of all files are taken, one more file has two", async () => {
  // behind this the threads have no blocks of other tests
  using last = new FileHashes({ threads });
  await feed(last, randomBytes(2 * blockBytes), blockBytes);
  await last.digest();
  const files = Array.from({ length: 8 }, () => new FileHashes({ threads }));
  try {
    const bytes = randomBytes(blockBytes);
    const taken = files.map((hashes) => {
      let count = 0;
      while (hashes.update(bytes) === undefined) count += 1;
      return count;
    });
    // 48 blocks are in the threads, seven of each of the first six files and six of the next; each file fills one more
    expect(taken).toEqual([...Array.from({ length: 6 }, () => blocksOfFile), 7, 2]);
  } finally {
    for (const hashes of files) hashes[Symbol.dispose]();
  }
});

it("a file fails when a thread ends in its middle, and the next one has a new thread", async () => {
  const own = new HashThreads();
  const bytes = randomBytes((blocksOfFile + 2) * blockBytes);
  using hashes = new FileHashes({ threads: own });
  await feed(hashes, bytes, blockBytes);
  await own.end();
  const error = expect.objectContaining({ code: "artifactUploadFailed" });
  await expect(feed(hashes, bytes, blockBytes).then(() => hashes.digest())).rejects.toEqual(error);
  await expect(hashes.digest()).rejects.toEqual(error);
  using next = new FileHashes({ threads: own });
  await feed(next, bytes, blockBytes);
  expect(await next.digest()).toEqual(hashesOf(bytes));
  await own.end();
});
