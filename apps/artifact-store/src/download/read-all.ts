import type { Readable } from "node:stream";

/**
 * Reads a stream of `size` bytes into memory, and fails if it has not ended within `ms`. Node's own function is not used: it copies through a Blob, whose
 * memory only a collection of the whole heap frees.
 */
export async function readAll(stream: Readable, { size, ms }: { readonly size: number; readonly ms: number }): Promise<Buffer[]> {
  let missing = size;
  const chunks: Buffer[] = [];
  const late = setTimeout(() => stream.destroy(new Error(`the store did not send ${missing} bytes in ${ms} ms`)), ms);
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      missing -= chunk.length;
    }
  } finally {
    clearTimeout(late);
  }
  if (missing !== 0) throw new Error(`${missing} bytes of the stored object are missing`);
  return chunks;
}
