import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { Blocks } from "./blocks.ts";
import { partSize } from "./storage.ts";

async function cut(bytes: Buffer, chunk: number): Promise<{ lengths: number[]; joined: Buffer }> {
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunk) }, (_, n) => bytes.subarray(n * chunk, (n + 1) * chunk));
  const blocks = new Blocks(Readable.from(chunks));
  const read: Buffer[] = [];
  for (let last = false; !last; ) {
    const block = await blocks.next();
    read.push(block.bytes);
    last = block.last;
  }
  return { lengths: read.map(({ length }) => length), joined: Buffer.concat(read) };
}

test.each([
  [0, 1_000, [0]],
  [1, 1_000, [1]],
  [partSize - 1, 65_536, [partSize - 1]],
  [partSize, 65_536, [partSize]],
  [partSize + 1, 65_536, [partSize, 1]],
  [2 * partSize, 60_001, [partSize, partSize]],
  [2 * partSize + 5, 3 * partSize, [partSize, partSize, 5]],
])("%d bytes in chunks of %d are cut into blocks of %j", async (size, chunk, lengths) => {
  const bytes = randomBytes(size);
  const found = await cut(bytes, chunk);
  expect(found.lengths).toEqual(lengths);
  expect(found.joined.equals(bytes)).toBe(true);
});
