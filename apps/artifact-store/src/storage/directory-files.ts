import { type FileHandle, open } from "node:fs/promises";
import type { Reserve } from "./reserve.ts";

/** This is larger than the default of 64 KiB, so that a 1 GiB artifact takes a quarter of the read calls. */
export const readChunk = 256 * 1024;

/** As much waits to be written, and is then written at once. */
export const writeChunk = 512 * 1024;

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
interface Written {
  readonly handle: FileHandle;
  readonly reserve: Reserve;
}

/** Passes the bytes on; before each further step it checks the disk, so that a large upload does not use up the reserve, and syncs what was written. */
export async function* inSteps(chunks: AsyncIterable<Buffer>, { handle, reserve }: Written): AsyncGenerator<Buffer> {
  const ahead = new SyncAhead(handle);
  let left = reserveStep;
  for await (const chunk of chunks) {
    left -= chunk.length;
    if (left < 0) {
      await reserve.check();
      ahead.begin();
      left = reserveStep;
    }
    yield chunk;
  }
  await ahead.end();
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
