import { run } from "@harrier/db";
import type { BlobDeps } from "../blobs/blobs.ts";
import { leaseMs } from "../upload/lease.ts";
import { claimExpired, pruneAttached } from "./resumable.sql.ts";
import { dropResumable } from "./resumable.ts";

export interface ExpireDeps extends BlobDeps {
  readonly log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
}

/** One round ends at most so many: each is some requests to the storage. */
const batch = 20;

/** Ends uploads in parts that nobody has continued for a day, and forgets those that became artifacts. Returns how many it ended. */
export async function expireUploads(deps: ExpireDeps): Promise<number> {
  await run(deps.db.pool, pruneAttached, []);
  const expired = await run(deps.db.pool, claimExpired, [leaseMs, batch]);
  for (const upload of expired) {
    try {
      await dropResumable(deps, upload);
      deps.log.info({ upload: upload.id, received: upload.received }, "an upload in parts that was left behind was removed");
    } catch (error) {
      deps.log.warn({ err: error, upload: upload.id }, "an upload in parts that was left behind could not be removed; it is tried again");
    }
  }
  return expired.length;
}
