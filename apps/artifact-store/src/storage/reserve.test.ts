import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { createDirectoryStorage } from "./directory.ts";
import { createReserve, type Disk } from "./reserve.ts";
import { stagingKey } from "./storage.ts";

const mebi = 1024 * 1024;
let root: string;
let disk: Disk;
const lines: string[] = [];
const log = {
  info: (_fields: object, message: string) => void lines.push(`info ${message}`),
  warn: (_fields: object, message: string) => void lines.push(`warn ${message}`),
};
const key = stagingKey(1, "00000000-0000-4000-8000-000000000001");
const files = async (): Promise<string[]> => readdir(join(root, "staging"));

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "harrier-reserve-"));
  disk = { free: 100 * mebi, size: 1000 * mebi };
  lines.length = 0;
});
afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

function storageWith(bytes?: number) {
  return createDirectoryStorage(root, createReserve(root, { bytes, log, measure: async () => disk }));
}

describe("the disk's reserve", () => {
  it("is 5 % of a small disk and a gibibyte of a large one, unless set", async () => {
    disk = { free: 49 * mebi, size: 1000 * mebi };
    await expect(storageWith().checkSpace()).rejects.toMatchObject({ code: "storageFull" });
    disk = { free: 51 * mebi, size: 1000 * mebi };
    await storageWith().checkSpace();
    disk = { free: 1023 * mebi, size: 1_000_000 * mebi };
    await expect(storageWith().checkSpace()).rejects.toMatchObject({ code: "storageFull" });
    await storageWith(0).checkSpace();
    await expect(storageWith(1024 * mebi).checkSpace()).rejects.toMatchObject({ code: "storageFull" });
  });

  it("is checked during an upload, and an upload that is refused leaves nothing behind", async () => {
    const storage = storageWith(10 * mebi);
    await storage.prepare();
    let sent = 0;
    const source = Readable.from(
      (async function* () {
        for (; sent < 200; sent += 1) {
          if (sent === 20) disk = { free: 9 * mebi, size: 1000 * mebi };
          yield Buffer.alloc(mebi);
        }
      })(),
    );
    await expect(storage.put(key, source)).rejects.toMatchObject({ code: "storageFull" });
    expect(sent).toBeLessThan(60);
    expect(source.destroyed).toBe(true);
    expect(await files()).toEqual([]);
  });

  it("refuses an upload before a file is created, and destroys the source", async () => {
    disk = { free: 0, size: 1000 * mebi };
    const storage = storageWith();
    await storage.prepare();
    const source = Readable.from([Buffer.alloc(10)]);
    await expect(storage.put(key, source)).rejects.toMatchObject({ code: "storageFull" });
    expect(source.destroyed).toBe(true);
    expect(await files()).toEqual([]);
  });

  it("is logged once when it is used up and once when it is back, and does not prevent deletions", async () => {
    const storage = storageWith();
    await storage.prepare();
    await storage.put(key, Readable.from([Buffer.alloc(10)]));
    expect(await storage.warning()).toBeUndefined();
    disk = { free: 1, size: 1000 * mebi };
    for (let n = 0; n < 5; n += 1) await storage.checkSpace().catch(() => {});
    expect(await storage.warning()).toMatch(/^disk below reserve/);
    await storage.delete(key);
    expect(await files()).toEqual([]);
    disk = { free: 100 * mebi, size: 1000 * mebi };
    await storage.checkSpace();
    expect(lines.map((line) => line.split(" ", 1)[0])).toEqual(["warn", "info"]);
  });
});

it("reports a full disk, and leaves nothing behind", async () => {
  // /dev/full stands for a file on a full disk: the kernel refuses every byte. The modules are loaded anew, because another file of this worker may
  // have loaded them before; what loads them after this test gets the real ones.
  vi.resetModules();
  let full = true;
  vi.doMock("node:fs/promises", async (original) => {
    const real = await original<typeof import("node:fs/promises")>();
    const open: typeof real.open = async (path, flags, mode) => {
      const handle = await real.open(path, flags, mode);
      if (!full || flags !== "wx") return handle;
      await handle.close();
      return real.open("/dev/full", "w");
    };
    return { ...real, open };
  });
  onTestFinished(() => {
    full = false;
    vi.doUnmock("node:fs/promises");
    vi.resetModules();
  });
  const storage = (await import("./directory.ts")).createDirectoryStorage(root);
  await storage.prepare();
  await expect(storage.put(key, Readable.from([Buffer.alloc(300_000)]))).rejects.toMatchObject({
    code: "storageFull",
    cause: { code: "ENOSPC" },
  });
  expect(await files()).toEqual([]);
});
