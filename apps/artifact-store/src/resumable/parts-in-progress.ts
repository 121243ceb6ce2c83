import { inTime } from "./in-time.ts";
import type { Named } from "./resumable.ts";

/** A part waits no longer than this for the one before it; the state of its upload answers it then. */
const waitMs = 30_000;

interface InProgress {
  /** The offset behind the part. */
  readonly end: number;
  readonly ended: Promise<void>;
  /** Whether the next part waits for it. */
  awaited: boolean;
}

/** A part as its client says that it is. */
interface Part extends Pick<Named, "tenantId" | "uploadId"> {
  readonly offset: number;
  /** The offset behind it. */
  readonly end: number;
}

/**
 * The parts that this process receives or has places for, by their uploads. A client may send a part while the one before is being stored, so that its
 * line does not rest meanwhile (docs/adr/0058): the part then waits here, and its bytes in the connection. Which part counts, and when, is decided by the
 * lease of the upload alone.
 */
export class PartsInProgress {
  readonly #parts = new Map<string, InProgress>();

  /** Runs `receive` for a part; behind the part that ends where it begins if that one is in progress and no other part waits for it. */
  async inTurn<T>({ tenantId, uploadId, offset, end }: Part, receive: () => Promise<T>): Promise<T> {
    const key = `${tenantId}/${uploadId}`;
    const before = this.#parts.get(key);
    if (before?.end === offset && !before.awaited) {
      before.awaited = true;
      await inTime(waitMs, before.ended);
      before.awaited = false;
    }
    // a part that comes beside another one is refused, or has to be sent again
    if (this.#parts.has(key)) return await receive();
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    this.#parts.set(key, { end, ended, awaited: false });
    try {
      return await receive();
    } finally {
      this.#parts.delete(key);
      resolve();
    }
  }
}
