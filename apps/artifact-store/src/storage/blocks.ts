import type { Readable } from "node:stream";
import { partSize } from "./storage.ts";

export interface Block {
  readonly bytes: Buffer;
  readonly last: boolean;
}

/**
 * Cuts a stream into blocks of `partSize`. The last block may be shorter or empty, and there is always one. Between two blocks it holds no more than
 * the rest of one chunk.
 */
export class Blocks {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest = Buffer.alloc(0);

  constructor(source: Readable) {
    this.#chunks = (source as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  }

  /** Reads the next block; it must not be called after the last one. */
  async next(): Promise<Block> {
    // of its exact size, and not out of a pool, so that it is freed as a whole
    const bytes = Buffer.allocUnsafeSlow(partSize);
    let length = this.#take(bytes, 0, this.#rest);
    // a full block waits for more bytes, so that the block that ends the stream is known to be the last
    while (this.#rest.length === 0) {
      const { done, value } = await this.#chunks.next();
      if (done === true) return { bytes: bytes.subarray(0, length), last: true };
      length += this.#take(bytes, length, value);
    }
    return { bytes, last: false };
  }

  /** Copies what fits of a chunk, and keeps the rest. */
  #take(bytes: Buffer, at: number, chunk: Buffer): number {
    const copied = chunk.copy(bytes, at);
    this.#rest = Buffer.from(chunk.subarray(copied));
    return copied;
  }
}
