import { type FileHandle, open } from "node:fs/promises";
import type { Reserve } from "./reserve.ts";

/** This is larger than the default of 64 KiB, so that a 1 GiB artifact takes a quarter of the read calls. */
export const readChunk = 256 * 1024;

/** As much waits to be written, and is then written at once. */
const writeChunk = 512 * 1024;

/** However short the pieces are that a client sends, no more of them are held. */
const maxPieces = 1_024;

/** An upload writes at most this many bytes between two checks of the disk's reserve. */
const reserveStep = 8 * 1024 * 1024;

export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "";
}

/** Syncs a directory: without that a new, renamed or linked file may be lost in a power cut. */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Where the bytes of an upload go. */
interface Target {
  readonly handle: FileHandle;
  readonly reserve: Reserve;
  /** The place of the first byte. */
  readonly start?: number;
  /** How many bytes are written between two syncs. */
  readonly syncStep?: number;
}

/**
 * Writes all bytes and syncs the file. One write runs while the next one is gathered. Before each further step it checks the disk, so that a large
 * upload does not use up the reserve, and syncs what was written.
 */
export async function writeAll(
  chunks: AsyncIterable<Buffer>,
  { handle, reserve, start = 0, syncStep = reserveStep }: Target,
): Promise<void> {
  const ahead = new SyncAhead(handle);
  let [at, unchecked, unsynced] = [start, 0, 0];
  let gathered: Buffer[] = [];
  let size = 0;
  let running: Promise<void> = Promise.resolve();
  const write = async (): Promise<void> => {
    await running;
    running = writeWhole(handle, gathered, at);
    running.catch(() => undefined); // whoever waits for it next hears of it
    at += size;
    unchecked += size;
    unsynced += size;
    gathered = [];
    size = 0;
  };
  for await (const chunk of chunks) {
    if (unsynced >= syncStep) {
      ahead.begin();
      unsynced = 0;
    }
    if (unchecked + size + chunk.length > reserveStep) {
      await reserve.check();
      unchecked = -size;
    }
    gathered.push(chunk);
    size += chunk.length;
    if (size >= writeChunk || gathered.length >= maxPieces) await write();
  }
  await write();
  await running;
  await ahead.end();
  await handle.sync();
}

/** Writes all buffers at a place; the system may take fewer bytes at a time. */
async function writeWhole(handle: FileHandle, buffers: readonly Buffer[], at: number): Promise<void> {
  let [rest, place] = [buffers, at];
  while (rest.length > 0) {
    const { bytesWritten } = await handle.writev(rest, place);
    if (bytesWritten === 0) throw new Error("the system takes no more bytes");
    place += bytesWritten;
    rest = behind(rest, bytesWritten);
  }
}

function behind(buffers: readonly Buffer[], bytes: number): readonly Buffer[] {
  let left = bytes;
  for (const [n, buffer] of buffers.entries()) {
    if (left < buffer.length) return [buffer.subarray(left), ...buffers.slice(n + 1)];
    left -= buffer.length;
  }
  return [];
}

/** One file at a time is synced ahead: a sync keeps one of the few threads that read and write files. */
let syncing = false;

/** Syncs a file that still grows, so that the disk works while bytes come, and little is left for the sync at its end. */
class SyncAhead {
  readonly #handle: FileHandle;
  #running: Promise<void> = Promise.resolve();
  #error: unknown;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** Begins a sync, unless one is running. */
  begin(): void {
    if (this.#error !== undefined) throw this.#error;
    if (syncing) return;
    syncing = true;
    this.#running = this.#sync();
  }

  /** Throws what a sync threw: the system says of lost bytes once, and the sync at the end would not hear of it. */
  async end(): Promise<void> {
    await this.#running;
    if (this.#error !== undefined) throw this.#error;
  }

  async #sync(): Promise<void> {
    try {
      await this.#handle.datasync();
    } catch (error) {
      this.#error = error;
    } finally {
      syncing = false;
    }
  }
}
