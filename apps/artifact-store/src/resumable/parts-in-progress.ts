import { setTimeout as sleep } from "node:timers/promises";
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

type Upload = Pick<Named, "tenantId" | "uploadId">;

/**
 * The parts that this process receives, by their uploads. A client may send a part while the one before is being stored, so that its line does not rest
 * meanwhile (docs/adr/0058): the part then waits here, and its bytes in the connection.
 */
export class PartsInProgress {
  readonly #parts = new Map<string, InProgress>();

  /** Says that the part up to `end` is being received until the result is disposed of. Only the holder of the upload's lease may call it. */
  begin({ tenantId, uploadId }: Upload, end: number): Disposable {
    const key = `${tenantId}/${uploadId}`;
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const part: InProgress = { end, ended, awaited: false };
    this.#parts.set(key, part);
    return {
      [Symbol.dispose]: () => {
        // one that lost its lease must not end another
        if (this.#parts.get(key) === part) this.#parts.delete(key);
        resolve();
      },
    };
  }

  /** Waits for the end of the part that ends at `offset`, if this process receives it and no other part waits for it. */
  async turn({ tenantId, uploadId }: Upload, offset: number): Promise<void> {
    const part = this.#parts.get(`${tenantId}/${uploadId}`);
    if (part === undefined || part.end !== offset || part.awaited) return;
    part.awaited = true;
    const enough = new AbortController();
    await Promise.race([part.ended, sleep(waitMs, undefined, { signal: enough.signal }).catch(() => undefined)]);
    enough.abort();
  }
}
