import { open } from "node:fs/promises";
import type { Reserve } from "./reserve.ts";

/** This is larger than the default of 64 KiB, so that a 1 GiB artifact takes a quarter of the read calls. */
export const readChunk = 256 * 1024;

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

/** Passes the bytes on and checks the disk before each further step, so that a large upload does not use up the reserve. */
export async function* withinReserve(chunks: AsyncIterable<Buffer>, reserve: Reserve): AsyncGenerator<Buffer> {
  let left = reserveStep;
  for await (const chunk of chunks) {
    left -= chunk.length;
    if (left < 0) {
      await reserve.check();
      left = reserveStep;
    }
    yield chunk;
  }
}
