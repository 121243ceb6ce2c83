import type { FileHandle } from "node:fs/promises";
import { expect, it } from "vitest";
import { inSteps } from "./directory-files.ts";

const mebi = 2 ** 20;
const reserve = { check: async () => {}, warning: async () => undefined };

async function* pieces(count: number): AsyncGenerator<Buffer> {
  for (let n = 0; n < count; n += 1) {
    // as bytes of a socket, each comes in a turn of its own
    await new Promise(setImmediate);
    yield Buffer.alloc(mebi);
  }
}

async function pass(count: number, datasync: () => Promise<void>): Promise<number> {
  const handle = { datasync } as FileHandle;
  let bytes = 0;
  for await (const piece of inSteps(pieces(count), { handle, reserve })) bytes += piece.length;
  return bytes;
}

it("a small file is synced once, at its end, and a large one meanwhile", async () => {
  let syncs = 0;
  const sync = async () => {
    syncs += 1;
  };
  expect(await pass(8, sync)).toBe(8 * mebi);
  expect(syncs).toBe(0);
  expect(await pass(40, sync)).toBe(40 * mebi);
  expect(syncs).toBe(4);
});

it("one file at a time is synced ahead, so that the threads for files stay free", async () => {
  let [running, most] = [0, 0];
  const sync = async () => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 20));
    running -= 1;
  };
  await Promise.all([pass(60, sync), pass(60, sync), pass(60, sync)]);
  expect(most).toBe(1);
});

it.each([10, 60])("what a sync throws fails a file of %i MiB, because the one at its end would not hear of it", async (count) => {
  const lost = new Error("EIO");
  await expect(pass(count, () => Promise.reject(lost))).rejects.toBe(lost);
  // and others are synced as before
  expect(await pass(20, async () => {})).toBe(20 * mebi);
});
