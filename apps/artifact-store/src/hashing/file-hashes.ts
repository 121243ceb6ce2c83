import { hash } from "node:crypto";
import type { BlobHashes } from "../blobs/blobs.sql.ts";
import { type Block, blockBytes, countWaiting, giveBlock, hasRoom, takeBlock } from "./blocks-in-threads.ts";
import { HashThreads, type ThreadFile } from "./hash-threads.ts";
import { type Algorithm, algorithms } from "./thread-messages.ts";

/** The threads of this process, which begin with its first file. */
export const hashThreads = new HashThreads();

/** The three hashes of a file that grows. A file of no more than a block is hashed at once, others in the threads. */
export class FileHashes implements Disposable {
  readonly #threads: HashThreads;
  readonly #sparing: boolean;
  #file: ThreadFile | undefined;
  /** The block that is being filled, and how many bytes it has. */
  #block: Block | undefined;
  #filled = 0;
  /** The blocks that wait for the threads. */
  #waiting = 0;
  #hashed: () => void = () => undefined;
  #error: unknown;
  #disposed = false;
  /** The bytes that it has taken. */
  size = 0;

  /** `sparing`: a file that waits for other things than its hashes needs but two blocks. */
  constructor({ threads = hashThreads, sparing = false }: { threads?: HashThreads; sparing?: boolean } = {}) {
    this.#threads = threads;
    this.#sparing = sparing;
  }

  /**
   * Takes the next bytes. They are copied, so that the caller may pass them on at once; if a promise comes back, the next ones wait for it, or else a fast
   * sender would fill the memory. It rejects with artifactUploadFailed.
   */
  update(bytes: Uint8Array): Promise<void> | undefined {
    if (this.#disposed) return undefined;
    this.size += bytes.length;
    const at = this.#fill(bytes, 0);
    return at === bytes.length && this.#error === undefined ? undefined : this.#takeRest(bytes, at);
  }

  /** Ends the hashes; afterwards only disposing is allowed. */
  async digest(): Promise<Omit<BlobHashes, "size">> {
    if (this.#disposed) throw new Error("these hashes were given up");
    if (this.#file === undefined) return this.#atOnce();
    if (this.#filled > 0) this.#handOver();
    while (this.#waiting > 0) await this.#oneHashed();
    if (this.#error !== undefined) throw this.#error;
    return await this.#file.digest();
  }

  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#file?.release();
    if (this.#block !== undefined) giveBlock(this.#block);
    this.#block = undefined;
  }

  async #takeRest(bytes: Uint8Array, from: number): Promise<void> {
    for (let at = from; ; at = this.#fill(bytes, at)) {
      if (this.#error !== undefined) throw this.#error;
      if (this.#disposed || at === bytes.length) return;
      await this.#oneHashed();
    }
  }

  /** Copies as many bytes as the blocks take without a wait; returns how many of all are taken. */
  #fill(bytes: Uint8Array, from: number): number {
    let at = from;
    // whoever waited for a block may find that the file was given up meanwhile
    while (at < bytes.length && !this.#disposed) {
      if (this.#filled === blockBytes) {
        if (!hasRoom(this.#waiting, this.#sparing)) return at;
        this.#handOver();
      }
      this.#block ??= takeBlock();
      const piece = bytes.subarray(at, at + blockBytes - this.#filled);
      this.#block.bytes.fill(piece, this.#filled, this.#filled + piece.length);
      this.#filled += piece.length;
      at += piece.length;
    }
    return at;
  }

  /** Gives the block to the threads. */
  #handOver(): void {
    const block = this.#block as Block;
    this.#file ??= this.#threads.open();
    const hashed = this.#file.update(block.memory, this.#filled);
    [this.#block, this.#filled] = [undefined, 0];
    this.#waiting += 1;
    countWaiting(1);
    const end = (): void => {
      this.#waiting -= 1;
      countWaiting(-1);
      this.#hashed();
    };
    // After a failure one of the threads may still read the block.
    hashed
      .then(
        () => giveBlock(block),
        (error: unknown) => (this.#error ??= error),
      )
      .finally(end);
  }

  #oneHashed(): Promise<void> {
    return new Promise((resolve) => {
      this.#hashed = resolve;
    });
  }

  #atOnce(): Record<Algorithm, string> {
    const bytes = this.#block?.bytes.subarray(0, this.#filled) ?? new Uint8Array();
    return Object.fromEntries(algorithms.map((algorithm) => [algorithm, hash(algorithm, bytes)])) as Record<Algorithm, string>;
  }
}
