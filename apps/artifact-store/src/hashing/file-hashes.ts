import type { BlobHashes } from "../blobs/blobs.sql.ts";
import { HashThreads, type ThreadFile } from "./hash-threads.ts";
import { algorithms, type Hasher, openHasher } from "./hashers.ts";

/** Bytes go to the threads in blocks of so many: one is filled while the others are hashed. A file that is smaller than one is hashed at once. */
export const blockBytes = 256 * 1_024;
/** A file has so many blocks. Two would do, but then whoever fills and the two threads wait for each other at each block. */
export const blocksOfFile = 4 as const;
/** The memory of blocks is used again; that of only so many files is kept. */
const keptBlocks = 8;

/** The threads of this process, which begin with its first file. */
export const hashThreads = new HashThreads();
const unusedBlocks: SharedArrayBuffer[] = [];

/** What each hash begins with: "unsaved" for a file that comes in one request, which is faster, else saved states, or null for an empty file. */
export type Starts = "unsaved" | readonly (Uint8Array | null)[];

/** The three hashes of a file that grows. */
export class FileHashes implements Disposable {
  readonly #starts: Starts;
  readonly #threads: HashThreads;
  readonly #blocks: SharedArrayBuffer;
  readonly #memory: Uint8Array;
  readonly #count: number;
  #file: ThreadFile | undefined;
  /** Which block is being filled, and how many bytes it has. */
  #block = 0;
  #filled = 0;
  /** The last hashing of each block. */
  readonly #hashed: Promise<void>[];
  #disposed = false;

  /** `blocks`: a file that waits for other things than its hashes needs but two. */
  constructor(
    starts: Starts,
    { threads = hashThreads, blocks = blocksOfFile }: { threads?: HashThreads; blocks?: 2 | typeof blocksOfFile } = {},
  ) {
    this.#starts = starts;
    this.#threads = threads;
    this.#count = blocks;
    this.#blocks = (blocks === blocksOfFile ? unusedBlocks.pop() : undefined) ?? new SharedArrayBuffer(blocks * blockBytes);
    this.#memory = new Uint8Array(this.#blocks);
    this.#hashed = Array.from({ length: blocks }, () => Promise.resolve());
  }

  /**
   * Takes the next bytes. They are copied, so that the caller may pass them on at once; if a promise comes back, the next ones wait for it, or else a fast
   * sender would fill the memory. It rejects with artifactUploadFailed.
   */
  update(bytes: Uint8Array): Promise<void> | undefined {
    if (this.#disposed) return undefined;
    if (this.#filled + bytes.length > blockBytes) return this.#take(bytes);
    this.#fill(bytes);
    return undefined;
  }

  /** Returns the states behind the bytes so far, of sha256, sha1 and md5. */
  async save(): Promise<readonly Uint8Array[]> {
    if (this.#file === undefined) return await this.#atOnce((hasher) => hasher.save());
    await this.#flush();
    const states = await this.#file.save();
    return algorithms.map((algorithm) => states[algorithm]);
  }

  /** Ends the hashes; afterwards only disposing is allowed. */
  async digest(): Promise<Omit<BlobHashes, "size">> {
    if (this.#file !== undefined) {
      await this.#flush();
      return await this.#file.digest();
    }
    const [sha256 = "", sha1 = "", md5 = ""] = await this.#atOnce((hasher) => hasher.digest());
    return { sha256, sha1, md5 };
  }

  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#file?.release();
    // a thread that still reads the memory must not see that of another file
    const reuse = () => {
      if (this.#count === blocksOfFile && unusedBlocks.length < keptBlocks) unusedBlocks.push(this.#blocks);
    };
    Promise.all(this.#hashed).then(reuse, () => undefined);
  }

  async #take(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      if (this.#filled === blockBytes) await this.#handOver();
      if (this.#disposed) return; // the memory may be that of another file by now
      at += this.#fill(bytes.subarray(at));
    }
  }

  #fill(bytes: Uint8Array): number {
    const piece = bytes.subarray(0, blockBytes - this.#filled);
    this.#memory.set(piece, this.#begin + this.#filled);
    this.#filled += piece.length;
    return piece.length;
  }

  get #begin(): number {
    return this.#block * blockBytes;
  }

  /** Gives the block to the threads, and resolves when the next one is free. */
  #handOver(): Promise<void> {
    this.#file ??= this.#threads.open(this.#starts, this.#blocks);
    const hashed = this.#file.update(this.#begin, this.#begin + this.#filled);
    hashed.catch(() => undefined); // whoever waits for the block hears of it
    this.#hashed[this.#block] = hashed;
    this.#block = (this.#block + 1) % this.#count;
    this.#filled = 0;
    return this.#hashed[this.#block] as Promise<void>;
  }

  async #flush(): Promise<void> {
    if (this.#filled > 0) await this.#handOver();
    await Promise.all(this.#hashed);
  }

  /** What is less than a block is hashed here: threads would cost more. */
  async #atOnce<T>(end: (hasher: Hasher) => T): Promise<T[]> {
    const found: T[] = [];
    for (const [n, algorithm] of algorithms.entries()) {
      const hasher = await openHasher(algorithm, this.#starts === "unsaved" ? "unsaved" : (this.#starts[n] ?? null));
      try {
        hasher.update(this.#memory.subarray(this.#begin, this.#begin + this.#filled));
        found.push(end(hasher));
      } finally {
        hasher.release();
      }
    }
    return found;
  }
}
