import { LRUCache } from "lru-cache";
import type { Storage } from "../storage/storage.ts";
import { readAll } from "./read-all.ts";

export interface HotFileLimits {
  /** A larger file is never kept (bytes). */
  readonly fileBytes: number;
  /** The memory of all kept files, with those that are no longer kept but still being sent (bytes). */
  readonly bytes: number;
  /** So much of it is one tenant's at most (bytes). */
  readonly tenantBytes: number;
  /** A file is read into memory when it was asked for twice within this time, and is kept as long from then on (ms). */
  readonly keptMs: number;
  /** So many files are read into memory at a time. */
  readonly reads: number;
  /** A file that does not come within this time is not kept (ms). */
  readonly readMs: number;
}

const mebi = 2 ** 20;
const usual: HotFileLimits = { fileBytes: mebi, bytes: 24 * mebi, tenantBytes: 12 * mebi, keptMs: 10_000, reads: 2, readMs: 10_000 };

/** The files of which it is remembered that they were asked for once. */
const maxAsked = 1_000;

/** A file in memory. */
interface Kept {
  readonly key: string;
  readonly bytes: Buffer;
  /** The downloads that send it. */
  senders: number;
  /** Its time is over: its memory is free once nobody sends it. */
  over: boolean;
}

/** A file in memory for one download, which calls `release` once it has sent what it wanted. */
export interface HotFile {
  readonly bytes: Buffer;
  release(): void;
}

/**
 * Keeps small files in memory while many devices fetch them at the same time, as those of a rollout do: to open, look at, read and close a file costs
 * more than to send it, and from a bucket it is a request each. An object under a content address never changes, so the bytes are right for as long
 * as they are kept; whether a device may have them is asked for every download. They are kept for seconds, so that a store that has lost a file is soon
 * noticed. Where there is no room, files are read from the store as without it: if the newest replaced the others, more files than fit, asked for in
 * turn, would all be read twice.
 */
export class HotFiles {
  readonly #storage: Pick<Storage, "open" | "stat">;
  readonly #limits: HotFileLimits;
  readonly #asked: LRUCache<string, true>;
  readonly #kept: LRUCache<string, Kept>;
  /** Files whose time is over, but that are still being sent. */
  readonly #leaving = new Map<string, Kept>();
  readonly #reading = new Set<string>();
  readonly #bytesOf = new Map<string, number>();
  #bytes = 0;

  constructor(storage: Pick<Storage, "open" | "stat">, limits: HotFileLimits = usual) {
    this.#storage = storage;
    this.#limits = limits;
    this.#asked = new LRUCache({ max: maxAsked, ttl: limits.keptMs });
    this.#kept = new LRUCache({ ttl: limits.keptMs, ttlAutopurge: true, dispose: (kept) => this.#end(kept) });
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
      if (this.#asked.has(key)) void this.#warm(key, size);
      else this.#asked.set(key, true);
      return undefined;
    }
    if (kept.bytes.length !== size) return undefined; // the store says that something is wrong, as for any other file
    return this.#send(kept);
  }

  #send(kept: Kept): HotFile {
    kept.senders += 1;
    let sending = true;
    const release = (): void => {
      if (!sending) return;
      sending = false;
      kept.senders -= 1;
      if (kept.over) this.#end(kept);
    };
    return { bytes: kept.bytes, release };
  }

  /** Brings a file into memory, if there is room. Downloads that begin meanwhile read from the store, and hear of a failure there. */
  async #warm(key: string, size: number): Promise<void> {
    if (this.#reading.has(key) || this.#reading.size >= this.#limits.reads) return;
    this.#reading.add(key);
    try {
      const leaving = this.#leaving.get(key);
      if (leaving === undefined) await this.#read(key, size);
      else await this.#keepOn(leaving);
    } catch {
      // the file is not kept, and the next download hears why from the store
    } finally {
      this.#reading.delete(key);
    }
  }

  async #read(key: string, size: number): Promise<void> {
    const { bytes: most, tenantBytes, readMs } = this.#limits;
    if (this.#bytes + size > most || (this.#bytesOf.get(tenantOf(key)) ?? 0) + size > tenantBytes) return;
    this.#count(key, size);
    try {
      const chunks = await readAll(await this.#storage.open(key, size), { size, ms: readMs });
      this.#kept.set(key, { key, bytes: Buffer.concat(chunks, size), senders: 0, over: false });
    } catch (error) {
      this.#count(key, -size);
      throw error;
    }
  }

  /** Keeps a file for a further while that slow devices are still being sent, if the store still has it: nobody needs a second copy. */
  async #keepOn(kept: Kept): Promise<void> {
    const { release } = this.#send(kept); // so that it stays until the store has answered
    try {
      if ((await this.#storage.stat(kept.key))?.size !== kept.bytes.length) return;
      this.#leaving.delete(kept.key);
      kept.over = false;
      this.#kept.set(kept.key, kept);
    } finally {
      release();
    }
  }

  /** Ends the time of a file, and frees its memory once nobody sends it. */
  #end(kept: Kept): void {
    kept.over = true;
    if (kept.senders > 0) {
      this.#leaving.set(kept.key, kept);
      return;
    }
    this.#leaving.delete(kept.key);
    this.#count(kept.key, -kept.bytes.length);
  }

  #count(key: string, bytes: number): void {
    const tenant = tenantOf(key);
    this.#bytes += bytes;
    const own = (this.#bytesOf.get(tenant) ?? 0) + bytes;
    if (own === 0) this.#bytesOf.delete(tenant);
    else this.#bytesOf.set(tenant, own);
  }
}

/** A content address begins with the tenant. */
const tenantOf = (key: string): string => key.slice(0, key.indexOf("/"));
