import { createReadStream } from "node:fs";
import { type FileHandle, mkdir, open, rename, rm, stat, truncate } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { codeOf, readChunk, syncDirectory, writeAll } from "./directory-files.ts";
import type { Reserve } from "./reserve.ts";
import type { CollectedParts, IncomingPart, StoredPart } from "./storage.ts";

/** The parts of `staging/<key>` are collected in a directory beside it. */
export const partsSuffix = ".parts";

/** A part is as long as a step in which a whole file is synced; without this its client would wait for the sync of all of it. */
const syncStep = 2 * 1024 * 1024;

/**
 * Parts are written at their own place in a file that is named by the number of interruptions. A writer that was given up may still write, but only
 * to the file of its own number, behind the bytes that counted then: nobody reads those.
 */
export async function writePart(path: string, part: IncomingPart, to: { source: Readable; reserve: Reserve }): Promise<StoredPart> {
  const folder = path + partsSuffix;
  await to.reserve.check();
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const receipt = String(part.interruptions);
  const { handle, isNew } = await openFile(join(folder, receipt));
  try {
    await writeAll(to.source, { handle, reserve: to.reserve, start: part.offset, syncStep });
  } finally {
    await handle.close();
  }
  if (isNew) {
    await syncDirectory(folder);
    await syncDirectory(dirname(folder));
  }
  return { place: "directory", receipt };
}

async function openFile(path: string): Promise<{ handle: FileHandle; isNew: boolean }> {
  try {
    return { handle: await open(path, "wx", 0o600), isNew: true };
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    return { handle: await open(path, "r+"), isNew: false };
  }
}

/** Makes the parts one file: by a new name if no writer was given up meanwhile, else by one copy of what counts. It may be repeated. */
export async function joinFiles(path: string, parts: CollectedParts): Promise<void> {
  const folder = path + partsSuffix;
  if ((await sizeOf(path)) !== parts.size) {
    const [first, ...others] = runsOf(parts);
    if (first === undefined) throw new Error("an upload without parts cannot be joined");
    const whole = others.length === 0 ? join(folder, first.receipt) : join(folder, `whole-${parts.owner}`);
    if (others.length > 0) await copyRuns(folder, whole, [first, ...others]);
    await truncate(whole, parts.size);
    if ((await sizeOf(whole)) !== parts.size) throw new Error("a file of parts has lost bytes");
    await syncFile(whole);
    await rename(whole, path);
    await syncDirectory(dirname(path));
  }
  await rm(folder, { recursive: true, force: true });
}

interface Run {
  readonly receipt: string;
  readonly start: number;
  /** The first byte behind it. */
  end: number;
}

/** Returns the stretches of the file that lie in the same file of parts. */
function runsOf({ receipts, partSize, size }: CollectedParts): Run[] {
  const runs: Run[] = [];
  for (const [i, receipt] of receipts.entries()) {
    const [start, end] = [i * partSize, Math.min((i + 1) * partSize, size)];
    const last = runs.at(-1);
    if (last?.receipt === receipt) last.end = end;
    else runs.push({ receipt, start, end });
  }
  return runs;
}

async function copyRuns(folder: string, whole: string, runs: readonly Run[]): Promise<void> {
  await rm(whole, { force: true });
  for (const { receipt, start, end } of runs) {
    const handle = await open(whole, start === 0 ? "wx" : "r+", 0o600);
    const source = createReadStream(join(folder, receipt), { start, end: end - 1, highWaterMark: readChunk });
    await pipeline(source, handle.createWriteStream({ start, highWaterMark: readChunk }));
  }
}

async function syncFile(path: string): Promise<void> {
  const handle = await open(path, "r+");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
