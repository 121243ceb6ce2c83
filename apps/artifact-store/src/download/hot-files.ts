import { buffer } from "node:stream/consumers";
import { LRUCache } from "lru-cache";
import type { Storage } from "../storage/storage.ts";

export interface HotFileLimits {
  /** A larger file is never kept (bytes). */
  readonly fileBytes: number;
  /** The memory of all kept files, with those that are no longer kept but still being sent (bytes). */
  readonly bytes: number;
  /** A file is read into memory when it was asked for twice within this time, and is kept as long from then on (ms). */
  readonly keptMs: number;
  /** So many files are read into memory at a time. */
  readonly reads: number;
}

const usual: HotFileLimits = { fileBytes: 2 ** 20, bytes: 24 * 2 ** 20, keptMs: 10_000, reads: 2 };

/** The files of which it is remembered that they were asked for once. */
const maxAsked = 1_000;

/** A file in memory. */
interface Kept {
  readonly bytes: Buffer;
  /** The downloads that send it. */
  senders: number;
  /** It is found no more, and its memory is free once nobody sends it. */
  dropped: boolean;
}

/** A file in memory for one download, which calls `release` once it has sent what it wanted. */
export interface HotFile {
  readonly bytes: Buffer;
  release(): void;
}

/**
 * Keeps small files in memory while many devices fetch them at the same time, as those of a rollout do: to open, look at, read and close a file costs
 * more than to send it, and from a bucket it is a request each. An object under a content address never changes, so the bytes are right for as long
 * as they are kept; whether a device may have them is asked for every download. It is short, so that a store that has lost a file is soon noticed.
 */
export class HotFiles {
  readonly #storage: Pick<Storage, "open">;
  readonly #limits: HotFileLimits;
  readonly #asked: LRUCache<string, true>;
  readonly #kept: LRUCache<string, Kept>;
  readonly #reading = new Set<string>();
  #bytes = 0;

  constructor(storage: Pick<Storage, "open">, limits: HotFileLimits = usual) {
    this.#storage = storage;
    this.#limits = limits;
    this.#asked = new LRUCache({ max: maxAsked, ttl: limits.keptMs });
    this.#kept = new LRUCache({
      maxSize: limits.bytes,
      sizeCalculation: ({ bytes }) => bytes.length,
      ttl: limits.keptMs,
      ttlAutopurge: true,
      dispose: (kept) => this.#drop(kept),
    });
  }

  /** The bytes in memory, also of what is no longer kept but still being sent. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Returns a file if it is in memory. If it is asked for often it soon will be; meanwhile it is read from the store. */
  take(key: string, size: number): HotFile | undefined {
    if (size > this.#limits.fileBytes) return undefined;
    const kept = this.#kept.get(key);
    if (kept === undefined) {
      if (this.#asked.has(key)) void this.#read(key, size);
      else this.#asked.set(key, true);
      return undefined;
    }
    kept.senders += 1;
    let sending = true;
    const release = (): void => {
      if (!sending) return;
      sending = false;
      kept.senders -= 1;
      this.#free(kept);
    };
    return { bytes: kept.bytes, release };
  }

  /** Reads a file into memory, if there is room. Whoever asks meanwhile reads for himself, and hears of a failure from his own reading. */
  async #read(key: string, size: number): Promise<void> {
    if (this.#reading.has(key) || this.#reading.size >= this.#limits.reads || !this.#makeRoom(size)) return;
    this.#reading.add(key);
    this.#bytes += size;
    try {
      const bytes = await buffer(await this.#storage.open(key, size));
      if (bytes.length !== size) throw new Error(`${size - bytes.length} bytes of the stored object are missing`);
      this.#kept.set(key, { bytes, senders: 0, dropped: false });
    } catch {
      this.#bytes -= size;
    } finally {
      this.#reading.delete(key);
    }
  }

  /** Drops what was not asked for longest. What is still being sent takes its memory until then, so there may be no room. */
  #makeRoom(size: number): boolean {
    while (this.#bytes + size > this.#limits.bytes && this.#kept.pop() !== undefined);
    return this.#bytes + size <= this.#limits.bytes;
  }

  #drop(kept: Kept): void {
    kept.dropped = true;
    this.#free(kept);
  }

  #free(kept: Kept): void {
    if (kept.dropped && kept.senders === 0) this.#bytes -= kept.bytes.length;
  }
}
