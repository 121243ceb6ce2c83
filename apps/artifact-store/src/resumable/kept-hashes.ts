import { LRUCache } from "lru-cache";
import type { FileHashes } from "../hashing/file-hashes.ts";

/** The hashes of so many uploads are kept between their parts, of so many of one tenant: each keeps the hash threads alive. */
const most = { ofTenant: 4, total: 16 };
/** A client whose next part has not begun within this time sends slowly, or has gone. */
const keptMs = 60_000;

interface Kept {
  readonly tenantId: number;
  readonly hashes: FileHashes;
  taken: boolean;
}

/** Where an upload stands. */
interface Place {
  readonly tenantId: number;
  readonly id: string;
  readonly received: number;
}

/**
 * The hashes of uploads in parts, between the parts that this replica receives. Those of an upload whose parts go to several replicas, or come too
 * slowly, are not here: its bytes are read once more when it is completed.
 */
export class KeptHashes {
  readonly #kept: LRUCache<string, Kept>;

  /** `ttl`: how long hashes are kept, in milliseconds; tests set less. */
  constructor(ttl = keptMs) {
    this.#kept = new LRUCache({
      max: most.total,
      ttl,
      ttlAutopurge: true,
      dispose: ({ hashes, taken }) => {
        if (!taken) hashes[Symbol.dispose]();
      },
    });
  }

  /** Keeps the hashes of all bytes that an upload has received. */
  keep({ tenantId, id, received }: Place, hashes: FileHashes): void {
    if (hashes.size !== received) throw new Error(`${hashes.size} bytes are hashed instead of ${received}`);
    const [oldest, ...others] = [...this.#kept.rkeys()].filter((other) => this.#kept.peek(other)?.tenantId === tenantId);
    if (oldest !== undefined && others.length + 1 >= most.ofTenant) this.#kept.delete(oldest);
    this.#kept.set(id, { tenantId, hashes, taken: false });
  }

  /** Hands out the hashes of all bytes that an upload has received, if they are here; the caller disposes of them, or gives them back. */
  take({ id, received }: Place): FileHashes | undefined {
    const kept = this.#kept.get(id);
    if (kept === undefined) return undefined;
    kept.taken = kept.hashes.size === received;
    this.#kept.delete(id);
    return kept.taken ? kept.hashes : undefined;
  }
}
