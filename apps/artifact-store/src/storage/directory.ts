import { randomUUID } from "node:crypto";
import { copyFile, type FileHandle, link, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import type { Readable } from "node:stream";
import { HarrierError } from "@harrier/errors";
import { codeOf, readChunk, syncDirectory, writeAll } from "./directory-files.ts";
import { joinFiles, partsSuffix, writePart } from "./directory-parts.ts";
import { mapFull, type Reserve } from "./reserve.ts";
import { type ByteRange, checkSize, type StagedObject, type Storage, stagingPrefix } from "./storage.ts";

/** File systems without hard links (exFAT, some network mounts) answer `link` with one of these. */
const cannotLink = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EXDEV", "EMLINK"]);

/** Without a reserve uploads may use every byte of the disk. */
const noReserve: Reserve = { check: async () => {}, warning: async () => undefined };

/** Creates a store of files under one directory, which all replicas must share. Uploads leave the disk its reserve. */
export function createDirectoryStorage(root: string, reserve: Reserve = noReserve): Storage {
  const pathOf = (key: string): string => {
    const path = join(root, key);
    if (!path.startsWith(root + sep)) throw new Error(`key ${key} leaves the storage directory`);
    return path;
  };
  return {
    inBlocks: false,
    async prepare() {
      await mkdir(join(root, stagingPrefix), { recursive: true, mode: 0o700 });
    },
    checkSpace: () => reserve.check(),
    warning: () => reserve.warning(),
    async put(key, source) {
      try {
        await write(pathOf(key), source, reserve);
      } catch (error) {
        // whoever writes to the source must get the error, even if the source was never read
        source.destroy(error as Error);
        throw mapFull(error);
      }
    },
    async putPart(part, source) {
      try {
        return await writePart(pathOf(part.key), part, { source, reserve });
      } catch (error) {
        source.destroy(error as Error);
        throw mapFull(error);
      }
    },
    async joinParts(key, parts) {
      try {
        await joinFiles(pathOf(key), parts);
      } catch (error) {
        throw mapFull(error);
      }
    },
    async promote(from, to) {
      try {
        await mkdir(dirname(pathOf(to)), { recursive: true, mode: 0o700 });
        await appear(pathOf(from), pathOf(to));
        await syncDirectory(dirname(pathOf(to)));
      } catch (error) {
        throw mapFull(error);
      }
    },
    async open(key, size, range) {
      return await openFile(pathOf(key), size, range);
    },
    async stat(key) {
      try {
        return { size: (await stat(pathOf(key))).size };
      } catch (error) {
        if (codeOf(error) === "ENOENT") return undefined;
        throw error;
      }
    },
    async delete(key) {
      await rm(pathOf(key), { force: true });
      if (key.startsWith(stagingPrefix)) await rm(pathOf(key) + partsSuffix, { recursive: true, force: true });
    },
    async *listStaging() {
      yield* listFiles(root);
    },
  };
}

/** Writes a file; if that fails, the file is removed. */
async function write(path: string, source: Readable, reserve: Reserve): Promise<void> {
  await reserve.check();
  const handle = await open(path, "wx", 0o600);
  try {
    await writeAll(source, { handle, reserve });
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
}

/** Creates `to` by a hard link, which is atomic and free. Without links it copies to a temporary name, so that nobody reads half a file. */
async function appear(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (codeOf(error) === "EEXIST") return; // the same content address means the same content
    if (!cannotLink.has(codeOf(error))) throw error;
    const half = `${to}.${randomUUID()}`;
    try {
      await copyFile(from, half);
      await rename(half, to);
    } finally {
      await rm(half, { force: true });
    }
  }
}

async function openFile(path: string, size: number, range: ByteRange | undefined): Promise<Readable> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, "r");
    checkSize((await handle.stat()).size, size);
    return handle.createReadStream({ highWaterMark: readChunk, ...range });
  } catch (error) {
    await handle?.close();
    throw new HarrierError("artifactLoadFailed", undefined, { cause: error });
  }
}

async function* listFiles(root: string): AsyncGenerator<StagedObject> {
  for (const name of await readdir(join(root, stagingPrefix))) {
    try {
      const key = stagingPrefix + (name.endsWith(partsSuffix) ? name.slice(0, -partsSuffix.length) : name);
      yield { key, modifiedAt: (await stat(join(root, stagingPrefix, name))).mtimeMs };
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error; // a missing file is that of an upload that has just ended
    }
  }
}
