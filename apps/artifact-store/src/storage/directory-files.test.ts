import { randomBytes } from "node:crypto";
import { type FileHandle, mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { writeAll } from "./directory-files.ts";

const mebi = 2 ** 20;
const reserve = { check: async () => {}, warning: async () => undefined };

async function* pieces(count: number): AsyncGenerator<Buffer> {
  for (let n = 0; n < count; n += 1) {
    // as bytes of a socket, each comes in a turn of its own
    await new Promise(setImmediate);
    yield Buffer.alloc(mebi);
  }
}

const lengthOf = (buffers: readonly Buffer[]): number => buffers.reduce((sum, { length }) => sum + length, 0);

/** Writes a file and returns its size. */
async function pass(count: number, datasync: () => Promise<void>): Promise<number> {
  let size = 0;
  const handle = {
    datasync,
    sync: async () => {},
    writev: async (buffers: readonly Buffer[], place: number) => {
      expect(place).toBe(size);
      const bytesWritten = lengthOf(buffers);
      size += bytesWritten;
      return { bytesWritten };
    },
  } as unknown as FileHandle;
  await writeAll(pieces(count), { handle, reserve });
  return size;
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

it("what the system does not take at once is written behind it", async () => {
  const dir = await mkdtemp(join(tmpdir(), "harrier-write-"));
  const handle = await open(join(dir, "file"), "w+");
  try {
    const bytes = randomBytes(3 * mebi + 17);
    const short = new Proxy(handle, {
      get: (target, name) =>
        name === "writev"
          ? (buffers: readonly Buffer[], place: number) => target.writev([(buffers[0] as Buffer).subarray(0, 100_001)], place)
          : Reflect.get(target, name).bind(target),
    });
    const chunks = async function* () {
      for (let at = 0; at < bytes.length; at += 300_000) yield bytes.subarray(at, at + 300_000);
    };
    await writeAll(chunks(), { handle: short, reserve, start: 5 });
    expect((await readFile(join(dir, "file"))).subarray(5).equals(bytes)).toBe(true);
  } finally {
    await handle.close();
    await rm(dir, { recursive: true });
  }
});

it("the disk is asked before each further 8 MiB", async () => {
  let asked = 0;
  const handle = {
    datasync: async () => {},
    sync: async () => {},
    writev: async (buffers: Buffer[]) => ({ bytesWritten: lengthOf(buffers) }),
  };
  const check = async () => {
    asked += 1;
  };
  const writing = (count: number) => writeAll(pieces(count), { handle: handle as unknown as FileHandle, reserve: { ...reserve, check } });
  await writing(8);
  expect(asked).toBe(0);
  await writing(9);
  expect(asked).toBe(1);
  await writing(33);
  expect(asked).toBe(1 + 4);
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
